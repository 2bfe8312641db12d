import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { APIMessage } from "discord-api-types/v10";
import type { Instant } from "../../core/ids.ts";
import type { OutboxItem } from "../../core/outbox.ts";
import { anItem, bootId } from "../../testing/samples.ts";
import {
  channelOf,
  draftBody,
  editBody,
  fillBody,
  isDraft,
  isForgotten,
  isIt,
  lookFrom,
  mustLook,
  nonceOf,
  sendBody,
  wanted,
} from "./outbound.ts";
import { placeholder } from "./markup.ts";
import { idAt } from "./stream/cursor.ts";

const at = 1_800_000_000_000;
const to = { platform: "discord", account: "9", chat: "600" } as const;
const item = (more: Partial<OutboxItem> = {}): OutboxItem =>
  anItem("i1", {
    to,
    text: "hello",
    createdAt: at as Instant,
    now: { state: "sending", boot: bootId("b1"), attempts: 1 },
    ...more,
  });
const question = { id: "t1:3", choices: ["Tea", "Coffee"] };
const many = { id: "t1:3", choices: Array.from({ length: 30 }, (_, n) => `choice ${n}`) };

test("what is sent has a key of its item, calls nobody, and hangs below what it answers", () => {
  assert.deepEqual(sendBody(item({ hints: { reply: "77" } }), "hello"), {
    content: "hello",
    nonce: nonceOf("i1"),
    enforce_nonce: true,
    allowed_mentions: { parse: [] },
    flags: 4,
    message_reference: { message_id: "77", fail_if_not_exists: false },
  });
  assert.equal("message_reference" in sendBody(item({ part: 1, hints: { reply: "77" } }), "more"), false);
  assert.equal(channelOf({ ...to, thread: "601" }), "601");
  assert.equal(channelOf(to), "600");
});

test("keys are short, and their own for every item", () => {
  const ids = Array.from({ length: 1_000 }, (_, n) => nonceOf(`turn.${n}`));
  assert.equal(new Set(ids).size, 1_000);
  assert.ok(ids.every((id) => id.length === 25));
  assert.equal(nonceOf("turn.1"), nonceOf("turn.1"));
});

test("a question has buttons, or its choices are written out", () => {
  assert.equal(sendBody(item({ question }), "x").components?.length, 1);
  assert.equal(wanted({ text: "What?", question }).content, "What?");
  assert.equal("components" in sendBody(item({ question: many }), "x"), false);
  assert.match(wanted({ text: "What?", question: many }).content, /^What\?\n\n1\. choice 0\n2\. choice 1\n/);
});

test("messages that we send show no link previews", () => {
  for (const body of [sendBody(item(), "x"), editBody(item(), "x", []), draftBody("x", {}, "k"), fillBody("x")])
    assert.equal((body as { flags?: number }).flags, 4);
});

test("an edit says all that is to stand there", () => {
  assert.deepEqual(editBody(item(), "done", []), {
    content: "done",
    allowed_mentions: { parse: [] },
    flags: 4,
    attachments: [],
    components: [],
  });
  const asked = editBody(item({ question }), "done", ["a.txt"]) as Readonly<Record<string, unknown[]>>;
  assert.deepEqual(asked["attachments"], [{ id: 0, filename: "a.txt" }]);
  assert.equal(asked["components"]?.length, 1);
});

test("an answer that is too long is a file, with its beginning as words", () => {
  const text = "A line of it.\n\n".repeat(2_000);
  const { content, answer } = wanted({ text });
  assert.equal(answer, text);
  assert.ok(content.startsWith("A line of it.") && content.length < 1_000);
});

describe("a send that may have arrived", () => {
  type Tries = { readonly doubts?: number; readonly cuts?: number };
  const doubtful = (tries: Tries, age: number): boolean =>
    mustLook(item({ now: { state: "sending", boot: bootId("b1"), attempts: 2, ...tries } }), at + age);

  const cases: readonly (readonly [what: string, tries: Tries, age: number, look: boolean])[] = [
    ["never tried, long ago", {}, 900_000, false],
    ["in doubt, a moment ago: its key is known", { doubts: 1 }, 60_000, false],
    ["in doubt, long ago", { doubts: 1 }, 900_000, true],
    ["cut off by a break, a moment ago", { cuts: 1 }, 60_000, false],
    ["cut off by a break, long ago", { cuts: 1 }, 900_000, true],
  ];
  for (const [what, tries, age, look] of cases) test(what, () => assert.equal(doubtful(tries, age), look));

  test("is looked for from a little before it was made", () => assert.ok(BigInt(lookFrom(item())) < BigInt(idAt(at))));

  const message = (more: object): APIMessage =>
    ({
      id: idAt(at + 1_000),
      author: { id: "9" },
      content: "hello",
      attachments: [],
      ...more,
    }) as unknown as APIMessage;
  const looks: readonly (readonly [what: string, more: object, is: boolean])[] = [
    ["ours, with the same words", {}, true],
    ["of somebody else", { author: { id: "8" } }, false],
    ["with other words", { content: "hello you" }, false],
    ["older than the item", { id: idAt(at - 60_000) }, false],
    ["with a file more", { attachments: [{}] }, false],
    ["under the same key", { nonce: nonceOf("i1") }, true],
    ["under the key of another item", { nonce: nonceOf("i2") }, false],
  ];
  const hello = { content: "hello ", uploads: [] };
  for (const [what, more, is] of looks)
    test(`found: ${what}`, () => assert.equal(isIt(message(more), item(), "9", hello), is));

  const drafts: readonly (readonly [what: string, more: object, is: boolean])[] = [
    ["without a reference", {}, true],
    ["below the same message", { message_reference: { message_id: "77" } }, true],
    ["below another message", { message_reference: { message_id: "78" } }, false],
    ["with words by now", { content: "hello" }, false],
    ["edited", { edited_timestamp: "2026-01-01T00:00:00Z" }, false],
    ["under another key", { nonce: nonceOf("draft-2") }, false],
  ];
  const draft = { id: "draft-1", createdAt: at as Instant };
  for (const [what, more, is] of drafts)
    test(`a placeholder ${what}`, () =>
      assert.equal(isDraft(message({ content: placeholder, ...more }), draft, "9", { reply: "77" }), is));
  test("the key of a placeholder is trusted for a while", () =>
    assert.deepEqual([isForgotten(at, at + 60_000), isForgotten(at, at + 900_000)], [false, true]));

  const photo = Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 1, 2, 3]);
  const drawn = Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 1, 2, 3]);
  type Shown = { readonly filename: string; readonly size: number; readonly title?: string };
  const files: readonly (readonly [what: string, name: string, data: Buffer, shown: Shown, is: boolean])[] = [
    ["the same", "a.pdf", Buffer.from("abc"), { filename: "a.pdf", size: 3 }, true],
    ["another name", "b.pdf", Buffer.from("abc"), { filename: "a.pdf", size: 3 }, false],
    ["another size", "a.pdf", Buffer.from("abcd"), { filename: "a.pdf", size: 3 }, false],
    [
      "a name that was tidied",
      "_my (new) plan.pdf",
      Buffer.from("abc"),
      { filename: "my_new_plan.pdf", size: 3 },
      true,
    ],
    [
      "a tidied name of another",
      "my (old) plan.pdf",
      Buffer.from("abc"),
      { filename: "my_new_plan.pdf", size: 3 },
      false,
    ],
    ["a very long name", `${"a".repeat(300)}.pdf`, Buffer.from("abc"), { filename: "a".repeat(255), size: 3 }, true],
    ["a name that was made up", "отчёт.pdf", Buffer.from("abc"), { filename: "unknown.pdf", size: 3 }, true],
    ["its title", "отчёт 1.pdf", Buffer.from("abc"), { filename: "1.pdf", size: 3, title: "отчёт 1" }, true],
    ["another title", "отчёт 2.pdf", Buffer.from("abc"), { filename: "1.pdf", size: 3, title: "отчёт 1" }, false],
    ["accents in two ways", "u\u0308.pdf", Buffer.from("abc"), { filename: "u.pdf", size: 3, title: "\u00fc" }, true],
    ["nothing but a picture", "🎉.pdf", Buffer.from("abc"), { filename: "x.pdf", size: 3, title: "🎉" }, true],
    ["a photograph without its notes", "a.jpg", photo, { filename: "a.jpg", size: 5 }, true],
    ["a photograph that grew", "a.jpg", photo, { filename: "a.jpg", size: 9 }, false],
    ["a smaller picture that never had any", "a.jpg", drawn, { filename: "a.jpg", size: 5 }, false],
  ];
  for (const [what, name, data, shown, is] of files)
    test(`a file is known by name and size: ${what}`, () => {
      const sought = { content: "hello", uploads: [{ name, mime: "application/octet-stream", data }] };
      assert.equal(isIt(message({ attachments: [shown] }), item(), "9", sought), is);
    });
});
