// The planted faults of the checklist fit the sources, and the results of lanes are read as they are written.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type LaneProof, laneOf, provedIn, resultsIn } from "../scripts/lanes.ts";
import { rowsIn } from "../scripts/rows.ts";
import { planted } from "./planted/fault.ts";
import { faults } from "./planted/rows.ts";

const root = join(import.meta.dirname, "..");

test("every planted fault stands in its file once", () => {
  for (const [row, all] of faults)
    for (const one of all)
      assert.doesNotThrow(() => planted(readFileSync(join(root, one.file), "utf8"), one), `${row}: ${one.file}`);
});

test("every row of the seeds has a planted fault, and every fault a row", () => {
  const text = readFileSync(join(root, "docs/checklist.md"), "utf8");
  const rows = Array.from(text.matchAll(/^\| (S\d+) \|/gm), ([, row = ""]) => row);
  assert.ok(rows.length >= 110);
  assert.deepEqual([...faults.keys()].toSorted(), rows.toSorted());
});

test("the rows that a title names", () => {
  assert.deepEqual(rowsIn("S17 S29 a restart, see also S3"), ["S17", "S29", "S3"]);
  assert.deepEqual(rowsIn("impossible 1, 3–5: nothing is lost"), ["I1", "I3", "I4", "I5"]);
  assert.deepEqual(rowsIn("the AES256 of S3Q"), []);
});

const log = `=== systemd: node --test
✔ S17 a restart (12.5ms)
  ✔ S32 nested (1ms)
✖ S33 broken (7.1ms)
﹣ S40 skipped (0.1ms) # SKIP
✔ S41 also skipped (0.1ms) # SKIP no root
ℹ tests 5
✖ S33 broken (7.1ms)
`;

test("the results of a lane are read from its log", () => {
  const found = Object.fromEntries(resultsIn(log));
  assert.deepEqual(found, {
    "S17 a restart": "passed",
    "S32 nested": "passed",
    "S33 broken": "failed",
    "S40 skipped": "not run",
    "S41 also skipped": "not run",
  });
});

test("a row is proved in a lane by the result of the very title; without a log it has not run", () => {
  const text =
    'test("S17 a restart", async (t) => {});\n  test("S32 never seen", () => {});\ntest(`S33 broken`, () => {});';
  const files = [["test/services/systemd-x.test.ts", text]] as const;
  const brief = (all: readonly LaneProof[]) => all.map(({ row, lane, result }) => [row, lane, result]);
  assert.deepEqual(brief(provedIn(files, new Map([["systemd", log]]))), [
    ["S17", "systemd", "passed"],
    ["S32", "systemd", "not run"],
    ["S33", "systemd", "failed"],
  ]);
  assert.ok(provedIn(files, new Map()).every(({ result }) => result === "not run"));
  assert.deepEqual(
    ["test/services/s6.test.ts", "test/services/plist.test.ts", "test/windows/a.test.ts", "test/stop.test.ts"].map(
      laneOf,
    ),
    ["s6", "launchd", "windows", null],
  );
});
