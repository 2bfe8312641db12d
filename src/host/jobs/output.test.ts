// Where the bytes of a job lie, and what is kept of jobs.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { holderFile } from "./holder.ts";
import { markIn } from "./marked.ts";
import { headBytes, pieceBytes, pieceOf, stretch } from "./output.ts";
import { comesBack, isRestartIn } from "./returning.ts";
import { dwellingOf, scopeCommand } from "./scope.ts";
import { keepBytes, keepMax, keepMs, outdated } from "./tidy.ts";

test("a byte lies where its number says", () => {
  assert.deepEqual(pieceOf("output", 5), { name: "output", start: 0, size: 5 });
  assert.deepEqual(pieceOf("output.1", 5), { name: "output.1", start: headBytes, size: 5 });
  assert.deepEqual(pieceOf("output.3", 5), { name: "output.3", start: headBytes + 2 * pieceBytes, size: 5 });
  for (const name of ["output.0", "output.x", "exit.json", "output.1.2", "xoutput"])
    assert.equal(pieceOf(name, 5), null);
});

test("the holder counts with the same numbers", () => {
  const source = readFileSync(holderFile(), "utf8");
  const [, head, piece] = /\[headBytes, pieceBytes\] = \[(\d+) \* 1024 \* 1024, (\d+)?/.exec(source) ?? [];
  assert.equal(Number(head) * 1024 * 1024, headBytes);
  assert.equal(Number(piece) * 1024, pieceBytes);
});

test("a stretch is read from the files that have it, and a gap ends it", () => {
  const head = { name: "output", start: 0, size: 100 };
  const [third, fourth] = [
    { name: "output.3", start: 120, size: 10 },
    { name: "output.4", start: 130, size: 4 },
  ];
  const all = [fourth, head, third];
  const cases: readonly (readonly [from: number, max: number, begin: number, parts: string])[] = [
    [0, 10, 0, "output+0:10"],
    [95, 50, 95, "output+95:5"],
    [100, 50, 120, "output.3+0:10 output.4+0:4"],
    [110, 5, 120, "output.3+0:5"],
    [125, 7, 125, "output.3+5:5 output.4+0:2"],
    [-4, 50, 130, "output.4+0:4"],
    [-6, 50, 128, "output.3+8:2 output.4+0:4"],
    [-1000, 3, 0, "output+0:3"],
    [134, 10, 134, ""],
    [9_999, 10, 134, ""],
    [0, 0, 0, ""],
  ];
  for (const [from, max, begin, parts] of cases) {
    const plan = stretch(all, from, max);
    const shown = plan.parts.map(({ name, skip, size }) => `${name}+${skip}:${size}`).join(" ");
    assert.deepEqual([plan.from, shown, plan.total], [begin, parts, 134], `${from}, ${max}`);
  }
  assert.deepEqual(stretch([], 0, 10), { from: 0, total: 0, parts: [] });
});

test("a process is recognised by its mark alone", () => {
  assert.deepEqual(markIn(5, "PATH=/bin\0EVERTURN_JOB=/h/jobs/abc\0X=1\0"), { pid: 5, folder: "/h/jobs/abc" });
  for (const none of ["", "X_EVERTURN_JOB=abc\0", "EVERTURN_JOB=\0", "A=EVERTURN_JOB=abc\0"])
    assert.equal(markIn(5, none), null, none);
});

test("a holder leaves the group of a service where that is allowed", () => {
  const unit = { name: "everturn.service", scope: "user" } as const;
  assert.deepEqual(dwellingOf({ platform: "linux", unit: null, refusal: null }), { type: "apart" });
  assert.deepEqual(dwellingOf({ platform: "darwin", unit, refusal: null }), { type: "apart" });
  assert.deepEqual(dwellingOf({ platform: "linux", unit, refusal: null }), { type: "scope", unit });
  assert.deepEqual(dwellingOf({ platform: "linux", unit, refusal: "no" }), { type: "inside", unit, why: "no" });
  const words = scopeCommand(unit, "job-1");
  assert.deepEqual(words.slice(0, 3), ["systemd-run", "--user", "--scope"]);
  assert.equal(scopeCommand({ ...unit, scope: "system" }, "job-1").includes("--user"), false);
  assert.equal(words.at(-1), "--");
});

test("the newest are kept, for a while, as many and as large as may be", () => {
  const now = 1_000 * keepMs;
  const one = (name: string, age: number, bytes = 1) => ({ name, at: now - age, bytes });
  assert.deepEqual(outdated([one("a", 1), one("b", keepMs + 1), one("c", keepMs)], now), ["b"]);
  const many = Array.from({ length: keepMax + 2 }, (_, i) => one(`j${i}`, i));
  assert.deepEqual(outdated(many.toReversed(), now), [`j${keepMax}`, `j${keepMax + 1}`]);
  assert.deepEqual(outdated([one("new", 1, keepBytes), one("old", 2)], now), ["old"]);
  assert.deepEqual(outdated([], now), []);
});

test("the holder is found from the sources and from the bundle", () => {
  const root = join(import.meta.dirname, "..", "..", "..");
  assert.equal(holderFile(join(root, "dist")), join(root, "bin", "hold.js"));
  assert.equal(holderFile(), join(root, "bin", "hold.js"));
  assert.throws(() => holderFile("/nowhere/at/all"), /install it again/);
});

test("a restart that systemd makes is known from its list, and from nothing else", async () => {
  const unit = { name: "everturn.service", scope: "system" } as const;
  const list = "100 other.service restart waiting\n101 everturn.service restart running\n";
  assert.equal(isRestartIn(list, unit), true);
  assert.equal(isRestartIn(list, { ...unit, name: "everturn-2.service" }), false);
  assert.equal(isRestartIn("101 everturn.service stop running", unit), false);
  assert.equal(isRestartIn("", unit), false);
  const found = () => Promise.resolve(unit);
  assert.equal(await comesBack(() => Promise.resolve({ code: 0, out: list, err: "" }), found), true);
  assert.equal(await comesBack(() => Promise.resolve({ code: null, out: list, err: "" }), found), false);
  assert.equal(
    await comesBack(
      () => assert.fail("not asked"),
      () => Promise.resolve(null),
    ),
    false,
  );
});
