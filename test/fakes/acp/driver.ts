// One life of a gateway's part in an ACP turn, to be killed: reads the journal from a file, goes on with the turn, and
// stores each step before it asks for the next, as the engine does. Usage: driver.ts <journal> <text> <options as JSON>

import { spawn } from "node:child_process";
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { acp } from "../../../src/agents/acp/index.ts";
import type { AcpOptions } from "../../../src/agents/acp/options.ts";
import { type Entry, decideNext } from "../../../src/core/journal.ts";
import { noteFor } from "../../../src/core/resume.ts";
import type { AgentJob } from "../../../src/ports/agent.ts";
import { peerHost } from "../../agent/peer-host.ts";
import { anAddress, anInbound, at, sessionId, turnId } from "../../../src/testing/samples.ts";

const [file = "", text = "", options = "{}"] = process.argv.slice(2);
const journal: Entry[] = existsSync(file)
  ? readFileSync(file, "utf8")
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as Entry)
  : [];

function store(entry: Entry): void {
  appendFileSync(file, `${JSON.stringify(entry)}\n`);
  journal.push(entry);
}

const { program, workspace } = JSON.parse(options) as Pick<AcpOptions, "program"> & { readonly workspace: string };
const agent = acp({
  program,
  host: peerHost(workspace, (named, words, given) => spawn(named, [...words], { ...given, detached: true })),
  log: (level, what, facts) => process.stderr.write(`${level} ${what} ${JSON.stringify(facts)}\n`),
});

const job = (): AgentJob => ({
  session: sessionId("s1"),
  address: anAddress("s1"),
  turn: turnId("t1"),
  attempt: 1,
  input: anInbound(text, { party: "owner" }),
  journal: [...journal],
  note: noteFor(journal),
  history: async () => [],
  journalOf: async () => [],
  summary: async () => null,
  memories: async () => [],
  model: null,
  now: () => at(0),
  pause: async () => undefined,
  draft: () => undefined,
});

if (journal.length > 0) store({ type: "resumed", attempt: 2, reason: "crash" });
for (;;) {
  const next = decideNext(journal, () => "once", new Set());
  if (next.type === "finish") {
    process.stdout.write(`${next.text}\n`);
    break;
  }
  if (next.type !== "step") throw new Error(`a turn that wants to ${next.type}`);
  const step = await agent.step(job(), new AbortController().signal);
  if (step.type === "said") store(step);
  else process.stderr.write(`${JSON.stringify(step)}\n`);
}
await agent.close("all");
