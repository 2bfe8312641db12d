// What Docker asks now and then: does the gateway of this container serve? Its state file says where, /healthz answers.
// Ends with 0 for yes and 1 for no, and says why.

import { readFileSync } from "node:fs";
import { join } from "node:path";

const answerMs = 5_000;

try {
  const { url } = JSON.parse(readFileSync(join(process.env.EVERTURN_HOME ?? "/data", "gateway_state.json"), "utf8"));
  const answer = await fetch(new URL("/healthz", url), { signal: AbortSignal.timeout(answerMs) });
  process.stdout.write(`${answer.status} ${(await answer.text()).trim()}\n`);
  process.exitCode = answer.ok ? 0 : 1;
} catch (error) {
  process.stdout.write(`The gateway does not answer: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
