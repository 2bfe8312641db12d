// Who stays for whom, as a table; the environment that is passed on; and what a supervised restart checks.

import assert from "node:assert/strict";
import { test } from "node:test";
import { enterGateway } from "../config/load.ts";
import { Fault } from "../core/fault.ts";
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
