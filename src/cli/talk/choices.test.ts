import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "../../core/message.ts";
import { aMessage } from "../../testing/samples.ts";
import { choices } from "./choices.ts";

const plain: Message = { ...aMessage("m1"), n: 1 };
const asks: Message = { ...plain, question: { id: "q1", choices: ["approve", "always", "deny"], kind: "approval" } };

test("a number is the choice that is shown with it, as long as nothing was said since", () => {
  const desk = choices();
  assert.equal(desk.read("1"), "1");
  desk.shown(asks);
  const cases = { "1": "approve", " 3 ": "deny", "4": "4", "0": "0", yes: "yes", "1.": "1.", "": "" };
  for (const [line, words] of Object.entries(cases)) assert.equal(desk.read(line), words);
  desk.shown(plain);
  assert.equal(desk.read("1"), "1");
});
