import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Failure } from "../errors/translate.ts";
import { restingKeys } from "./keys.ts";

const failure = (kind: Failure["kind"], restMs: number): Failure => ({
  kind,
  next: "next-key",
  afterMs: null,
  restMs,
  why: kind,
});
const gpt = { provider: "openai", name: "gpt" } as const;
const small = { provider: "openai", name: "small" } as const;
const rate = failure("rate", 5_000);
const wrong = failure("wrong-key", 600_000);

describe("keys that rest", () => {
  test("none is needed: none is given", () => {
    assert.deepEqual(restingKeys().pick({ provider: "ollama", name: "llama" }, [], 0), { keys: [null], resting: [] });
  });

  test("one rests while the others are used, and comes back", () => {
    const keys = restingKeys();
    keys.rest(gpt, "a", rate, 0);
    assert.deepEqual(keys.pick(gpt, ["a", "b"], 1_000).keys, ["b"]);
    assert.deepEqual(keys.pick(gpt, ["a", "b"], 5_000).keys, ["a", "b"]);
  });

  test("of a provider, not of another with the same key", () => {
    const keys = restingKeys();
    keys.rest(gpt, "a", rate, 0);
    assert.deepEqual(keys.pick({ provider: "openrouter", name: "gpt" }, ["a"], 0).keys, ["a"]);
  });

  test("too many requests to a model: the key is good for the others of its provider", () => {
    const keys = restingKeys();
    keys.rest(gpt, "a", rate, 0);
    assert.deepEqual(keys.pick(small, ["a"], 1_000), { keys: ["a"], resting: [] });
    keys.works(small, "a");
    assert.deepEqual(keys.pick(gpt, ["a"], 1_000).keys, []);
  });

  for (const kind of ["wrong-key", "no-credit"] as const) {
    test(`${kind}: it rests for every model of the provider`, () => {
      const keys = restingKeys();
      keys.rest(gpt, "a", failure(kind, 600_000), 0);
      assert.deepEqual(keys.pick(small, ["a", "b"], 1_000).keys, ["b"]);
      keys.works(small, "a");
      assert.deepEqual(keys.pick(gpt, ["a", "b"], 1_000).keys, ["a", "b"]);
    });
  }

  test("refused by the provider and too many requests to the model: one is tried all the same", () => {
    const keys = restingKeys();
    keys.rest(gpt, "a", rate, 0);
    keys.rest(small, "a", wrong, 0);
    assert.deepEqual(keys.pick(gpt, ["a"], 1_000).keys, ["a"]);
  });

  test("what is over is forgotten, however many models were asked", () => {
    const keys = restingKeys();
    for (let n = 0; n < 1_000; n++) keys.rest({ provider: "openai", name: `m${n}` }, "a", rate, n * 1_000);
    assert.ok(keys.size() <= 6, `${keys.size()} are remembered`);
  });

  test("all rest because of too many requests: nobody is asked, and it is known until when", () => {
    const keys = restingKeys();
    keys.rest(gpt, "a", rate, 0);
    keys.rest(gpt, "b", { ...rate, restMs: 2_000 }, 0);
    const { keys: left, resting } = keys.pick(gpt, ["a", "b"], 1_000);
    assert.deepEqual(left, []);
    assert.deepEqual(
      resting.map(({ afterMs }) => afterMs),
      [1_000, 4_000],
    );
  });

  test("all are refused: one is tried all the same", () => {
    const keys = restingKeys();
    keys.rest(gpt, "a", wrong, 0);
    keys.rest(gpt, "b", rate, 0);
    assert.deepEqual(keys.pick(gpt, ["a", "b"], 1).keys, ["a"]);
  });

  test("one that works is awake again", () => {
    const keys = restingKeys();
    keys.rest(gpt, "a", wrong, 0);
    keys.works(gpt, "a");
    assert.deepEqual(keys.pick(gpt, ["a"], 1), { keys: ["a"], resting: [] });
  });

  test("a failure that is not the key's fault lets it be", () => {
    const keys = restingKeys();
    keys.rest(gpt, "a", failure("overloaded", 0), 0);
    assert.deepEqual(keys.pick(gpt, ["a"], 0).keys, ["a"]);
  });
});
