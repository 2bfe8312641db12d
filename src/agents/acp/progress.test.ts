import assert from "node:assert/strict";
import { test } from "node:test";
import { progress, replay } from "./progress.ts";

const chunk = (text: string) => ({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
const begun = (id: string, title: string) => ({ sessionUpdate: "tool_call", toolCallId: id, title, status: "pending" });
const ended = (id: string, status: string) => ({ sessionUpdate: "tool_call_update", toolCallId: id, status });

test("text and tools add up; the end of a tool is a moment to put things on record", () => {
  const seen = progress({ tools: [] });
  assert.equal(seen.hasNews(), false);
  seen.take(chunk("Let me "));
  seen.take(chunk("look."));
  seen.take(begun("1", "Read a"));
  assert.equal(seen.atBoundary, false);
  seen.take(ended("1", "in_progress"));
  assert.equal(seen.atBoundary, false);
  seen.take(ended("1", "completed"));
  assert.equal(seen.atBoundary, true);
  assert.deepEqual(seen.news(), {
    text: "Let me look.",
    tools: [{ id: "1", title: "Read a", kind: "other", status: "completed" }],
  });
  assert.equal(seen.atBoundary || seen.hasNews(), false);
  // The same again is no news.
  seen.take(ended("1", "completed"));
  assert.equal(seen.atBoundary || seen.hasNews(), false);
});

test("what came before is known, and what was not on record yet is still news", () => {
  const note = { id: "1", title: "Read a", kind: "read", status: "begun" } as const;
  const seen = progress({ tools: [note], fresh: [{ ...note, id: "2" }], text: "so far" });
  assert.equal(seen.tools.size, 2);
  assert.deepEqual(
    seen.news().tools.map((tool) => tool.id),
    ["2"],
  );
  seen.take(ended("1", "failed"));
  assert.deepEqual(seen.news().tools, [{ ...note, status: "failed" }]);
});

test("whatever is not understood changes nothing, and nothing grows for ever", () => {
  const seen = progress({ tools: [] });
  const odd = [
    null,
    7,
    "x",
    [],
    {},
    { sessionUpdate: 3 },
    { sessionUpdate: "plan", entries: [] },
    ended("", "completed"),
  ];
  for (const update of [...odd, { ...chunk("x"), content: { type: "image" } }]) assert.equal(seen.take(update), false);
  assert.equal(seen.hasNews(), false);
  for (let i = 0; i < 2_000; i++) seen.take(begun(String(i), "t".repeat(10_000)));
  for (let i = 0; i < 50; i++) seen.take(chunk("y".repeat(100_000)));
  assert.ok(JSON.stringify(seen.news()).length < 1_500_000);
});

test("of a session that is told again, the last message of the user is kept whole", () => {
  const user = (text: string) => ({ sessionUpdate: "user_message_chunk", content: { type: "text", text } });
  const told = replay();
  assert.equal(told.lastUser(), null);
  for (const update of [user("first"), chunk("yes"), user("sec"), user("ond"), begun("1", "x"), chunk("done")])
    told.take(update);
  assert.equal(told.lastUser(), "second");
  // Two in a row, when the first was never answered.
  for (const [messageId, text] of [
    ["m3", "thi"],
    ["m3", "rd"],
    ["m4", "fourth"],
  ] as const) {
    told.take({ ...user(text), messageId });
  }
  assert.equal(told.lastUser(), "fourth");
});
