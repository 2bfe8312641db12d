// The tools for files in a running gateway with a sandbox: what lies outside of the workspace waits for an approval through
// anything, is done once, and no worker outlives its gateway.

import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { scenarios } from "../fakes/models/index.ts";
import { withoutSandbox } from "../fakes/room.ts";
import { until } from "../process/stage.ts";
import { answerTo, doing, openStage, questionAfter } from "./stage.ts";

const follow = scenarios["follow"] as NonNullable<(typeof scenarios)[string]>;
const skip = await withoutSandbox();

/** Not below /tmp: the sandbox has one of its own. */
function outsideFolder(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(homedir(), "everturn-outside-")));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Processes of file workers whose command line names this home. */
function workersOf(home: string): readonly string[] {
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      return line.includes("files/worker/main.ts") && line.includes(home);
    } catch (error) {
      // It ended meanwhile.
      if (error instanceof Error && "code" in error) return false;
      throw error;
    }
  });
}

test("a change outside waits through a kill, and is made once it is approved", { skip }, async (t) => {
  const stage = await openStage(t, follow);
  const path = join(outsideFolder(t), "notes.txt");
  writeFileSync(path, "old\n");
  const first = await stage.start();
  const { port } = first;
  const edit = { tool: "edit_file", input: { path, oldText: "old", newText: "old old" } };
  await first.client.send("c", "m1", doing(edit));
  const question = await questionAfter(first.client, "c", "m1");
  assert.ok(question.text.includes(`Changes ${path}`), question.text);
  await first.end("SIGKILL");
  assert.equal(readFileSync(path, "utf8"), "old\n");
  const second = await stage.start({ port });
  await second.client.send("c", "yes", "/approve");
  assert.match(await answerTo(second.client, "c", "m1"), /Edited .*notes\.txt at line 1/);
  assert.equal(readFileSync(path, "utf8"), "old old\n");
  await second.client.send("c", "m2", doing({ tool: "read_file", input: { path } }));
  const asked = await questionAfter(second.client, "c", "m2");
  assert.ok(asked.text.includes(`Reads ${path}`), asked.text);
  await second.client.send("c", "yes2", "/approve");
  assert.match(await answerTo(second.client, "c", "m2"), /old old/);
});

for (const signal of ["SIGKILL", "SIGTERM"] as const) {
  test(`no worker outlives its gateway: ${signal}`, { skip }, async (t) => {
    const stage = await openStage(t, follow);
    const life = await stage.start();
    const write = { tool: "write_file", input: { path: "f", content: "x" } };
    assert.match(await life.ask("c", "m1", doing(write)), /Created f/);
    assert.ok(workersOf(stage.home).length > 0, "it stays warm");
    await life.end(signal);
    await until(
      () => workersOf(stage.home).length,
      (count) => count === 0,
      "the worker is gone",
    );
  });
}
