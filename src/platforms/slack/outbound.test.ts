import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { OutboxItem } from "../../core/outbox.ts";
import type { SlackMessage } from "./api.ts";
import { answered, contentOf, holdsFiles, isKeyed, keyOf, mayBeThere, readPress } from "./outbound.ts";

type Given = Parameters<typeof contentOf>[0];
const item = (text: string, more: Partial<Given> = {}): Given => ({ text, files: [], ...more });
const id = "i1" as OutboxItem["id"];
const file = (name: string) => ({ name, mime: "text/plain", blob: "b", bytes: 1 });

describe("what stands in a message", () => {
  test("words in Slack's dialect", () => assert.deepEqual(contentOf(item("**a** & b")), { text: "*a* &amp; b" }));
  test("files without words are named", () => {
    assert.deepEqual(contentOf(item("", { files: [file("a.txt"), file("b.txt")] })), { text: "a.txt, b.txt" });
  });
  test("nothing is something", () => assert.notEqual(contentOf(item(" ")).text.trim(), ""));
  test("a very long answer begins in the message and is whole in a file", () => {
    const text = "word ".repeat(20_000);
    const { text: shown, whole } = contentOf(item(text));
    assert.equal(whole, text);
    assert.ok(shown.startsWith("word word") && shown.length < 4_000);
  });
});

describe("questions", () => {
  const question = { id: "q1", choices: ["Tea", "Coffee, black", "x".repeat(200)] };
  const { blocks = [] } = contentOf(item("What & why?", { question }));
  const row = blocks.at(-1) as { type: string; elements: readonly { text: { text: string }; value: string }[] };

  test("are sections with buttons", () => {
    assert.deepEqual(
      blocks.map(({ type }) => type),
      ["section", "actions"],
    );
    assert.deepEqual(blocks[0]?.["text"], { type: "mrkdwn", text: "What &amp; why?" });
  });
  test("buttons say and carry the choice, within Slack's limits", () => {
    assert.deepEqual(
      row.elements.map(({ value }) => readPress(value)),
      question.choices.map((choice) => ({ question: "q1", choice })),
    );
    for (const { text, value } of row.elements) assert.ok(text.text.length <= 75 && value.length <= 2_000);
    assert.equal(row.elements[1]?.text.text, "Coffee, black");
  });
  test("other people's buttons say nothing", () => {
    for (const value of [undefined, 1, "", "click_me", "{", "{}", '{"question":1}', "[]"])
      assert.equal(readPress(value), null);
  });
  test("once answered they have no buttons, and say what was chosen and by whom", () => {
    const message: SlackMessage = { ts: "1.0", text: "What?", blocks: [...blocks] };
    const after = answered(message, "Tea & milk", "U1");
    assert.deepEqual(
      after.blocks?.map(({ type }) => type),
      ["section", "context"],
    );
    assert.match(after.text, /^What\?\n✓ Tea &amp; milk — <@U1>$/);
  });
});

describe("what may be there already", () => {
  const now = (more: object) => ({ now: { state: "sending", boot: "b", attempts: 1, ...more } as OutboxItem["now"] });
  const cases: readonly (readonly [object, boolean])[] = [
    [{}, false],
    [{ attempts: 2 }, true],
    [{ doubts: 1 }, true],
    [{ renewedAt: 5 }, true],
  ];
  for (const [more, expected] of cases) test(JSON.stringify(more), () => assert.equal(mayBeThere(now(more)), expected));

  test("is known by its key alone", () => {
    const message = (metadata?: SlackMessage["metadata"]): SlackMessage => ({
      ts: "1.0",
      ...(metadata ? { metadata } : {}),
    });
    assert.ok(isKeyed(message(keyOf({ id })), { id }));
    assert.ok(!isKeyed(message(keyOf({ id: "i2" as typeof id })), { id }));
    assert.ok(!isKeyed(message({ event_type: "other", event_payload: { item: id } }), { id }));
    assert.ok(!isKeyed(message({ event_type: "everturn_item" }), { id }));
    assert.ok(!isKeyed(message(), { id }));
  });

  test("files are known by their names behind their message", () => {
    const message: SlackMessage = { ts: "2.0", user: "U0", files: [{ name: "x", title: "a.txt" }, { name: "b.txt" }] };
    const both = [file("a.txt"), file("b.txt")];
    assert.ok(holdsFiles(message, both, "1.0", "U0"));
    assert.ok(!holdsFiles(message, [file("a.txt"), file("c.txt")], "1.0", "U0"));
    assert.ok(!holdsFiles(message, [file("a.txt")], "1.0", "U0"), "one of another item's");
    assert.ok(!holdsFiles(message, both, "2.0", "U0"), "before its message");
    assert.ok(!holdsFiles(message, both, "1.0", "U1"), "somebody else's");
  });

  test("files of the same name are known by their size, where Slack leaves them as they are", () => {
    const message: SlackMessage = { ts: "2.0", user: "U0", files: [{ name: "a", size: 5 }] };
    const holds = (mime: string, bytes: number) => holdsFiles(message, [{ name: "a", mime, bytes }], "1.0", "U0");
    assert.deepEqual([holds("application/pdf", 5), holds("application/pdf", 6)], [true, false]);
    for (const mime of ["image/jpeg", "text/plain", "application/json"]) assert.ok(holds(mime, 6), mime);
  });
});
