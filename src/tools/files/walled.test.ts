// The file tools inside a real sandbox: what a person's commands see is what the tools see, and a grant opens one path.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type TestRoom, aRoom, aVet, withoutSandbox } from "../../../test/fakes/room.ts";
import type { ToolResult } from "../../core/journal.ts";
import type { Tool } from "../../ports/tool.ts";
import { openBlobs } from "../../stores/blobs/index.ts";
import { aToolContext } from "../../testing/samples.ts";
import { builtinTools } from "../index.ts";

const skip = await withoutSandbox();

type WalledRoom = TestRoom & {
  /** As an approver would allow it. */
  approved(name: string, input: object): Promise<ToolResult>;
  /** Without anything granted. */
  run(name: string, input: object): Promise<ToolResult>;
};

function walled(t: Parameters<typeof aRoom>[0]): WalledRoom {
  // Not below /tmp: a sandbox has one of its own.
  const room = aRoom(t, { sandbox: "auto", in: homedir() });
  mkdirSync(room.userHome);
  writeFileSync(join(room.userHome, "notes.txt"), "private\n");
  writeFileSync(join(room.home, "control.token"), "TOKEN\n");
  writeFileSync(join(room.files, "blob"), "attached\n");
  room.put("f", "one\ntwo\n");
  const blobs = openBlobs(join(room.home, "blobs"));
  const archive = { recall: async () => [] };
  const tools = builtinTools({ ...room, web: { allowPrivate: false }, blobs, archive });
  const named = (name: string): Tool => tools.find((tool) => tool.name === name) ?? assert.fail(name);
  let calls = 0;
  return {
    ...room,
    run: (name, input) => named(name).run(input, aToolContext(`k${calls++}`)),
    async approved(name, input) {
      const verdict = await named(name).vet?.(input, aVet());
      assert.ok(verdict?.type === "approve" && verdict.grant !== undefined, JSON.stringify(verdict));
      return named(name).run(input, aToolContext(`k${calls++}`, { grant: verdict.grant }));
    },
  };
}

/** Whose command line names this path, as that of the sandbox does. */
function processesOf(path: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(path);
    } catch (error) {
      // It ended meanwhile.
      if (error instanceof Error && "code" in error) return false;
      throw error;
    }
  });
}

describe("file tools inside a sandbox", { skip, timeout: 300_000 }, () => {
  test("work in the workspace, HOME and the files of conversations", async (t) => {
    const room = walled(t);
    const calls: readonly (readonly [name: string, input: object, output: RegExp])[] = [
      ["read_file", { path: "f" }, /1\\tone/],
      ["read_file", { path: join(room.files, "blob") }, /attached/],
      ["read_file", { path: "/etc/os-release" }, /NAME=/],
      ["write_file", { path: "a/b/c", content: "new" }, /Created a\/b\/c/],
      ["edit_file", { path: "f", oldText: "two", newText: "three" }, /Edited f at line 2/],
      ["search_files", { pattern: "three" }, /f:2: three/],
      ["write_file", { path: "~/h", content: "kept" }, /Created/],
      ["read_file", { path: "~/h" }, /kept/],
      ["send_file", { path: "a/b/c" }, /c \(3 bytes\) goes to the user/],
    ];
    for (const [name, input, output] of calls) {
      const result = await room.run(name, input);
      assert.match(JSON.stringify(result), output);
      assert.equal(result.type, "ok");
    }
    assert.equal(room.read("a/b/c"), "new");
    assert.equal(room.workers.count, 1);
  });

  test("see nothing else, whatever the policy: the wall holds without the judgment", async (t) => {
    const room = walled(t);
    symlinkSync(join(room.userHome, "notes.txt"), join(room.workspace, "link"));
    symlinkSync(room.userHome, join(room.workspace, "folder"));
    symlinkSync(room.home, join(room.workspace, "gateway"));
    const secret = join(room.userHome, "notes.txt");
    const paths = [secret, "link", "folder/notes.txt", "gateway/control.token", "../control.token", "/etc/shadow"];
    const more = ["/proc/1/root/etc/shadow", "/proc/self/root/etc/shadow", `/proc/self/cwd/../control.token`];
    for (const path of [...paths, ...more]) {
      for (const [name, input] of [
        ["read_file", { path }],
        ["search_files", { path, pattern: "." }],
        ["send_file", { path }],
        ["write_file", { path, content: "planted" }],
        ["edit_file", { path, oldText: "p", newText: "planted" }],
      ] as const) {
        const result = await room.run(name, input);
        assert.equal(result.type, "failed", `${name} ${path}: ${JSON.stringify(result)}`);
        assert.doesNotMatch(JSON.stringify(result), /private|TOKEN|root:/);
      }
    }
    assert.equal(readFileSync(secret, "utf8"), "private\n");
    assert.equal(readFileSync(join(room.home, "control.token"), "utf8"), "TOKEN\n");
    const result = await room.run("read_file", { path: "link" });
    assert.ok(result.type === "failed");
    assert.match(
      result.why,
      /^link is a link to .*notes\.txt, not found inside the sandbox\. Ask for .*notes\.txt itself/,
    );
  });

  test("ended, nothing of them is left, neither the sandbox around them", async (t) => {
    const room = walled(t);
    await room.run("read_file", { path: "f" });
    assert.ok(processesOf(room.workspace).length > 0);
    room.workers.close();
    while (processesOf(room.workspace).length > 0) await pause(20);
  });

  test("a grant opens one path for one call", async (t) => {
    const room = walled(t);
    const path = join(room.userHome, "notes.txt");
    writeFileSync(join(room.userHome, "other"), "other\n");
    symlinkSync("other", join(room.userHome, "link"));
    assert.deepEqual(await room.approved("read_file", { path }), { type: "ok", output: "1\tprivate" });
    assert.match(
      JSON.stringify(await room.approved("edit_file", { path, oldText: "private", newText: "ours" })),
      /"ok"/,
    );
    assert.equal(readFileSync(path, "utf8"), "ours\n");
    const created = join(room.userHome, "new/deep/f");
    assert.match(JSON.stringify(await room.approved("write_file", { path: created, content: "x" })), /Created/);
    assert.equal(readFileSync(created, "utf8"), "x");
    assert.match(JSON.stringify(await room.approved("search_files", { path: room.userHome, pattern: "ou" })), /ours/);
    assert.match(JSON.stringify(await room.approved("send_file", { path })), /5 bytes/);
    const linked = await room.approved("read_file", { path: join(room.userHome, "link") });
    assert.match(JSON.stringify(linked), /failed.*leads to .*other/);
    assert.match(
      JSON.stringify(await room.approved("read_file", { path: join(room.userHome, "none") })),
      /does not exist/,
    );
    assert.equal((await room.run("read_file", { path })).type, "failed", "the grant has ended with its call");
    assert.deepEqual(readdirSync(room.userHome).toSorted(), ["link", "new", "notes.txt", "other"]);
  });

  test("a change outside that was cut short is looked at with what it was granted", async (t) => {
    const room = walled(t);
    const path = join(room.userHome, "notes.txt");
    const input = { path, content: "ours\n" };
    const grant = { hosts: [], paths: [{ path, access: "write" as const }], credentials: [], outside: false };
    const [tool] = builtinTools({
      ...room,
      web: { allowPrivate: false },
      blobs: openBlobs(room.files),
      archive: { recall: async () => [] },
    }).filter(({ name }) => name === "write_file");
    assert.equal((await tool?.run(input, aToolContext("k", { grant })))?.type, "ok");
    assert.equal((await tool?.check?.(input, aToolContext("k")))?.type, "ok");
    assert.ok(existsSync(path));
  });
});
