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
const rate = failure("rate", 5_000);
const wrong = failure("wrong-key", 600_000);

describe("keys that rest", () => {
  test("none is needed: none is given", () => {
    assert.deepEqual(restingKeys().pick("ollama", [], 0), { keys: [null], resting: [] });
  });

  test("one rests while the others are used, and comes back", () => {
    const keys = restingKeys();
    keys.rest("openai", "a", rate, 0);
    assert.deepEqual(keys.pick("openai", ["a", "b"], 1_000).keys, ["b"]);
    assert.deepEqual(keys.pick("openai", ["a", "b"], 5_000).keys, ["a", "b"]);
  });

  test("of a provider, not of another with the same key", () => {
    const keys = restingKeys();
    keys.rest("openai", "a", rate, 0);
    assert.deepEqual(keys.pick("openrouter", ["a"], 0).keys, ["a"]);
  });

  test("all rest because of too many requests: nobody is asked, and it is known until when", () => {
    const keys = restingKeys();
    keys.rest("openai", "a", rate, 0);
    keys.rest("openai", "b", { ...rate, restMs: 2_000 }, 0);
    const { keys: left, resting } = keys.pick("openai", ["a", "b"], 1_000);
    assert.deepEqual(left, []);
    assert.deepEqual(
      resting.map(({ afterMs }) => afterMs),
      [1_000, 4_000],
    );
  });

  test("all are refused: one is tried all the same", () => {
    const keys = restingKeys();
    keys.rest("openai", "a", wrong, 0);
    keys.rest("openai", "b", rate, 0);
    assert.deepEqual(keys.pick("openai", ["a", "b"], 1).keys, ["a"]);
  });

  test("one that works is awake again", () => {
    const keys = restingKeys();
    keys.rest("openai", "a", wrong, 0);
    keys.works("openai", "a");
    assert.deepEqual(keys.pick("openai", ["a"], 1), { keys: ["a"], resting: [] });
  });

  test("a failure that is not the key's fault lets it be", () => {
    const keys = restingKeys();
    keys.rest("openai", "a", failure("overloaded", 0), 0);
    assert.deepEqual(keys.pick("openai", ["a"], 0).keys, ["a"]);
  });
});
