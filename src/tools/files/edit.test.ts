import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { aRoom, aVet } from "../../../test/fakes/room.ts";
import { aToolContext } from "../../testing/samples.ts";
import { fileChanges } from "./change.ts";
import { editFileTool } from "./edit.ts";

describe("edit_file", () => {
  const says: readonly (readonly [before: string, input: object, output: string])[] = [
    ["a\nb\n", { oldText: "b", newText: "c" }, "Edited f at line 2: 1 line became 1 line."],
    ["a\nb\n", { oldText: "a\nb\n", newText: "" }, "Edited f at line 1: 2 lines became 0 lines."],
    [
      "a\na\n",
      { oldText: "a", newText: "b\nc", replaceAll: true },
      "Edited f in 2 places, first at line 1: 1 line became 2 lines.",
    ],
  ];
  for (const [before, input, output] of says) {
    test(output, async (t) => {
      const room = aRoom(t);
      room.put("f", before);
      const tool = editFileTool(room, fileChanges(room));
      assert.deepEqual(await tool.run({ path: "f", ...input }, aToolContext()), { type: "ok", output });
    });
  }

  const bad: readonly (readonly [name: string, content: string | Buffer | null, input: object, why: RegExp])[] = [
    ["no file", null, { oldText: "a", newText: "b" }, /f does not exist; write_file/],
    ["not UTF-8", Buffer.from("gr\xfc\xdfe", "latin1"), { oldText: "gr", newText: "b" }, /not plain UTF-8/],
    ["binary", Buffer.from("a\0b"), { oldText: "a", newText: "b" }, /not plain UTF-8/],
    ["not found", "a", { oldText: "b", newText: "c" }, /^f: The old text is not in the file/],
    ["too large", Buffer.alloc(10_000_001, 97), { oldText: "b", newText: "c" }, /larger than 10 MB/],
    ["nothing to look for", "a", { oldText: "", newText: "c" }, /"oldText" must not be empty; write_file/],
    ["nothing to put there", "a", { oldText: "a" }, /"newText" is missing/],
  ];
  for (const [name, content, input, why] of bad) {
    test(`not ${name}`, async (t) => {
      const room = aRoom(t);
      if (content !== null) room.put("f", content);
      const result = await editFileTool(room, fileChanges(room)).run({ path: "f", ...input }, aToolContext());
      assert.ok(result.type === "failed", JSON.stringify(result));
      assert.match(result.why, why);
      assert.equal(room.has("f"), content !== null);
      if (content !== null) assert.equal(room.read("f"), content.toString());
    });
  }

  test("outside of the workspace it is shown what would change", async (t) => {
    const room = aRoom(t);
    const input = { path: "/opt/f", oldText: "a", newText: "b" };
    const verdict = await editFileTool(room, fileChanges(room)).vet?.(input, aVet());
    assert.ok(verdict?.type === "approve");
    assert.equal(verdict.what, "Changes /opt/f\n- a\n+ b");
    assert.equal(verdict.subject, "any edit of /opt/f");
    const all = await editFileTool(room, fileChanges(room)).vet?.({ ...input, replaceAll: true }, aVet());
    assert.ok(all?.type === "approve");
    assert.equal(all.what, "Changes /opt/f\n(every occurrence)\n- a\n+ b");
  });
});
