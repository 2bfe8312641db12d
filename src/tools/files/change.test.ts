import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Misbehavior } from "../../../test/fakes/file-worker.ts";
import { type TestRoom, aRoom, makeRoom, misbehaving } from "../../../test/fakes/room.ts";
import type { ToolResult } from "../../core/journal.ts";
import type { Tool } from "../../ports/tool.ts";
import { aToolContext } from "../../testing/samples.ts";
import { fileChanges } from "./change.ts";
import { editFileTool } from "./edit.ts";
import { type FileToolOptions } from "./vet.ts";
import { writeFileTool } from "./write.ts";

/** Applied twice, or to half of it, each of these would leave another content. */
const trials = {
  edit: { input: { path: "f", oldText: "one", newText: "one one" }, before: "one\ntwo\n", after: "one one\ntwo\n" },
  write: { input: { path: "f", content: "new\n" }, before: "old\n", after: "new\n" },
  create: { input: { path: "deep/er/f", content: "new\n" }, before: null, after: "new\n" },
} as const;
type Trial = keyof typeof trials;
const names = Object.keys(trials) as readonly Trial[];
const noteSteps = ["note drafted", "note moved", "note kept"];
const workerSteps = ["folder made", "draft written", "moved", "synced"];

/** Frames of the gateway: begin, call, next. Replies: planned, changed. */
const messageDeaths: readonly Misbehavior[] = [
  { dieAtFrame: 0 },
  { dieAtFrame: 1 },
  { dieAtFrame: 2 },
  { dieAfterReply: 0 },
  { dieAfterReply: 1 },
];

class Cut extends Error {}

/** The tool of a trial; the gateway dies after so many steps of its note. */
function toolOf(room: FileToolOptions, trial: Trial, stepsLeft = Number.POSITIVE_INFINITY): Tool {
  const changes = fileChanges(room, async (all) => {
    let n = 0;
    if (stepsLeft === 0) throw new Cut();
    for await (const _ of all) if (++n >= stepsLeft) throw new Cut();
  });
  return trial === "edit" ? editFileTool(room, changes) : writeFileTool(room, changes);
}

/** What the gateway does with a call that a death cut short. */
async function takenUp(tool: Tool, input: unknown): Promise<ToolResult> {
  return (await tool.check?.(input, aToolContext())) ?? (await tool.run(input, aToolContext()));
}

function begin(room: TestRoom, trial: Trial): void {
  const { before, input } = trials[trial];
  if (before !== null) room.put(input.path, before);
}

function assertDone(room: TestRoom, trial: Trial, result: ToolResult): void {
  const { input, after } = trials[trial];
  assert.equal(result.type, "ok", JSON.stringify(result));
  assert.equal(room.read(input.path), after);
  assert.deepEqual(draftsIn(room), [], "nothing is left over");
}

function draftsIn(room: TestRoom): readonly string[] {
  return readdirSync(room.workspace, { recursive: true, encoding: "utf8" }).filter((name) => name.includes(".tmp"));
}

describe("a change that is cut short is done once", () => {
  for (const trial of names) {
    for (let first = 0; first <= noteSteps.length; first++) {
      test(`${trial}, the gateway cut after ${noteSteps[first - 1] ?? "nothing"}, and again anywhere`, async () => {
        for (let second = 0; second <= noteSteps.length; second++) {
          const room = makeRoom();
          begin(room, trial);
          const { input } = trials[trial];
          await assert.rejects(async () => toolOf(room, trial, first).run(input, aToolContext()), Cut);
          await assert.rejects(async () => takenUp(toolOf(room, trial, second), input), Cut);
          assertDone(room, trial, await takenUp(toolOf(room, trial), input));
          room.remove();
        }
      });
    }

    for (const step of workerSteps) {
      test(`${trial}, the worker killed after "${step}": repeated or found to be done`, async (t) => {
        const room = aRoom(t, { workers: misbehaving({ dieAfterStep: step }) });
        begin(room, trial);
        assertDone(room, trial, await toolOf(room, trial).run(trials[trial].input, aToolContext()));
      });

      test(`${trial}, two workers killed after "${step}": told as it is`, async (t) => {
        const how = { dieAfterStep: step };
        const room = aRoom(t, { workers: misbehaving(how, how) });
        begin(room, trial);
        const { input, before, after } = trials[trial];
        const result = await toolOf(room, trial).run(input, aToolContext());
        if (result.type === "ok") return assertDone(room, trial, result);
        assert.match(result.type === "failed" ? result.why : "", /The file worker ended: killed by SIGKILL/);
        const now = room.has(input.path) ? room.read(input.path) : null;
        assert.ok(now === before || now === after);
        assertDone(room, trial, await takenUp(toolOf(room, trial), input));
      });
    }

    for (const how of messageDeaths) {
      test(`${trial}, the worker killed: ${JSON.stringify(how)}`, async (t) => {
        const room = aRoom(t, { workers: misbehaving(how) });
        begin(room, trial);
        assertDone(room, trial, await toolOf(room, trial).run(trials[trial].input, aToolContext()));
      });
    }

    test(`${trial}, the gateway killed for real after each step`, { timeout: 300_000 }, async () => {
      for (const step of [...noteSteps, ...workerSteps]) {
        const room = makeRoom();
        begin(room, trial);
        assert.equal(await killedAfter(room, trial, step), "SIGKILL");
        assertDone(room, trial, await takenUp(toolOf(room, trial), trials[trial].input));
        room.remove();
      }
    });

    test(`${trial}, changed by somebody else after the death: told, and not touched`, async (t) => {
      const room = aRoom(t);
      begin(room, trial);
      const { input } = trials[trial];
      await assert.rejects(async () => toolOf(room, trial, noteSteps.length).run(input, aToolContext()), Cut);
      room.put(input.path, "theirs");
      for (const result of [
        await toolOf(room, trial).check?.(input, aToolContext()),
        await toolOf(room, trial).run(input, aToolContext()),
      ]) {
        if (result?.type === "failed") continue;
        assert.ok(result?.type === "unknown");
        assert.match(result.why, /was changed by something else since\. Read it/);
      }
      assert.equal(room.read(input.path), "theirs");
      assert.deepEqual(draftsIn(room), []);
    });
  }

  test("an attempt that ended after it was looked at is not made again", async (t) => {
    const room = aRoom(t);
    begin(room, "edit");
    const { input, after } = trials.edit;
    await assert.rejects(async () => toolOf(room, "edit", noteSteps.length).run(input, aToolContext()), Cut);
    assert.equal(await toolOf(room, "edit").check?.(input, aToolContext()), null);
    // A worker of the dead gateway finishes only now.
    room.put("f", after);
    assertDone(room, "edit", await toolOf(room, "edit").run(input, aToolContext()));
  });

  test("changed by somebody else in the middle: nothing is written", async (t) => {
    const room = aRoom(t);
    begin(room, "edit");
    const changes = fileChanges(room, async (all) => {
      for await (const step of all) if (step === "note kept") room.put("f", "theirs");
    });
    const result = await editFileTool(room, changes).run(trials.edit.input, aToolContext());
    assert.ok(result.type === "failed");
    assert.match(result.why, /was changed at the same time; nothing was written/);
    assert.equal(room.read("f"), "theirs");
    assert.deepEqual(readdirSync(room.workspace), ["f"]);
  });

  test("another call knows nothing of it", async (t) => {
    const room = aRoom(t);
    begin(room, "write");
    const tool = toolOf(room, "write");
    await tool.run(trials.write.input, aToolContext("k1"));
    assert.equal(await tool.check?.(trials.write.input, aToolContext("k2")), null);
  });

  test("two conversations edit one file: both edits are in it", async (t) => {
    const room = aRoom(t);
    room.put("f", "a b c d e f g h");
    const tool = editFileTool(room, fileChanges(room));
    const results = await Promise.all(
      [..."abcdefgh"].map((letter) =>
        tool.run({ path: "f", oldText: letter, newText: letter.toUpperCase() }, aToolContext(letter)),
      ),
    );
    assert.deepEqual(new Set(results.map(({ type }) => type)), new Set(["ok"]));
    assert.equal(room.read("f"), "A B C D E F G H");
  });

  test("a note that is no note is not guessed at", async (t) => {
    const room = aRoom(t);
    begin(room, "write");
    await toolOf(room, "write").run(trials.write.input, aToolContext());
    const [note = ""] = readdirSync(room.notes);
    writeFileSync(join(room.notes, note), "{}");
    const result = await toolOf(room, "write").check?.(trials.write.input, aToolContext());
    assert.equal(result?.type, "unknown");
  });
});

/** The gateway's part in a process of its own, which is killed after this step; gives the signal that ended it. */
async function killedAfter(room: TestRoom, trial: Trial, step: string): Promise<unknown> {
  const { workspace, files, home, userHome, notes, approvals } = room;
  const of = (name: string): string => JSON.stringify(import.meta.resolve(name));
  const code = `
    import { spawn } from "node:child_process";
    import { fileChanges } from ${of("./change.ts")};
    import { editFileTool } from ${of("./edit.ts")};
    import { writeFileTool } from ${of("./write.ts")};
    import { openFileWorkers } from ${of("./workers.ts")};
    import { openSandbox } from ${of("../../sandbox/index.ts")};
    import { misbehaving } from ${of("../../../test/fakes/room.ts")};
    const { workspace, files, home, ...room } = ${JSON.stringify({ workspace, files, home, userHome, notes, approvals })};
    const workers = openFileWorkers({
      sandbox: openSandbox({ choice: "off", isUnsafeAccepted: true, home, userHome: null, environment: {} }),
      workspaceFor: async ({ person }) => ({ person, folder: workspace, files }),
      closed: [home],
      allowRoot: true,
      environment: { PATH: process.env.PATH },
      ...misbehaving({ killAfterStep: ${JSON.stringify(step)} }),
    });
    const options = { ...room, workers, closed: [home] };
    const changes = fileChanges(options, async (all) => {
      for await (const step of all) if (step === ${JSON.stringify(step)}) process.kill(process.pid, "SIGKILL");
    });
    const tool = ${trial === "edit" ? "editFileTool" : "writeFileTool"}(options, changes);
    const context = ${JSON.stringify({ ...aToolContext(), signal: undefined, now: undefined, tell: undefined })};
    const result = await tool.run(${JSON.stringify(trials[trial].input)}, { ...context, signal: new AbortController().signal });
    console.error(result);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [, signal] = await once(child, "exit");
  return signal;
}
