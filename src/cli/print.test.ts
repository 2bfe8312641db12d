// Tables, moments and text as people see them.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Output,
  facts,
  fit,
  lasting,
  oneLine,
  paint,
  plainText,
  table,
  terminalOutput,
  when,
  widthOf,
} from "./print.ts";

function output(columns: number, colour = false): Output {
  return { out: () => {}, err: () => {}, columns, tty: true, colour };
}

test("a table fits the terminal by cutting its last column", () => {
  const rows = [
    ["a", "short"],
    ["long-id", "a text that is much longer than the room there is"],
  ];
  assert.deepEqual(table(["ID", "TEXT"], rows, output(30)).split("\n"), [
    "ID       TEXT",
    "a        short",
    "long-id  a text that is much …",
  ]);
  for (const line of table(["ID", "TEXT"], rows, output(30)).split("\n")) assert.ok(widthOf(line) <= 30);
});

test("wide characters count double, joiners not at all", () => {
  assert.equal(widthOf("日本"), 4);
  assert.equal(widthOf("e\u0301"), 1);
  assert.equal(widthOf("👍"), 2);
  assert.equal(fit("日本語", 5), "日本…");
  assert.equal(fit("abc", 3), "abc");
});

test("text from elsewhere cannot steer the terminal", () => {
  assert.equal(plainText("a\u001B[2Jb\u0007\u009Bc\nd\te\u202Ef"), "a[2Jbc\nd\tef");
  assert.equal(oneLine(" a\n\tb  c "), "a b c");
});

test("moments are local and short, with how far away they are", () => {
  const now = new Date(2026, 10, 15, 14, 30).getTime();
  const cases: [number, string][] = [
    [now, "14:30 (now)"],
    [now - 5 * 60_000, "14:25 (5 min ago)"],
    [now + 30_000, "14:30 (in 30 s)"],
    [now - 3 * 86_400_000, "12 Nov 14:30 (3 d ago)"],
    [new Date(2025, 0, 2, 3, 4).getTime(), "2 Jan 2025 03:04 (682 d ago)"],
  ];
  for (const [at, text] of cases) assert.equal(when(at, now), text);
  assert.deepEqual([0, 59_999, 60_000, 7_200_000].map(lasting), ["0 s", "59 s", "1 min", "2 h"]);
});

test("colours only where they are wanted", () => {
  assert.equal(paint(output(80), "red", "x"), "x");
  assert.equal(paint(output(80, true), "red", "x"), "\u001B[31mx\u001B[0m");
  assert.equal(
    facts(
      [
        ["a", "1"],
        ["bc", "2"],
      ],
      output(80),
    ),
    "a   1\nbc  2",
  );
  const pipe = { write: () => true } as unknown as NodeJS.WriteStream;
  const terminal = { write: () => true, isTTY: true, columns: 90 } as unknown as NodeJS.WriteStream;
  assert.equal(terminalOutput(pipe, pipe, {}).colour, false);
  assert.equal(terminalOutput(terminal, pipe, {}).colour, true);
  assert.equal(terminalOutput(terminal, pipe, { NO_COLOR: "1" }).colour, false);
  assert.equal(terminalOutput(terminal, pipe, {}).columns, 90);
  assert.equal(terminalOutput(Object.assign(terminal, { columns: 0 }), pipe, {}).columns, 80);
  assert.equal(terminalOutput(pipe, pipe, {}).columns, Number.POSITIVE_INFINITY);
});
