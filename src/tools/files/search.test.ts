import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { type TestRoom, aRoom, asNobody } from "../../../test/fakes/room.ts";
import { noGrant } from "../../core/grant.ts";
import { aToolContext } from "../../testing/samples.ts";
import { searchFilesTool } from "./search.ts";

async function search(room: TestRoom, input: unknown, msMax?: number): Promise<string> {
  const result = await searchFilesTool(room, msMax).run(input, aToolContext());
  assert.ok(result.type === "ok", JSON.stringify(result));
  return String(result.output);
}

function filled(room: TestRoom): TestRoom {
  room.put("a.txt", "one\ntwo words\nthree\n");
  room.put("src/b.ts", "const Two = 2;\r\n// two\r\n");
  room.put("src/deep/c.ts", "nothing\n");
  room.put("node_modules/x/d.ts", "two\n");
  room.put(".git/config", "two\n");
  room.put("image.png", Buffer.from("two\0two\n"));
  room.put(".env", "KEY=two\n");
  symlinkSync("..", join(room.workspace, "src/up"));
  return room;
}

describe("search_files", () => {
  const cases: readonly (readonly [name: string, input: object, output: string])[] = [
    ["lines", { pattern: "two" }, ".env:1: KEY=two\na.txt:2: two words\nsrc/b.ts:2: // two"],
    [
      "without regard to case",
      { pattern: "two", ignoreCase: true, path: "src" },
      "src/b.ts:1: const Two = 2;\nsrc/b.ts:2: // two",
    ],
    ["as other languages write that", { pattern: "(?i)TWO", glob: "*.txt" }, "a.txt:2: two words"],
    ["with a pattern", { pattern: "^t\\w+$" }, "a.txt:3: three"],
    ["with a pattern that only lenient readers read", { pattern: "\\-|two\\_?w*", glob: "a.*" }, "a.txt:2: two words"],
    ["in files of a name", { pattern: "two", glob: "*.ts" }, "src/b.ts:2: // two"],
    ["in one file", { pattern: "two", path: "a.txt" }, "a.txt:2: two words"],
    ["nothing", { pattern: "never", path: "src" }, "[nothing found in 2 files]"],
    ["names", { glob: "*.ts" }, "src/b.ts\nsrc/deep/c.ts"],
    ["names in a folder", { glob: "deep/*", path: "src" }, "src/deep/c.ts"],
    ["all names", {}, ".env\na.txt\nimage.png\nsrc/b.ts\nsrc/deep/c.ts"],
    ["a name that no file has", { glob: "*.rs" }, "[nothing found in 5 files]"],
    ["null for what is left out", { glob: "a.*", pattern: null, path: null, ignoreCase: null }, "a.txt"],
  ];
  for (const [name, input, output] of cases) {
    test(name, async (t) => assert.equal(await search(filled(aRoom(t)), input), output));
  }

  const bad: readonly (readonly [input: object, why: RegExp])[] = [
    [{ pattern: "(" }, /pattern cannot be read: .*Unterminated group/],
    [{ pattern: "" }, /"pattern" must not be empty/],
    [{ glob: "{a" }, /glob \{a cannot be read/],
    [{ path: "none" }, /none does not exist/],
    [{ path: "../logs" }, /does not exist/],
    [{ path: ".." }, /belongs to the gateway itself/],
    [{ pattern: "x".repeat(1_001) }, /at most 1000 characters/],
  ];
  for (const [input, why] of bad) {
    test(`not ${JSON.stringify(input).slice(0, 30)}`, async (t) => {
      const result = await searchFilesTool(filled(aRoom(t))).run(input, aToolContext());
      assert.ok(result.type === "failed", JSON.stringify(result));
      assert.match(result.why, why);
    });
  }

  test("a pattern that would run for years ends with its time, and blocks nothing meanwhile", {
    timeout: 60_000,
  }, async (t) => {
    const room = aRoom(t);
    room.put("a.txt", "found\n");
    room.put("b.txt", `${"a".repeat(60)}!\n`);
    const began = performance.now();
    let turns = 0;
    const clock = setInterval(() => turns++, 5);
    const output = await search(room, { pattern: "found|^(a+)+$" }, 1_500);
    clearInterval(clock);
    assert.equal(output, "a.txt:1: found\n[ended early: the time was over, in b.txt; narrow the search]");
    assert.ok(performance.now() - began < 30_000);
    assert.ok(turns > 20, `the others had ${turns} turns`);
  });

  test("a glob that would run for years does so too", { timeout: 60_000 }, async (t) => {
    const room = aRoom(t);
    room.put("a".repeat(200), "");
    const output = await search(room, { glob: `${"*a".repeat(40)}b` }, 1_000);
    assert.match(output, /ended early: the time was over/);
  });

  test("an abort ends it", { timeout: 60_000 }, async (t) => {
    const room = aRoom(t);
    room.put("b.txt", `${"a".repeat(60)}!\n`);
    const stop = new AbortController();
    const reason = new Error("enough");
    const running = searchFilesTool(room).run({ pattern: "^(a+)+$" }, aToolContext("k", { signal: stop.signal }));
    stop.abort(reason);
    await assert.rejects(running, reason);
  });

  test("pipes, devices, large files and closed folders do not stop it", { timeout: 60_000 }, async (t) => {
    const room = aRoom(t);
    execFileSync("mkfifo", [join(room.workspace, "pipe")]);
    symlinkSync("/dev/zero", join(room.workspace, "zero"));
    room.put("large", `${"x".repeat(99)}\n`.repeat(60_000));
    room.put("closed/f", "x");
    chmodSync(join(room.workspace, "closed"), 0o000);
    room.put("f", "x\n");
    const output = await asNobody(() => search(room, { pattern: "x" }));
    assert.equal(output, "f:1: x\n[1 files that are too large or may not be read were left out]");
    assert.match(await search(room, { pattern: "x", path: "pipe" }), /nothing found/);
    chmodSync(join(room.workspace, "closed"), 0o700);
  });

  test("many at once each get their answer", { timeout: 60_000 }, async (t) => {
    const room = filled(aRoom(t));
    const tool = searchFilesTool(room);
    const results = await Promise.all(
      ["one", "two w", "three", "nothing", "Two ="].map((pattern) =>
        tool.run({ pattern, glob: "*.t*" }, aToolContext()),
      ),
    );
    assert.deepEqual(
      results.map((one) => (one.type === "ok" ? one.output : one)),
      [
        "a.txt:1: one",
        "a.txt:2: two words",
        "a.txt:3: three",
        "src/deep/c.ts:1: nothing",
        "src/b.ts:1: const Two = 2;",
      ],
    );
  });

  test("not more than somebody can read", async (t) => {
    const room = aRoom(t);
    room.put("many", "x\n".repeat(80));
    for (let n = 0; n < 300; n++) writeFileSync(join(room.workspace, `f${String(n).padStart(3, "0")}`), "");
    assert.match(await search(room, { pattern: "x" }), /^(?:many:\d+: x\n){50}many: \[more lines match\]$/);
    assert.match(await search(room, {}), /f199\n\[ended early: 200 results were found; narrow the search\]$/);
    room.put("packed.js", `${"y".repeat(50_000)}needle${"z".repeat(50_000)}\n`);
    assert.match(await search(room, { pattern: "needle" }), /^packed\.js:1: …y{50}needlez{244}…$/);
  });

  test("the gateway's own folder stays closed, also from above", async (t) => {
    const room = aRoom(t);
    writeFileSync(join(room.home, "config.yaml"), "two\n");
    mkdirSync(join(room.home, "logs"));
    writeFileSync(join(room.home, "logs/today"), "two\n");
    room.put("a.txt", "two\n");
    const path = dirname(room.home);
    const grant = { ...noGrant, paths: [{ path, access: "read" }] } as const;
    const result = await searchFilesTool(room).run({ pattern: "two", path }, aToolContext("k", { grant }));
    assert.deepEqual(result, { type: "ok", output: "[nothing found in 0 files]" });
  });
});
