// Lines as they leave the log: level, form, redaction, and what happens when writing fails.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../core/fault.ts";
import { jsonLine, readJsonLine } from "./json.ts";
import { type LogOptions, both, openLog } from "./log.ts";
import { prettyLine, wantsColour } from "./pretty.ts";

function recording(options: Partial<LogOptions> = {}) {
  const lines: string[] = [];
  const log = openLog({
    level: "debug",
    format: "json",
    secrets: [],
    now: () => 1_000,
    write: (line) => void lines.push(line),
    ...options,
  });
  return { lines, log };
}

test("a record is one line of JSON with the time in UTC", () => {
  const { lines, log } = recording({ secrets: ["hunter22"] });
  log("info", "first\nline", { turn: "t1", token: "x", note: "hunter22" });
  log("error", "no facts");
  assert.deepEqual(lines, [
    '{"time":"1970-01-01T00:00:01.000Z","level":"info","what":"first\\nline","facts":{"turn":"t1","token":"[secret]","note":"[secret]"}}\n',
    '{"time":"1970-01-01T00:00:01.000Z","level":"error","what":"no facts"}\n',
  ]);
  assert.deepEqual(readJsonLine(lines[1] ?? ""), {
    time: "1970-01-01T00:00:01.000Z",
    level: "error",
    what: "no facts",
    facts: {},
  });
});

test("a line that is none of ours is not read as one", () => {
  for (const line of ["", "null", "[]", '{"time":"x"}', '{"time":"x","level":"loud","what":"y"}', '{"time":"x","lev'])
    assert.equal(readJsonLine(line), null, line);
});

test("records below the level are left out", () => {
  const { lines, log } = recording({ level: "warn" });
  for (const level of ["debug", "info", "warn", "error"] as const) log(level, level);
  assert.deepEqual(
    lines.map((line) => readJsonLine(line)?.what),
    ["warn", "error"],
  );
});

test("the log never throws, and tells how many records a failing writer cost", () => {
  let works = false;
  const lines: string[] = [];
  const write = (line: string) => {
    if (!works) throw new Error("pipe is gone");
    lines.push(line);
  };
  const { log } = recording({ write });
  log("info", "lost 1");
  log("info", "lost 2");
  works = true;
  log("info", "arrived");
  assert.deepEqual(
    lines.map((line) => readJsonLine(line)).map((one) => [one?.what, one?.facts]),
    [
      ["log records could not be written before this one", { lost: 2 }],
      ["arrived", {}],
    ],
  );
});

test("facts that are no facts, and a clock that is none, do not stop it", () => {
  const { lines, log } = recording();
  const anything = log as (level: "info", what: unknown, facts?: unknown) => void;
  for (const facts of [null, "text", [1], 5, Symbol("x")]) anything("info", undefined, facts);
  assert.equal(lines.length, 5);
  const { log: broken } = recording({ now: () => Number.NaN });
  assert.doesNotThrow(() => broken("info", "x"));
});

test("one record can go to several logs", () => {
  const a = recording();
  const b = recording({ level: "error" });
  both(a.log, b.log)("info", "x");
  assert.deepEqual([a.lines.length, b.lines.length], [1, 0]);
});

const record = { time: "2026-01-02T03:04:05.000Z", level: "info", what: "message stored", facts: {} } as const;

test("pretty: time, level, sentence and facts, without colour", () => {
  const line = prettyLine({ ...record, facts: { turn: "t1", n: 5, why: "two words", list: [1, "a"] } }, false);
  assert.match(line, /^\d\d:\d\d:\d\d info {2}message stored {2}turn=t1 n=5 why="two words" list=\[1,"a"\]$/);
  assert.match(prettyLine(record, false), /^\d\d:\d\d:\d\d info {2}message stored$/);
});

test("pretty: colour by level", () => {
  assert.ok(prettyLine({ ...record, level: "warn" }, true).includes("\u001b[33mwarn \u001b[0m"));
  assert.ok(prettyLine({ ...record, level: "error" }, true).includes("\u001b[31merror\u001b[0m"));
});

test("pretty: nothing in a record can steer the terminal or forge a line", () => {
  const evil = "a\u001b[2Jb\nforged\u009b31m\u202eright";
  const line = prettyLine({ ...record, what: evil, facts: { [evil]: evil, nested: { [evil]: evil } } }, false);
  assert.doesNotMatch(line, /[\p{Cc}\u202e]/u);
});

test("pretty: an error shows its sentence and causes, and its stack only at level error", () => {
  const { lines, log } = recording({ format: "pretty" });
  const error = new Fault("store-full", "The disk is full.", new Error("ENOSPC: no space"));
  log("warn", "commit failed", { error });
  log("error", "commit failed", { error: new Error("bug") });
  assert.match(lines[0] ?? "", /commit failed {2}error="The disk is full\.: ENOSPC: no space"\n$/);
  assert.match(lines[1] ?? "", /error=bug\n {4}Error: bug\n {4}at .*log\.test/);
});

test("colour is for terminals whose owner did not say no", () => {
  assert.equal(wantsColour(true, {}), true);
  assert.equal(wantsColour(true, { NO_COLOR: "" }), true);
  assert.equal(wantsColour(true, { NO_COLOR: "1" }), false);
  assert.equal(wantsColour(true, { TERM: "dumb" }), false);
  assert.equal(wantsColour(false, {}), false);
});

test("a JSON line survives the way back to a pretty one", () => {
  const read = readJsonLine(jsonLine({ ...record, facts: { a: 1 } }));
  assert.ok(read !== null && prettyLine(read, false).endsWith("message stored  a=1"));
});
