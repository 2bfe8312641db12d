import assert from "node:assert/strict";
import { test } from "node:test";
import { type AnswerKind, type Answerer, type MayAnswer, mayAnswer, refusedAnswerText } from "./answering.ts";

const group = "telegram/bot/-5";
const someone = (sender: string, conversation: string, approves = false, isAdmin = false): Answerer => {
  const isGroup = conversation === group;
  return { platform: "telegram", account: "bot", sender, approves, isAdmin, conversation, isGroup };
};
const requester = someone("7", group);
const elsewhere = { ...someone("7", "telegram/other/7"), account: "other" };

test("who may answer what", () => {
  const cases: readonly [what: string, kind: "approval" | "question", Answerer, AnswerKind, MayAnswer][] = [
    ["an approver in the group", "approval", someone("1", group, true), "allow", "yes"],
    ["an approver in a private chat", "approval", someone("1", "telegram/bot/1", true), "allow", "yes"],
    ["the requester allows", "approval", requester, "allow", "no-approver"],
    ["the requester denies", "approval", requester, "deny", "yes"],
    ["another guest allows", "approval", someone("8", group), "allow", "no-approver"],
    ["another guest denies", "approval", someone("8", group), "deny", "not-theirs"],
    ["another guest, from a private chat", "approval", someone("8", "telegram/bot/8"), "deny", "not-theirs"],
    ["the same id at another account", "approval", elsewhere, "deny", "not-theirs"],
    ["the requester answers", "question", requester, "words", "yes"],
    ["another guest answers", "question", someone("8", group), "words", "not-theirs"],
    ["an approver answers", "question", someone("1", group, true), "words", "yes"],
  ];
  for (const [what, kind, answerer, answer, expected] of cases)
    assert.equal(mayAnswer({ kind, requester, conversation: group }, answerer, answer), expected, what);
});

test("what runs outside of the sandbox is allowed by admins alone", () => {
  const question = { kind: "approval", requester, conversation: group, needsAdmin: true } as const;
  const cases: readonly [Answerer, AnswerKind, MayAnswer][] = [
    [someone("1", group, true, true), "allow", "yes"],
    [someone("2", group, true), "allow", "no-admin"],
    [someone("2", group, true), "deny", "yes"],
    [requester, "allow", "no-approver"],
    [requester, "deny", "yes"],
    // A mail of an admin.
    [someone("3", "telegram/bot/3", false, true), "allow", "no-approver"],
  ];
  for (const [answerer, kind, expected] of cases) assert.equal(mayAnswer(question, answerer, kind), expected);
  assert.match(refusedAnswerText("no-admin", []), /^Only admins may allow this\./);
});

test("in a chat of two the other one answers whatever a reminder asks, and still cannot allow", () => {
  const conversation = "telegram/bot/9";
  const question = { kind: "question", requester: someone("timer", conversation), conversation } as const;
  assert.equal(mayAnswer(question, someone("9", conversation), "words"), "yes");
  assert.equal(mayAnswer(question, someone("8", "telegram/bot/8"), "words"), "not-theirs");
  const approval = { ...question, kind: "approval" } as const;
  assert.equal(mayAnswer(approval, someone("9", conversation), "deny"), "yes");
  assert.equal(mayAnswer(approval, someone("9", conversation), "allow"), "no-approver");
});

test("a refusal says who can decide", () => {
  assert.equal(refusedAnswerText("no-approver", ["Ann"]), "Only approvers may allow this. I asked Ann.");
  assert.match(refusedAnswerText("no-approver", ["Ann", "Bob"]), / I asked Ann and Bob\.$/);
  assert.match(refusedAnswerText("no-approver", ["Ann", "Bob", "Cy"]), / I asked Ann, Bob and Cy\.$/);
  assert.match(refusedAnswerText("no-approver", []), /everturn approvals/);
  assert.match(refusedAnswerText("not-theirs", ["Ann"]), /stays open/);
});
