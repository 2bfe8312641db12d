import assert from "node:assert/strict";
import { test } from "node:test";
import { choicesOf, chosen, permissionOf } from "./choices.ts";

const option = (optionId: string, name: string, kind: string) => ({ optionId, name, kind });
const usual = permissionOf({
  toolCall: { title: "rm -rf build", kind: "execute", rawInput: { command: "rm -rf build" } },
  options: [
    option("a", "Allow once", "allow_once"),
    option("b", "Always allow", "allow_always"),
    option("c", "Reject", "reject_once"),
  ],
});

test("a wish is told with what would be done, and its options are the choices", () => {
  assert.equal(usual.text, "The agent wants to do this: rm -rf build\n\nMay it?");
  assert.deepEqual(choicesOf(usual), ["Allow once", "Always allow", "Reject"]);
  const cases: readonly (readonly [unknown, RegExp])[] = [
    [{ toolCall: { title: "bash", rawInput: { command: "ls" } } }, /bash\n\n```\nls\n```/],
    [{ toolCall: { title: "bash", rawInput: { command: "echo ```" } } }, /~~~~\necho ```\n~~~~/],
    [{ toolCall: { title: "Edit", rawInput: { path: "a.txt", text: "x" } } }, /"path": "a.txt"/],
    [{ toolCall: { title: "Edit", locations: [{ path: "/w/a" }, { path: "/w/b" }] } }, /\/w\/a\n\/w\/b/],
    [{ toolCall: { kind: "fetch" } }, /this: fetch/],
    [{}, /this: something/],
    [null, /this: something/],
    [{ toolCall: 7, options: "x" }, /this: something/],
  ];
  for (const [request, wanted] of cases) assert.match(permissionOf(request).text, wanted);
  assert.ok(permissionOf({ toolCall: { title: "x", rawInput: { command: "y".repeat(1e6) } } }).text.length < 2_000);
});

test("an answer is one of the options, by its name or by what people say; anything else is no permission", () => {
  const cases: readonly (readonly [string | null, string | null, string | null])[] = [
    ["Allow once", "a", null],
    [" allow ONCE ", "a", null],
    ["approve", "a", null],
    ["yes", "a", null],
    ["always", "b", null],
    ["Always allow", "b", null],
    ["no", "c", null],
    ["Reject", "c", null],
    [null, "c", null],
    ["only the old files", "c", "only the old files"],
    ["7", "c", "7"],
  ];
  for (const [choice, id, words] of cases) assert.deepEqual(chosen(usual, choice), { id, words }, String(choice));
});

test("options that look alike are told apart, and where none refuses, no answer withdraws", () => {
  const odd = permissionOf({
    options: [option("a", "Go", "allow_once"), option("b", "Go", "allow_always"), option("c", "", "odd")],
  });
  assert.deepEqual(choicesOf(odd), ["Go (1)", "Go (2)", "odd"]);
  assert.deepEqual(chosen(odd, "Go (2)"), { id: "b", words: null });
  assert.deepEqual(chosen(odd, null), { id: null, words: null });
  assert.deepEqual(chosen(odd, "deny"), { id: null, words: null });
});
