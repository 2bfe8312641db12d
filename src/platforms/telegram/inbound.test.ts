// Recorded updates, and what the gateway is told of each.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Message, Update } from "grammy/types";
import type { Inbound } from "../../core/message.ts";
import { table } from "../../testing/table.ts";
import { type Read, pressData, read, readParts } from "./inbound.ts";

const me = { id: 777, username: "ever_bot" };
const samples = JSON.parse(readFileSync(join(import.meta.dirname, "samples", "updates.json"), "utf8")) as Readonly<
  Record<string, Update>
>;

function sample(name: string): Update {
  return samples[name] ?? assert.fail(`no sample ${name}`);
}

function told(found: Read): Inbound {
  return found?.type === "parcel" ? found.parcel.message : assert.fail("nothing is told");
}

test("a message of a direct chat, with everything that is told of it", () => {
  assert.deepEqual(read(sample("private text"), "777", me), {
    type: "parcel",
    parcel: {
      files: [],
      message: {
        key: "1111111:1365",
        from: { platform: "telegram", account: "777", chat: "1111111" },
        sender: "1111111",
        name: "ada",
        body: { kind: "text", text: "hello", files: [] },
        sentAt: 1_441_645_532_000,
        anchor: "1365",
      },
    },
  });
});

table(
  "the words of a message",
  [
    { name: "code and a link", text: "👋 run `ls` or see [docs](https://example.org/)\n```ts\nlet a = 1;\n```" },
    { name: "group with a mention", text: "are you there?" },
    { name: "group without a mention", text: "hello @somebody" },
    { name: "group with a mention without a name", text: "tell me," },
    { name: "command for us", text: "/model fast" },
    { name: "reply to us", text: "yes" },
    { name: "reply to somebody else", text: "> Bob: my cat\n\nwhat is this?" },
    { name: "location", text: "[location: 52.5, 13.4]" },
    { name: "sticker", text: "[sticker 😀]" },
    { name: "contact", text: "[contact: Bob Builder, +4912345]" },
    { name: "forwarded", text: "[forwarded from Somebody]\n\nwhat they said" },
    { name: "quote of our words", text: "> that part\n\nwhy?" },
    { name: "voice", text: "" },
    { name: "document with a caption", text: "read this" },
  ],
  ({ name, text }) => {
    assert.deepEqual(told(read(sample(name), "777", me)).body, { kind: "text", text, files: [] });
  },
);

table(
  "whether words in a group are meant for us",
  [
    { name: "private text", called: undefined },
    { name: "group with a mention", called: true },
    { name: "group without a mention", called: false },
    { name: "group with a mention without a name", called: true },
    { name: "command for us", called: true },
    { name: "anonymous administrator", called: true },
    { name: "reply to us", called: true },
    { name: "reply to somebody else", called: true },
    { name: "forum topic", called: false },
    { name: "another bot", called: false },
    { name: "direct messages of a channel", called: undefined },
    { name: "pressed", called: true },
  ],
  ({ name, called }) => {
    assert.equal(told(read(sample(name), "777", me)).group?.called, called);
  },
);

table(
  "where a message is, and what goes back with its answer",
  [
    { name: "forum topic", thread: "9", hints: { telegram_reply_to_message_id: "84" } },
    { name: "general topic", thread: undefined, hints: { telegram_reply_to_message_id: "85" } },
    { name: "thread of answers that is no topic", thread: undefined, hints: { telegram_reply_to_message_id: "86" } },
    { name: "topic of a direct chat", thread: "31", hints: undefined },
    { name: "direct messages of a channel", thread: "1111111", hints: { direct_messages_topic_id: "1111111" } },
    { name: "private text", thread: undefined, hints: undefined },
  ],
  ({ name, thread, hints }) => {
    const message = told(read(sample(name), "777", me));
    assert.deepEqual([message.from.thread, message.hints], [thread, hints]);
  },
);

table(
  "who speaks",
  [
    { name: "anonymous administrator", sender: "-1001234567890", who: undefined, isBot: undefined },
    { name: "another bot", sender: "999", who: "other_bot", isBot: true as const },
    { name: "forwarded", sender: "1111111", who: undefined, isBot: undefined },
    { name: "pressed", sender: "1111111", who: "ada", isBot: undefined },
  ],
  ({ name, sender, who, isBot }) => {
    const message = told(read(sample(name), "777", me));
    assert.deepEqual([message.sender, message.name, message.isBot], [sender, who, isBot]);
  },
);

table(
  "nothing for us",
  [
    { name: "command for another bot" },
    { name: "ourselves" },
    { name: "post of a channel, brought to its group" },
    { name: "somebody joined" },
    { name: "location that moves" },
  ],
  ({ name }) => {
    assert.equal(read(sample(name), "777", me), null);
  },
);

table(
  "the files of a message",
  [
    { name: "voice", files: [{ id: "vo", name: "voice-1374.ogg", mime: "audio/ogg", bytes: 4_000 }] },
    {
      name: "document with a caption",
      files: [{ id: "do", name: "a.pdf", mime: "application/pdf", bytes: 12 }],
    },
    {
      name: "reply to somebody else",
      files: [{ id: "large", name: "photo-71.jpg", mime: "image/jpeg", bytes: 90_000 }],
    },
    { name: "sticker", files: [] },
  ],
  ({ name, files }) => {
    const found = read(sample(name), "777", me);
    assert.deepEqual(found?.type === "parcel" ? found.parcel.files : null, files);
  },
);

test("the first command of all is a call for help", () => {
  assert.deepEqual(told(read(sample("start"), "777", me)).body, { kind: "command", name: "help", rest: "" });
});

test("a new wording has a key of its own and names the first", () => {
  const message = told(read(sample("edited"), "777", me));
  assert.deepEqual([message.key, message.replaces], ["1111111:1365:edit:10019", "1111111:1365"]);
  assert.equal(message.replaces, told(read(sample("private text"), "777", me)).key);
});

test("a press is an answer in the words of the button", () => {
  const found = read(sample("pressed"), "777", me);
  const message = told(found);
  assert.deepEqual(message.body, { kind: "answer", question: "t1.q2", choice: "Coffee" });
  assert.equal(message.key, "press:4382bfdwdsb323b2d9");
  assert.deepEqual(found?.type === "parcel" && found.parcel.press, {
    id: "4382bfdwdsb323b2d9",
    chat: -55,
    message: 94,
    choice: "Coffee",
  });
  assert.equal(pressData("t1.q2", 1), "q:1:t1.q2");
  assert.deepEqual(read(sample("pressed below a message that is out of reach"), "777", me), {
    type: "idle",
    press: "4382bfdwdsb323b2da",
  });
});

test("a button carries at most 64 bytes", () => {
  assert.equal(pressData("q".repeat(60), 0)?.length, 64);
  assert.equal(pressData("q".repeat(61), 0), null);
  assert.equal(pressData("é".repeat(31), 0), null);
});

test("an album is one message under the key of its first part", () => {
  const { reply_to_message: _, ...photo } = sample("reply to somebody else").message?.reply_to_message ?? assert.fail();
  const part = (n: number, caption = ""): Message => ({ ...photo, message_id: n, media_group_id: "a", caption });
  const found = readParts([part(5, "three"), part(6), part(7)], "777", me);
  assert.deepEqual([told(found).key, told(found).body], ["-55:5", { kind: "text", text: "three", files: [] }]);
  assert.deepEqual(found?.type === "parcel" && found.parcel.files.map(({ name }) => name), [
    "photo-5.jpg",
    "photo-6.jpg",
    "photo-7.jpg",
  ]);
});

test("hostile repeats cost no more than their length", () => {
  const { message } = sample("private text");
  assert.ok(message !== undefined);
  for (const mark of [" ", "\t", "\n", "a", ",", ":", "@", "/start ", "/", "`", "@ever_bot ", " @ever_bot,"]) {
    const text = `@ever_bot${mark.repeat(100_000 / mark.length)}b`;
    // Telegram tells of a hundred of them at most.
    const places = [...text.matchAll(/@ever_bot/g)].slice(0, 100);
    const entities = places.map(({ index }) => ({ type: "mention" as const, offset: index, length: 9 }));
    const answered = { ...message, from: { id: 5, is_bot: false, first_name: "Eve" } };
    const begun = performance.now();
    const given = { ...message, text, entities, reply_to_message: { ...answered, text } };
    read({ update_id: 1, message: given } as unknown as Update, "777", me);
    const tookMs = performance.now() - begun;
    assert.ok(tookMs < 2_000, `${JSON.stringify(mark)} took ${Math.round(tookMs)} ms`);
  }
});
