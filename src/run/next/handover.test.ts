// Who stays for whom, as a table; the environment that is passed on; and what a supervised restart checks.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { loadMs } from "../../../bin/attend.js";
import { enterGateway } from "../../config/load.ts";
import { Fault } from "../../core/fault.ts";
import { type Mode, modeOf, openHandover } from "./handover.ts";

const rows: readonly (readonly [supervised: boolean, attended: boolean, detached: boolean, Mode])[] = [
  [false, false, false, "own"],
  [false, false, true, "detached"],
  [false, true, false, "attended"],
  [false, true, true, "attended"],
  [true, false, false, "supervised"],
  [true, true, true, "supervised"],
];

for (const [supervised, attended, detached, mode] of rows)
  test(`supervised ${supervised}, attended ${attended}, detached ${detached}: ${mode}`, () => {
    assert.equal(modeOf({ supervised, attended, detached }), mode);
  });

test("under a supervisor nothing is started, but what the next start would refuse is refused now", async () => {
  const parts = { isSupervised: true, env: {}, logs: "nowhere", patienceMs: 1 };
  const fine = openHandover({ ...parts, check: async () => undefined });
  await fine.prepare();
  await fine.dismiss();
  assert.equal(await fine.leave(75), 75);
  const wrong = openHandover({ ...parts, check: () => Promise.reject(new Fault("config-wrong", "no such key")) });
  await assert.rejects(wrong.prepare(), /no such key/);
});

test("what a gateway starts knows that it is inside, and nothing that was said to the gateway alone", (t) => {
  const before = { ...process.env };
  t.after(() => {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  });
  const said = {
    EVERTURN_SUCCESSOR: "1",
    EVERTURN_ATTENDED: "1",
    EVERTURN_DETACHED: "1",
    EVERTURN_SUPERVISOR: "task",
    EVERTURN_READY_FD: "3",
    NOTIFY_SOCKET: "/run/x",
    WATCHDOG_USEC: "5",
    WATCHDOG_PID: "7",
  };
  Object.assign(process.env, said, { EVERTURN_CONTROL__PORT: "0" });
  const own = enterGateway("/home/ann/.everturn");
  for (const [name, text] of Object.entries(said)) {
    assert.equal(process.env[name], undefined, name);
    assert.equal(own[name], text, name);
  }
  assert.equal(process.env["EVERTURN_INSIDE"], "/home/ann/.everturn");
  assert.equal(process.env["EVERTURN_CONTROL__PORT"], "0", "what configures stays");
});

/** A channel to somebody who stays, as it looks from this side; what is said on it is kept. */
function channel(t: TestContext): Record<string, unknown>[] {
  const before = { connected: process.connected, send: process.send };
  const said: Record<string, unknown>[] = [];
  const own = {
    connected: true,
    send: (words: Record<string, unknown>) => said.push(words) > 0,
  };
  Object.assign(process, own);
  t.after(() => Object.assign(process, before));
  return said;
}

test("one that stays and does not answer makes no restart wait for ever, and what it says too late answers nothing", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const said = channel(t);
  const parts = { isSupervised: false, env: { EVERTURN_ATTENDED: "1" }, logs: "nowhere", patienceMs: 7 };
  const handover = openHandover({ ...parts, check: async () => undefined });
  const first = assert.rejects(handover.prepare(), /does not answer/);
  t.mock.timers.tick(loadMs + 10_000);
  await first;
  const [question = assert.fail(), ...rest] = said;
  assert.deepEqual([question["everturn"], question["patienceMs"]], ["successor", 7]);
  assert.deepEqual(rest, [{ everturn: "dismiss" }], "who is started after all is not wanted any more");
  const second = handover.prepare();
  process.emit("message", { everturn: "failed", why: "too late", question: question["question"] }, undefined);
  process.emit("message", { everturn: "loaded", pid: process.pid, question: said[2]?.["question"] }, undefined);
  await second;
  assert.equal(handover.isAwaited(), true);
  await handover.prepare();
  assert.equal(said.length, 3, "whoever waits is kept");
});
