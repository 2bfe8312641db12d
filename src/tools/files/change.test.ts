import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { type TestRoom, aRoom, makeRoom } from "../../../test/fakes/room.ts";
import type { ToolResult } from "../../core/journal.ts";
import type { Tool } from "../../ports/tool.ts";
import { aToolContext } from "../../testing/samples.ts";
import { makeChanges } from "./change.ts";
import { editFileTool } from "./edit.ts";
import type { Room } from "./room.ts";
import { writeFileTool } from "./write.ts";

/** Applied twice, or to half of it, each of these would leave another content. */
const trials = {
  edit: { input: { path: "f", oldText: "one", newText: "one one" }, before: "one\ntwo\n", after: "one one\ntwo\n" },
  write: { input: { path: "f", content: "new\n" }, before: "old\n", after: "new\n" },
  create: { input: { path: "deep/er/f", content: "new\n" }, before: null, after: "new\n" },
} as const;
type Trial = keyof typeof trials;
const names = Object.keys(trials) as readonly Trial[];
const steps = ["note drafted", "note moved", "note kept", "folders made", "draft written", "moved", "kept"];

class Cut extends Error {}

/** The tool of a trial; it dies after so many steps. */
function toolOf(room: Room, trial: Trial, stepsLeft = Number.POSITIVE_INFINITY, die = cut): Tool {
  const changes = makeChanges(room, async (all) => {
    let n = 0;
    if (stepsLeft === 0) die();
    for await (const _ of all) if (++n >= stepsLeft) die();
  });
  return trial === "edit" ? editFileTool(room, changes) : writeFileTool(room, changes);
}

function cut(): never {
  throw new Cut();
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
  test("its steps are these", async (t) => {
    for (const trial of names) {
      const room = aRoom(t);
      begin(room, trial);
      const seen: string[] = [];
      const changes = makeChanges(room, async (all) => void seen.push(...(await Array.fromAsync(all))));
      const tool = trial === "edit" ? editFileTool(room, changes) : writeFileTool(room, changes);
      assertDone(room, trial, await tool.run(trials[trial].input, aToolContext()));
      assert.deepEqual(seen, steps);
    }
  });

  for (const trial of names) {
    for (let first = 0; first <= steps.length; first++) {
      test(`${trial}, cut after ${steps[first - 1] ?? "nothing"}, and again anywhere`, async () => {
        for (let second = 0; second <= steps.length; second++) {
          const room = makeRoom();
          begin(room, trial);
          const { input } = trials[trial];
          await assert.rejects(async () => toolOf(room, trial, first).run(input, aToolContext()), Cut);
          const again = await takenUp(toolOf(room, trial, second), input).catch((error: unknown) => error);
          if (again instanceof Cut) assertDone(room, trial, await takenUp(toolOf(room, trial), input));
          else assertDone(room, trial, again as ToolResult);
          room.remove();
        }
      });
    }

    test(`${trial}, killed for real after each step`, { timeout: 300_000 }, async () => {
      for (let step = 0; step <= steps.length; step++) {
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
      await assert.rejects(
        async () => toolOf(room, trial, steps.indexOf("draft written") + 1).run(input, aToolContext()),
        Cut,
      );
      room.put(input.path, "theirs");
      const result = await toolOf(room, trial).check?.(input, aToolContext());
      assert.ok(result?.type === "unknown");
      assert.match(result.why, /neither what it was nor what it was to become. Read it/);
      assert.equal(room.read(input.path), "theirs");
      assert.deepEqual(draftsIn(room), []);
    });
  }

  test("changed by somebody else in the middle: nothing is written", async (t) => {
    const room = aRoom(t);
    begin(room, "edit");
    const changes = makeChanges(room, async (all) => {
      for await (const step of all) if (step === "draft written") room.put("f", "theirs");
    });
    const result = await editFileTool(room, changes).run(trials.edit.input, aToolContext());
    assert.ok(result.type === "failed");
    assert.match(result.why, /changed by somebody else at the same moment; nothing was written/);
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
    const changes = makeChanges(room);
    const results = await Promise.all(
      [..."abcdefgh"].map((letter) =>
        editFileTool(room, changes).run(
          { path: "f", oldText: letter, newText: letter.toUpperCase() },
          aToolContext(letter),
        ),
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

/** The same in a process of its own, which kills itself; gives the signal that ended it. */
async function killedAfter(room: TestRoom, trial: Trial, step: number): Promise<unknown> {
  const { workspace, home, userHome, notes, untouchable, approvals } = room;
  const of = (name: string): string => JSON.stringify(import.meta.resolve(name));
  const code = `
    import { makeChanges } from ${of("./change.ts")};
    import { editFileTool } from ${of("./edit.ts")};
    import { writeFileTool } from ${of("./write.ts")};
    const die = () => process.kill(process.pid, "SIGKILL");
    const room = ${JSON.stringify({ workspace, home, userHome, notes, untouchable, approvals })};
    const changes = makeChanges(room, async (all) => {
      let n = 0;
      if (${step} === 0) die();
      for await (const _ of all) if (++n === ${step}) die();
    });
    const tool = ${trial === "edit" ? "editFileTool" : "writeFileTool"}(room, changes);
    const context = { key: ${JSON.stringify(aToolContext().key)}, signal: new AbortController().signal };
    await tool.run(${JSON.stringify(trials[trial].input)}, context);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [, signal] = await once(child, "exit");
  return signal;
}
