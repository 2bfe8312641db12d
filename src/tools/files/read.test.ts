import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type TestRoom, aRoom, aVet, asNobody } from "../../../test/fakes/room.ts";
import { noGrant } from "../../core/grant.ts";
import type { ToolResult } from "../../core/journal.ts";
import { aToolContext } from "../../testing/samples.ts";
import { readFileTool } from "./read.ts";

const read = (room: TestRoom, input: unknown): Promise<ToolResult> => readFileTool(room).run(input, aToolContext());

describe("read_file", () => {
  const numbers = (from: number, to: number): string =>
    Array.from({ length: to - from + 1 }, (_, i) => `${from + i}\tline ${from + i}`).join("\n");
  const file = Array.from({ length: 5_000 }, (_, i) => `line ${i + 1}\n`).join("");
  const cases: readonly (readonly [name: string, content: string | Buffer, more: object, output: string])[] = [
    ["a text", "one\ntwo\n", {}, "1\tone\n2\ttwo"],
    ["no end of line at the end", "one\ntwo", {}, "1\tone\n2\ttwo"],
    ["an empty line at the end", "one\n\n", {}, "1\tone\n2\t"],
    ["an empty file", "", {}, "[f is empty]"],
    ["endings of Windows", "one\r\ntwo\r\n", {}, "1\tone\n2\ttwo"],
    ["other letters", "grüße\n日本語\n🙂", {}, "1\tgrüße\n2\t日本語\n3\t🙂"],
    ["a part", file, { offset: 7, limit: 2 }, `${numbers(7, 8)}\n[lines 7 to 8 of 5000; read on with offset 9]`],
    ["the end", file, { offset: 4_999, limit: 10 }, numbers(4_999, 5_000)],
    ["null for what is left out", "one", { offset: null, limit: null }, "1\tone"],
    ["too many lines", file, {}, `${numbers(1, 2_000)}\n[lines 1 to 2000 of 5000; read on with offset 2001]`],
    ["a long line", `${"x".repeat(5_000)}\nend`, {}, `1\t${"x".repeat(4_000)} [line cut]\n2\tend`],
    ["a cut inside of a letter", `a${"ü".repeat(3_000)}`, {}, `1\ta${"ü".repeat(1_999)} [line cut]`],
    ["not UTF-8", Buffer.from("gr\xfc\xdfe", "latin1"), {}, "1\tgr��e\n[parts are not UTF-8 and shown as �]"],
  ];
  for (const [name, content, more, output] of cases) {
    test(name, async (t) => {
      const room = aRoom(t);
      room.put("f", content);
      assert.deepEqual(await read(room, { path: "f", ...more }), { type: "ok", output });
    });
  }

  test("all lines together are not more than a model can take", async (t) => {
    const room = aRoom(t);
    room.put("f", `${"y".repeat(1_000)}\n`.repeat(1_500));
    const result = await read(room, { path: "f" });
    assert.ok(result.type === "ok");
    assert.match(String(result.output), /\[lines 1 to 100 of 1500; read on with offset 101\]$/);
  });

  const bad: readonly (readonly [name: string, make: (room: TestRoom) => string, why: RegExp])[] = [
    ["nothing there", () => "none", /none does not exist/],
    ["a folder", (room) => join(room.put("d/f", ""), ".."), /d is a folder; search_files/],
    ["a device that never ends", (room) => (symlinkSync("/dev/zero", join(room.workspace, "z")), "z"), /is a device/],
    ["a pipe without a writer", (room) => pipeIn(room), /pipe/],
    ["a path through a file", (room) => `${room.put("f", "")}/x`, /not a folder/],
    ["a circle of links", (room) => circleIn(room), /circle of links/],
    ["an image", (room) => room.put("i.png", Buffer.from("89504e470d0a1a0a0000", "hex")), /a PNG image, 10 bytes/],
    ["a program", (room) => room.put("p", Buffer.from("7f454c460000", "hex")), /a program/],
    ["UTF-16", (room) => room.put("u", Buffer.from("\ufeffabc", "utf16le")), /UTF-16/],
    ["50 MB of zeros", (room) => large(room.put("l", "")), /binary, 50 MB/],
    ["a name that is too long", () => "x".repeat(300), /too long/],
    ["behind the end", (room) => room.put("f", "one\n"), /has 1 lines; line 9/],
  ];
  for (const [name, make, why] of bad) {
    test(`not ${name}`, { timeout: 60_000 }, async (t) => {
      const room = aRoom(t);
      const path = make(room);
      const result = await read(room, name === "behind the end" ? { path, offset: 9 } : { path });
      assert.ok(result.type === "failed", JSON.stringify(result));
      assert.match(result.why, why);
    });
  }

  const inputs: readonly (readonly [input: unknown, why: RegExp])[] = [
    [{}, /"path" is missing/],
    [null, /must be an object, and is null/],
    ["a", /must be an object/],
    [{ path: "" }, /"path" must not be empty/],
    [{ path: 3 }, /"path" must be string, and is 3/],
    [{ path: "a\0b" }, /zero byte/],
    [{ path: "x".repeat(5_000) }, /longer than a path/],
    [{ path: "\ud800" }, /half a character/],
    [{ path: "a", offset: 0 }, /"offset" must be a whole number from 1/],
    [{ path: "a", limit: 1.5 }, /"limit" must be a whole number/],
    [{ path: "a", offset: "3" }, /"offset" must be number, and is "3"/],
    [{ path: "a", offset: "x".repeat(1e6) }, /^.{0,400}$/],
    [{ path: "a", lines: 3 }, /"lines" is not a part of it/],
  ];
  for (const [input, why] of inputs) {
    test(`told what is wrong: ${JSON.stringify(input).slice(0, 40)}`, async (t) => {
      const room = aRoom(t);
      const result = await read(room, input);
      assert.ok(result.type === "failed");
      assert.match(result.why, why);
      assert.deepEqual(await readFileTool(room).vet?.(input, aVet()), { type: "refuse", why: result.why });
    });
  }

  test("a large file is read at its end", { timeout: 120_000 }, async (t) => {
    const room = aRoom(t);
    room.put("f", `${"z".repeat(99)}\n`.repeat(500_000));
    const result = await read(room, { path: "f", offset: 499_999 });
    assert.ok(result.type === "ok");
    assert.match(String(result.output), /^499999\tz+\n500000\tz+$/);
  });

  test("what may not be read says so", async (t) => {
    const room = aRoom(t);
    chmodSync(room.put("f", "secret"), 0o000);
    const result = await asNobody(() => read(room, { path: "f" }));
    assert.deepEqual(result, { type: "failed", why: `${join(room.workspace, "f")} may not be used by this user.` });
  });

  test("not a socket", async (t) => {
    const room = aRoom(t);
    const server = createServer().listen(join(room.workspace, "s"));
    t.after(() => server.close());
    await once(server, "listening");
    const result = await read(room, { path: "s" });
    assert.deepEqual(result, { type: "failed", why: "s is a device, a pipe or a socket, not a file." });
  });

  test("files of conversations are read where they are; the rest of the gateway's folder stays closed", async (t) => {
    const room = aRoom(t);
    writeFileSync(join(room.files, "blob"), "attached\n");
    writeFileSync(join(room.home, "control.token"), "secret\n");
    symlinkSync("../control.token", join(room.workspace, "link"));
    assert.deepEqual(await read(room, { path: join(room.files, "blob") }), { type: "ok", output: "1\tattached" });
    for (const path of ["../control.token", "link"]) {
      const result = await read(room, { path });
      assert.ok(result.type === "failed");
      assert.match(result.why, /belongs to the gateway itself/);
    }
  });

  test("a link that leads out of the workspace is not followed without a sandbox", async (t) => {
    const room = aRoom(t);
    mkdirSync(room.userHome);
    writeFileSync(join(room.userHome, "key"), "private\n");
    symlinkSync(join(room.userHome, "key"), join(room.workspace, "link"));
    symlinkSync(room.userHome, join(room.workspace, "folder"));
    for (const path of ["link", "folder/key", join(room.userHome, "key")]) {
      const result = await read(room, { path });
      assert.ok(result.type === "failed");
      assert.match(result.why, /leads to .*\/key, which is outside of the workspace\. Ask for .*\/key itself/);
    }
    const grant = { ...noGrant, paths: [{ path: join(room.userHome, "key"), access: "read" }] } as const;
    const granted = (path: string) => readFileTool(room).run({ path }, aToolContext("k", { grant }));
    assert.deepEqual(await granted(join(room.userHome, "key")), { type: "ok", output: "1\tprivate" });
  });
});

function pipeIn(room: TestRoom): string {
  const path = join(room.workspace, "pipe");
  execFileSync("mkfifo", [path]);
  return path;
}

function circleIn(room: TestRoom): string {
  symlinkSync("b", join(room.workspace, "a"));
  symlinkSync("a", join(room.workspace, "b"));
  return "a";
}

function large(path: string): string {
  truncateSync(path, 50_000_000);
  return path;
}
