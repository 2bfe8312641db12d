// The metrics of a running gateway, judged by Prometheus itself.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { ask, answerOf, user, withKeys } from "../platforms/api-stage.ts";
import { newHome, patienceMs, runGateway } from "./stage.ts";

const isHere = spawnSync("promtool", ["--version"]).status === 0;
const skip = isHere ? false : "promtool is not installed";

test("promtool has nothing to say about the metrics", { skip, timeout: patienceMs }, async (t) => {
  const { url, token } = await runGateway(t, withKeys(newHome(t)));
  assert.equal(await answerOf(await ask(url, { messages: [user("a word")] })), "You said: a word");
  const headers = { authorization: `Bearer ${token}` };
  const input = await (await fetch(`${url}/metrics`, { headers })).text();
  assert.match(input, /^everturn_turns_ended_total\{outcome="replied"\} 1$/m);
  const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input, encoding: "utf8" });
  assert.deepEqual([status, stdout, stderr], [0, "", ""], input);
});
