// What every request costs before anybody has said anything: the fixed part, measured on the wire, with all our tools.

import assert from "node:assert/strict";
import { test } from "node:test";
import { builtIn } from "../../src/run/agent/effects.ts";
import { type Script, scenarios } from "../fakes/models/index.ts";
import { openStage } from "./stage.ts";

const follow = scenarios["follow"] as Script;
const fixedMaxBytes = 12_000;

for (const model of ["openai/fake-model", "anthropic/fake-model"]) {
  test(`the fixed part of a request to ${model} is at most 12 kB, with every built-in tool in it`, async (t) => {
    const stage = await openStage(t, follow, { model });
    const life = await stage.start();
    await life.ask("c", "m1", "x");
    const [first] = stage.fake.requests;
    assert.ok(first !== undefined);
    assert.deepEqual(first.seen.tools.toSorted(), Object.keys(builtIn).toSorted());
    const bytes = Buffer.byteLength(JSON.stringify(first.body));
    const tools = Buffer.byteLength(JSON.stringify(first.body["tools"]));
    t.diagnostic(`${bytes} bytes, ${tools} of them tools`);
    assert.ok(bytes <= fixedMaxBytes, `${bytes} bytes`);
  });
}
