// A rehearsed step says its word through every protocol, and nothing leaves the process for it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type ModelOptions, providerNames } from "../../agents/model/options.ts";
import { rehearseStep } from "./rehearsal.ts";

for (const provider of providerNames) {
  test(`a step of ${provider} is rehearsed without the network`, async (t) => {
    t.mock.method(globalThis, "fetch", () => assert.fail("it goes out"));
    const asked: string[] = [];
    const options: ModelOptions = {
      model: `${provider}/some-model`,
      fallback: [],
      providers: { [provider]: { keys: ["no-key-at-all"] } },
      instructions: "",
      maxSteps: 5,
      prices: {},
      tools: () => {
        asked.push("tools");
        return [];
      },
      blobs: null,
      hide: (text) => text,
      facts: { workspace: null, system: "none" },
    };
    assert.deepEqual(await rehearseStep(options), { type: "said", text: "hello" });
    assert.ok(asked.length > 0);
  });
}
