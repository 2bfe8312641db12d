import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, lstatSync, mkdirSync, readdirSync, statSync, symlinkSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type TestRoom, aRoom, asNobody } from "../../../test/fakes/room.ts";
import type { ToolResult } from "../../core/journal.ts";
import { aToolContext } from "../../testing/samples.ts";
import { fileChanges } from "./change.ts";
import { writeFileTool } from "./write.ts";

function write(room: TestRoom, path: string, content = "new\n"): Promise<ToolResult> {
  return writeFileTool(room, fileChanges(room)).run({ path, content }, aToolContext(path));
}

describe("write_file", () => {
  const says: readonly (readonly [name: string, before: string | null, content: string, output: string])[] = [
    ["a new file", null, "a\nb\n", "Created f: 2 lines, 4 bytes."],
    ["an empty one", null, "", "Created f: 0 lines, 0 bytes."],
    ["one line without an end", null, "ü", "Created f: 1 line, 2 bytes."],
    ["another content", "a\n", "a\nb", "Replaced f: 2 lines, 3 bytes; before it had 1 line, 2 bytes."],
    ["the same content", "a\n", "a\n", "f had this content already: 1 line, 2 bytes."],
  ];
  for (const [name, before, content, output] of says) {
    test(`says what it did: ${name}`, async (t) => {
      const room = aRoom(t);
      if (before !== null) room.put("f", before);
      assert.deepEqual(await write(room, "f", content), { type: "ok", output });
      assert.equal(room.read("f"), content);
    });
  }

  test("folders are made, links stay links, and the mode stays", async (t) => {
    const room = aRoom(t);
    assert.equal((await write(room, "a/b/c/f")).type, "ok");
    assert.equal((await write(room, `${"deep/".repeat(60)}f`)).type, "ok");
    chmodSync(room.put("run.sh", "old"), 0o750);
    symlinkSync("run.sh", join(room.workspace, "link"));
    assert.equal((await write(room, "link")).type, "ok");
    assert.equal(room.read("run.sh"), "new\n");
    assert.ok(lstatSync(join(room.workspace, "link")).isSymbolicLink());
    assert.equal(statSync(join(room.workspace, "run.sh")).mode & 0o777, 0o750);
    symlinkSync("later", join(room.workspace, "dangling"));
    assert.equal((await write(room, "dangling")).type, "ok");
    assert.equal(room.read("later"), "new\n");
    assert.ok(lstatSync(join(room.workspace, "dangling")).isSymbolicLink());
  });

  const bad: readonly (readonly [name: string, make: (room: TestRoom) => string, why: RegExp])[] = [
    ["a folder", (room) => (room.put("d/f", ""), "d"), /d is a folder/],
    ["below a file", (room) => (room.put("f", ""), "f/x"), /not a folder/],
    ["a pipe", (room) => (execFileSync("mkfifo", [join(room.workspace, "p")]), "p"), /pipe/],
    ["the gateway's own folder", () => "../config.yaml", /belongs to the gateway itself/],
    [
      "the gateway's own folder through a link",
      (room) => (symlinkSync("../.env", join(room.workspace, "e")), "e"),
      /belongs to the gateway itself/,
    ],
    ["a file outside of the workspace", () => "/etc/passwd", /which is outside of the workspace/],
    [
      "a file outside through a link",
      (room) => (symlinkSync("/etc/passwd", join(room.workspace, "e")), "e"),
      /leads to \/etc\/passwd, which is outside/,
    ],
  ];
  for (const [name, make, why] of bad) {
    test(`not over ${name}`, { timeout: 60_000 }, async (t) => {
      const room = aRoom(t);
      const path = make(room);
      const before = readdirSync(room.workspace).toSorted();
      const result = await write(room, path);
      assert.ok(result.type === "failed", JSON.stringify(result));
      assert.match(result.why, why);
      assert.deepEqual(readdirSync(room.workspace).toSorted(), before);
    });
  }

  test("not what may not be written, though its folder may", async (t) => {
    const room = aRoom(t);
    chmodSync(room.workspace, 0o777);
    mkdirSync(room.notes, { mode: 0o777 });
    chmodSync(room.notes, 0o777);
    chmodSync(room.put("f", "old"), 0o444);
    const result = await asNobody(() => write(room, "f"));
    assert.deepEqual(result, { type: "failed", why: `${join(room.workspace, "f")} may not be used by this user.` });
    assert.equal(room.read("f"), "old");
  });

  test("not into a folder that may not be written", async (t) => {
    const room = aRoom(t);
    mkdirSync(room.notes, { mode: 0o777 });
    chmodSync(room.notes, 0o777);
    const result = await asNobody(() => write(room, "f"));
    assert.deepEqual(result, { type: "failed", why: `${join(room.workspace, "f")} may not be used by this user.` });
  });

  test("not more than may be written", async (t) => {
    const result = await write(aRoom(t), "f", "x".repeat(10_000_001));
    assert.ok(result.type === "failed");
    assert.match(result.why, /"content" must be at most 10 MB/);
  });

  test("notes that no turn can ask for any more go, counted from the newest", async (t) => {
    const room = aRoom(t);
    const day = 24 * 3_600;
    const noted = async (path: string): Promise<string> => {
      const before = room.has("first") ? readdirSync(room.notes) : [];
      await write(room, path);
      return readdirSync(room.notes).find((name) => !before.includes(name)) ?? "";
    };
    const [old, recent, newest] = [await noted("first"), await noted("second"), await noted("third")];
    const at = (name: string, days: number): void => utimesSync(join(room.notes, name), 40 * day, days * day);
    at(old, 32);
    at(recent, 34);
    at(newest, 40);
    await write(room, "fourth");
    const left = readdirSync(room.notes);
    assert.deepEqual(
      [old, recent, newest].map((name) => left.includes(name)),
      [false, true, true],
    );
  });
});
