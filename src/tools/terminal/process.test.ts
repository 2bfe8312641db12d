import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { formatAddress } from "../../core/message.ts";
import type { Jobs, JobState } from "../../ports/jobs.ts";
import { aToolContext, anOwner, sessionId } from "../../testing/samples.ts";
import type { Policy } from "../policy/index.ts";
import { processTool } from "./process.ts";

/** One job that says nothing, and whoever waits for it. */
function quietJob(startedAt: number) {
  const place = formatAddress(aToolContext().address);
  const job = { id: "j1", place, title: "make", background: true, startedAt, limitMs: 1e9, folder: "x" };
  const end = Promise.withResolvers<Exclude<JobState, { type: "running" }>>();
  let state: JobState = { type: "running" };
  const never = async () => assert.fail("nobody asked for it");
  const jobs: Jobs = {
    start: never,
    get: async (id) => (id === job.id ? job : null),
    find: never,
    list: async (fits) => [job].filter(fits),
    state: async () => state,
    read: async () => ({ from: 0, bytes: new Uint8Array(), total: 0 }),
    wait: (_id, signal) =>
      Promise.race([
        end.promise,
        new Promise<never>((_go, fail) => signal.addEventListener("abort", () => fail(signal.reason as Error))),
      ]),
    kill: never,
    endAll: never,
    drop: never,
    tidy: never,
  };
  const stop = (): void => {
    state = {
      type: "ended",
      end: { code: 0, signal: null, how: "ended", why: null, tookMs: 900_000, bytes: 0, lost: null },
    };
    end.resolve(state);
  };
  return { jobs, stop };
}

const outputOf = (result: unknown): string => String((result as { output?: unknown }).output);

describe("waiting for a command that says nothing", () => {
  test("every look at it tells how long it has been running, to the second", async () => {
    const { jobs } = quietJob(1_000);
    let now = 1_000;
    const tool = processTool({ jobs, approvals: "never", now: () => now });
    const seen: string[] = [];
    for (const action of ["read", "list"]) {
      for (const ms of [500, 312_000, 313_000, 7_200_000, 7_201_000]) {
        now = 1_000 + ms;
        seen.push(outputOf(await tool.run({ action, id: "j1" }, aToolContext("a"))));
      }
    }
    assert.equal(new Set(seen).size, seen.length, seen.join("\n"));
    assert.equal(seen[1], "[still running after 312 s; it said nothing]");
  });

  test("it waits for ten minutes unless it is told otherwise, and no longer than the command runs", async (t) => {
    const limits = t.mock.method(AbortSignal, "timeout");
    const { jobs, stop } = quietJob(0);
    const tool = processTool({ jobs, approvals: "never", now: () => 900_000 });
    const waiting = tool.run({ action: "wait", id: "j1" }, aToolContext("a"));
    const shortly = tool.run({ action: "wait", id: "j1", seconds: 5 }, aToolContext("b"));
    stop();
    for (const result of [await waiting, await shortly]) assert.match(outputOf(result), /^\[exit code 0 after 15 min/);
    assert.deepEqual(
      limits.mock.calls.map(({ arguments: [ms] }) => ms),
      [600_000, 5_000],
    );
  });
});

test("a piece of output ends where the next one can begin", async () => {
  const { jobs } = quietJob(0);
  const said = Buffer.from("9 failed\r\u001b[2K12 passed");
  for (const [bytes, shown] of [
    [said.subarray(0, 11), "[still running after 0.0 s; bytes 0 to 9 of 11]\n9 failed"],
    [said, `[still running after 0.0 s; bytes 0 to ${said.length} of ${said.length}]\n12 passed`],
    [Buffer.from("grü").subarray(0, 3), "[still running after 0.0 s; bytes 0 to 2 of 3]\ngr"],
  ] as const) {
    const speaking = { ...jobs, read: async () => ({ from: 0, bytes, total: bytes.length }) };
    const tool = processTool({ jobs: speaking, approvals: "never", now: () => 0 });
    assert.equal(outputOf(await tool.run({ action: "read", id: "j1" }, aToolContext("a"))), shown);
  }
});

test("only an end is asked for, and only where every change is", async () => {
  const { jobs } = quietJob(0);
  const { session, address, requester, now } = aToolContext();
  const vetted = async (approvals: Policy, input: unknown, of = address) =>
    processTool({ jobs, approvals }).vet?.(input, { session, address: of, requester, outside: true, now });
  for (const action of ["list", "read", "wait"])
    assert.deepEqual(await vetted("always", { action, id: "j1" }), { type: "run" }, action);
  for (const policy of ["dangerous", "never"] as const)
    assert.deepEqual(await vetted(policy, { action: "kill", id: "j1" }), { type: "run" }, policy);
  const asked = await vetted("always", { action: "kill", id: " j1 " });
  assert.ok(asked?.type === "approve", JSON.stringify(asked));
  assert.equal(asked.what, "End the command j1 that runs: make");
  assert.equal(asked.subject, null);
  // What is not there, or not theirs, is told by the call itself; nobody need be bothered.
  assert.deepEqual(await vetted("always", { action: "kill", id: "j2" }), { type: "run" });
  assert.deepEqual(await vetted("always", { action: "kill", id: "j1" }, { ...address, chat: "other" }), {
    type: "run",
  });
});

test("a job of an older version is seen by its conversation alone, also when that begins anew", async () => {
  const { jobs } = quietJob(0);
  const tool = processTool({ jobs, approvals: "never" });
  const { address } = aToolContext();
  const said = async (input: object, more: object) => JSON.stringify(await tool.run(input, aToolContext("k", more)));
  const anew = { session: sessionId("s2") };
  assert.match(await said({ action: "list" }, anew), /j1 .* make/);
  assert.match(await said({ action: "read", id: "j1" }, anew), /still running/);
  const elsewhere = { address: { ...address, chat: "other" } };
  assert.match(await said({ action: "list" }, elsewhere), /No command runs/);
  assert.match(await said({ action: "read", id: "j1" }, elsewhere), /There is no process j1/);
});

test("a job is seen by its person in every conversation, and by no other person", async () => {
  const { jobs: of } = quietJob(0);
  const owned = { ...(await of.get("j1"))!, person: anOwner.person };
  const jobs: Jobs = { ...of, get: async () => owned, list: async (fits) => [owned].filter(fits) };
  const tool = processTool({ jobs, approvals: "never" });
  const { address } = aToolContext();
  const elsewhere = { ...address, chat: "other" };
  const theirs = { address, requester: { party: "person" as const, person: "telegram/bot/7" } };
  const said = async (input: object, more: object) => JSON.stringify(await tool.run(input, aToolContext("k", more)));
  assert.match(await said({ action: "list" }, { requester: anOwner, address: elsewhere }), /j1 .* make/);
  assert.match(await said({ action: "list" }, theirs), /No command runs/);
  for (const action of ["read", "wait", "kill"])
    assert.match(await said({ action, id: "j1" }, theirs), /There is no process j1/, action);
});
