import assert from "node:assert/strict";
import { test } from "node:test";
import type { Tool } from "../../../ports/tool.ts";
import { aToolContext } from "../../../testing/samples.ts";
import { spared } from "./invalid.ts";

test("a tool that is spared bad calls still does all that it did", async () => {
  const done: string[] = [];
  const noted = (what: string) => async () => {
    done.push(what);
    return { type: "ok", output: what } as const;
  };
  const tool: Tool = {
    name: "make",
    description: "",
    effect: "checkable",
    input: {},
    run: noted("run"),
    check: noted("check"),
    drop: async () => void done.push("drop"),
  };
  const made = spared(tool);
  await made.run({}, aToolContext());
  await made.check?.({}, aToolContext());
  await made.drop?.({}, aToolContext());
  assert.deepEqual(done, ["run", "check", "drop"]);
  const { drop: _drop, check: _check, ...plain } = tool;
  assert.deepEqual([spared(plain).drop, spared(plain).check], [undefined, undefined]);
});
