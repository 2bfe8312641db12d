// Faults carry a code, a sentence and a cause; Bugs are another kind; anything thrown has a sentence.

import assert from "node:assert/strict";
import { test } from "node:test";
import { table } from "../testing/table.ts";
import { Fault, sentenceOf } from "./fault.ts";
import { Bug, unreachable } from "./ids.ts";

test("a fault has a code, a sentence and the cause", () => {
  const cause = new Error("ENOSPC");
  const fault = new Fault("store-full", "The disk is full.", cause);
  assert.ok(fault instanceof Error && !(fault instanceof Bug));
  assert.deepEqual(
    [fault.name, fault.code, fault.message, fault.cause],
    ["Fault", "store-full", "The disk is full.", cause],
  );
});

test("a fault without a cause has none, not an undefined one", () => {
  assert.equal("cause" in new Fault("busy", "Try again."), false);
});

test("an unreachable case names what reached it", () => {
  assert.throws(
    () => unreachable({ type: "surprise" } as never),
    (error) => error instanceof Bug && error.name === "Bug" && error.message.includes('{"type":"surprise"}'),
  );
});

table(
  "the sentence of anything thrown",
  [
    { name: "an error", thrown: new Error("it broke"), gives: "it broke" },
    { name: "a fault", thrown: new Fault("busy", "Try again."), gives: "Try again." },
    { name: "a string", thrown: "plain", gives: "plain" },
    { name: "nothing", thrown: undefined, gives: "undefined" },
    { name: "null", thrown: null, gives: "null" },
    { name: "a number", thrown: 7, gives: "7" },
  ],
  ({ thrown, gives }) => {
    assert.equal(sentenceOf(thrown), gives);
  },
);
