// The contract of a tool, as tests: it is described well enough for a model, and its declared effect is true. The caller
// counts the tool's effects from outside, where the tool has any.

import assert from "node:assert/strict";
import { type TestContext, describe, test } from "node:test";
import type { ToolEffect, ToolResult } from "../core/journal.ts";
import type { Tool, ToolContext } from "../ports/tool.ts";
import { aToolContext } from "./samples.ts";

export type OpenedTool = {
  readonly tool: Tool;
  /** How often the tool has changed the outside world. */
  readonly effects: () => Promise<number>;
  readonly close: () => Promise<void>;
};
export type ToolTrial = {
  open(): Promise<OpenedTool>;
  /** An input with which the tool succeeds. */
  readonly input: unknown;
};

const effects: readonly ToolEffect[] = ["pure", "keyed", "checkable", "once"];

/** What is wrong with how a tool presents itself; nothing when all is well. */
export function toolFaults(tool: Tool): readonly string[] {
  const { name, description, effect, input, timeoutMs } = tool;
  const rules: readonly (readonly [holds: boolean, fault: string])[] = [
    [/^[a-z][a-z0-9_]{0,63}$/.test(name), "its name must be letters, digits and _, at most 64"],
    [description.trim().length > 0, "it needs a description"],
    [effects.includes(effect), `its effect ${String(effect)} is none of ${effects.join(", ")}`],
    [input["type"] === "object", "its input must be the JSON schema of an object"],
    [JSON.stringify(JSON.parse(JSON.stringify(input))) === JSON.stringify(input), "its input schema must be JSON"],
    [(effect === "checkable") === (tool.check !== undefined), "check belongs to checkable tools, and to all of them"],
    [timeoutMs === undefined || timeoutMs > 0, "its time limit must be positive"],
  ];
  return rules.filter(([holds]) => !holds).map(([, fault]) => `${name}: ${fault}`);
}

export function toolSuite(name: string, trial: ToolTrial): void {
  describe(`tool ${name}`, () => {
    resultTests(trial);
    effectTests(trial);
  });
}

async function opened(t: TestContext, trial: ToolTrial): Promise<OpenedTool> {
  const one = await trial.open();
  t.after(() => one.close());
  return one;
}

function context(key: string, signal: AbortSignal = new AbortController().signal): ToolContext {
  return aToolContext(key, { signal });
}

function resultTests(trial: ToolTrial): void {
  test("it presents itself", async (t) => {
    assert.deepEqual(toolFaults((await opened(t, trial)).tool), []);
  });

  test("it succeeds, and its result can be stored and read back", async (t) => {
    const { tool } = await opened(t, trial);
    const result = await tool.run(trial.input, context("k1"));
    assert.equal(result.type, "ok");
    assert.deepEqual(JSON.parse(JSON.stringify(result)), result);
  });

  test("aborted, it ends: with a result, or by failing because of the abort", async (t) => {
    const { tool } = await opened(t, trial);
    const stop = new AbortController();
    const reason = new Error("the gateway stops");
    stop.abort(reason);
    const result: ToolResult | Error = await tool
      .run(trial.input, context("k1", stop.signal))
      .catch((error: Error) => error);
    if (!(result instanceof Error)) return;
    assert.ok(result === reason || result.cause === reason || result.name === "AbortError", String(result));
  });
}

function effectTests(trial: ToolTrial): void {
  test("its effect on the world is the declared one", async (t) => {
    const { tool, effects } = await opened(t, trial);
    const run = async (key: string): Promise<number> => {
      const before = await effects();
      assert.equal((await tool.run(trial.input, context(key))).type, "ok");
      return (await effects()) - before;
    };
    switch (tool.effect) {
      case "pure":
        assert.deepEqual([await run("k1"), await run("k1"), await run("k2")], [0, 0, 0]);
        break;
      case "keyed":
        assert.deepEqual([await run("k1"), await run("k1"), await run("k2")], [1, 0, 1]);
        break;
      case "checkable":
        assert.equal(await tool.check?.(trial.input, context("k1")), null, "it has not happened yet");
        assert.equal(await run("k1"), 1);
        assert.equal((await tool.check?.(trial.input, context("k1")))?.type, "ok", "it has happened");
        assert.equal(await tool.check?.(trial.input, context("k2")), null, "that was another call");
        assert.equal(await effects(), 1, "asking changes nothing");
        break;
      case "once":
        assert.equal(await run("k1"), 1);
        break;
    }
  });
}
