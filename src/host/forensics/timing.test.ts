// The check of a unit's patience: what systemd is asked, what its answer means, and that nothing makes it throw.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Run } from "../command.ts";
import { checkStopTiming } from "./timing.ts";

const env = { INVOCATION_ID: "abc" };
const unitCgroup = () => Promise.resolve("0::/system.slice/everturn.service\n");
const userCgroup = () => Promise.resolve("0::/user.slice/user-1.slice/user@1.service/app.slice/everturn.service\n");
const says =
  (out: string, code: number | null = 0): Run =>
  () =>
    Promise.resolve({ code, out, err: "" });
const fails: Run = () => {
  throw new Error("no programs today");
};

test("S62 without an invocation id there is no answer, and nobody is asked", async () => {
  let asked = 0;
  const count: Run = () => {
    asked += 1;
    return Promise.resolve({ code: 0, out: "90s", err: "" });
  };
  for (const none of [{}, { INVOCATION_ID: "" }, { INVOCATION_ID: undefined }])
    assert.equal(await checkStopTiming({ env: none, drainSeconds: 180, run: count, readCgroup: unitCgroup }), null);
  assert.equal(asked, 0);
});

test("S63 a unit that cannot be determined, or a systemd that does not say, is no exception", async () => {
  const refuses = () => Promise.reject(new Error("ENOENT"));
  const rows = [
    { run: fails, readCgroup: () => Promise.resolve("0::/\n") },
    { run: fails, readCgroup: refuses },
    { run: fails, readCgroup: unitCgroup },
    { run: () => Promise.reject(new Error("broken")), readCgroup: unitCgroup },
    { run: says("", null), readCgroup: unitCgroup },
    { run: says("1min 30s", 1), readCgroup: unitCgroup },
    { run: says("90weeks"), readCgroup: unitCgroup },
    { run: says(""), readCgroup: unitCgroup },
  ];
  for (const row of rows) assert.equal(await checkStopTiming({ env, drainSeconds: 180, ...row }), null);
  const real = await checkStopTiming({ env, drainSeconds: 180 });
  assert.ok(real === null || typeof real.mismatch === "boolean", "whatever unit runs this test");
});

test("S64 the unit's timeout is compared with the drain, in the right systemd", async () => {
  const asked: string[][] = [];
  const run: Run = (program, words) => {
    asked.push([program, ...words]);
    return Promise.resolve({ code: 0, out: "1min 30s\n", err: "" });
  };
  const tight = await checkStopTiming({ env, drainSeconds: 61, run, readCgroup: unitCgroup });
  assert.ok(tight !== null);
  assert.deepEqual([tight.unit, tight.timeoutSeconds, tight.neededSeconds], ["everturn.service", 90, 91]);
  assert.equal(tight.mismatch, true);
  assert.match(tight.warning ?? "", /everturn gateway install --force/);
  const fine = await checkStopTiming({ env, drainSeconds: 60, run, readCgroup: userCgroup });
  assert.deepEqual([fine?.mismatch, fine?.warning], [false, null]);
  const words = ["show", "--property=TimeoutStopUSec", "--value", "everturn.service"];
  assert.deepEqual(asked, [
    ["systemctl", ...words],
    ["systemctl", "--user", ...words],
  ]);
});
