// Which files of a home are drafts that a killed process has left, as a table and on a disk.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathsIn } from "../../config/paths.ts";
import { leftDrafts, sweepDrafts } from "./drafts.ts";

const uuid = "d7e255bf-a809-44db-9158-c21634241857";
const dead = 41;

const cases: readonly (readonly [name: string, isLeft: boolean])[] = [
  [`gateway_state.json.${dead}.${uuid}.tmp`, true],
  [`.gateway-planned-stop.json.${dead}.${uuid}.tmp`, true],
  [`.gateway-takeover.json.${dead}.${uuid}.tmp`, true],
  [`.restart_pending.json.${dead}.tmp`, true],
  [`gateway_state.json.42.${uuid}.tmp`, false],
  ["gateway_state.json", false],
  ["gateway_state.json.tmp", false],
  [`state.db.${dead}.${uuid}.tmp`, false],
  [`mine.${dead}.${uuid}.tmp`, false],
  [`gateway_state.json.${dead}.${uuid}.tmp.old`, false],
];

for (const [name, isLeft] of cases)
  test(`${name} ${isLeft ? "is left by a dead process" : "stays"}`, () => {
    assert.deepEqual(
      leftDrafts([name], pathsIn("/home"), (pid) => pid !== dead),
      isLeft ? [name] : [],
    );
  });

test("only what a dead process left is taken away", async (t) => {
  const home = mkdtempSync(join(tmpdir(), "everturn-drafts-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const { pid } = spawnSync(process.execPath, ["--version"]);
  const own = `gateway_state.json.${process.pid}.${uuid}.tmp`;
  for (const name of ["config.yaml", own, `gateway_state.json.${pid}.${uuid}.tmp`]) writeFileSync(join(home, name), "");
  await sweepDrafts(pathsIn(home));
  assert.deepEqual(readdirSync(home).toSorted(), ["config.yaml", own]);
});
