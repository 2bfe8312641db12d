// The oracle seen from a test: a process that writes and reads like several people while the test does its worst to the
// gateway, and the judgement over what it reports.

import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { Client, Place } from "./client.ts";
import type { Order, Report } from "./oracle.ts";
import { atEnd, patienceMs, within } from "./stage.ts";

export function startOracle(t: TestContext, place: Place, seed: number): ChildProcess {
  const oracle = fork(join(import.meta.dirname, "oracle.ts"), { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  atEnd(t, () => oracle.kill("SIGKILL"));
  oracle.send({ type: "begin", place, seed } satisfies Order);
  return oracle;
}

/** Lets it come to its end, with a gateway that is left in peace. */
export async function reportOf(oracle: ChildProcess): Promise<Report> {
  const report = new Promise<Report>((resolve, reject) => {
    oracle.once("message", (message) => resolve(message as Report));
    oracle.once("exit", (code) => reject(new Error(`the oracle ended with ${code}`)));
  });
  oracle.send({ type: "finish", waitMs: patienceMs } satisfies Order);
  return within(report, "the oracle did not report", 2 * patienceMs);
}

type TurnFacts = {
  readonly turn: { readonly outcome: string | null; readonly attempt: number };
  readonly entries: readonly { readonly entry: { readonly type: string } }[];
};

/** Nothing lost, nothing doubled, nothing out of order; nothing left open. */
export async function keptPromise(ask: Client, report: Report, seed: number): Promise<void> {
  const { lost, doubled, disordered, wrong } = report;
  const none = { lost: [], doubled: [], disordered: [], wrong: [] };
  assert.deepEqual({ lost, doubled, disordered, wrong }, none, `seed ${seed}`);
  assert.equal(report.answered, report.messages, `seed ${seed}`);
  // Three deaths without a result end a turn by design; it must really have been that, and it is told as the answer.
  for (const id of report.givenUp) {
    const { turn, entries } = await ask.get<TurnFacts>(`/api/turns/${id}`);
    assert.equal(turn.outcome, "failed");
    assert.ok(turn.attempt >= 3, `seed ${seed}: turn ${id} was given up at attempt ${turn.attempt}`);
    assert.ok(!entries.some(({ entry }) => entry.type === "said"), `seed ${seed}: turn ${id} had made progress`);
  }
  const { turns } = await ask.get<{ turns: readonly unknown[] }>("/api/turns?state=open&limit=10");
  assert.deepEqual(turns, [], `seed ${seed}`);
  const { items } = await ask.get<{ items: readonly unknown[] }>("/api/outbox?state=open&limit=10");
  assert.deepEqual(items, [], `seed ${seed}`);
}
