// What an item becomes in the chat, by the real client library against the fake of the Bot API, which reads HTML, counts
// lengths and refuses as Telegram does.

import assert from "node:assert/strict";
import { type TestContext, describe, test } from "node:test";
import { FakeTelegram } from "../../../test/fakes/telegram.ts";
import { Fault } from "../../core/fault.ts";
import type { FileRef } from "../../core/message.ts";
import type { OutboxItem } from "../../core/outbox.ts";
import type { Blobs } from "../../ports/blobs.ts";
import { anItem, bootId, itemId } from "../../testing/samples.ts";
import { table } from "../../testing/table.ts";
import { openBot } from "./api.ts";
import { keyboardOf, outbound, stepsFor } from "./outbound.ts";

const signal = new AbortController().signal;
const key = { id: "draft-1", placedSince: null };

function aFile(name: string, mime: string, content = `content of ${name}`): FileRef {
  return { name, mime, blob: content, bytes: content.length };
}

/** A file is its own name here; one named "gone" is not there. */
const blobs: Blobs = {
  put: () => assert.fail("nothing is put"),
  async read(blob) {
    if (blob === "gone") throw new Fault("not-found", "That file is not there any more.");
    return Buffer.from(blob);
  },
  path: (blob) => blob,
};

async function opened(t: TestContext) {
  const fake = await FakeTelegram.start();
  t.after(() => fake.close());
  const ada = fake.person("Ada");
  const out = outbound(openBot({ token: fake.token, apiRoot: fake.url }), blobs, () => 0);
  const to = { platform: "telegram", account: "777", chat: String(ada.id) };
  const item = (text: string, more: Partial<OutboxItem> = {}): OutboxItem =>
    anItem("i1", { to, text, now: { state: "sending", boot: bootId("b1"), attempts: 1 }, ...more });
  return { fake, ada, out, to, item, send: (one: OutboxItem) => out.send(one, signal) };
}

const photo = aFile("a.png", "image/png");
const notes = aFile("a.txt", "text/plain");
const question = { id: "q1", choices: ["Tea"] };

table(
  "the steps of an item",
  [
    { name: "words", item: { text: "a" }, steps: ["text"] },
    { name: "words and a file", item: { text: "a", files: [photo] }, steps: ["file:a"] },
    { name: "words and two files", item: { text: "a", files: [photo, notes] }, steps: ["text", "file:", "file:"] },
    { name: "a file", item: { text: "", files: [notes] }, steps: ["file:"] },
    { name: "many words and a file", item: { text: "w".repeat(1_025), files: [photo] }, steps: ["text", "file:"] },
    { name: "a draft and a file", item: { text: "a", files: [photo], edits: "5" }, steps: ["text", "file:"] },
    { name: "a question and a file", item: { text: "a", files: [photo], question }, steps: ["text", "file:"] },
    { name: "too many words", item: { text: "w".repeat(4_097) }, steps: ["answer"] },
    { name: "many marks, few words", item: { text: `**${"w".repeat(4_090)}**` }, steps: ["text"] },
    { name: "nothing", item: { text: "" }, steps: ["text"] },
  ],
  ({ item, steps }) => {
    const found = stepsFor(anItem("i1", item)).map((one) => (one.type === "file" ? `file:${one.text}` : one.type));
    assert.deepEqual(found, steps);
  },
);

test("a button for each choice, unless one cannot carry the question", () => {
  assert.deepEqual(keyboardOf({ id: "q1", choices: ["Tea", "Coffee"] }), {
    inline_keyboard: [[{ text: "Tea", callback_data: "q:0:q1" }], [{ text: "Coffee", callback_data: "q:1:q1" }]],
  });
  assert.equal(keyboardOf({ id: "q".repeat(70), choices: ["Tea"] }), null);
  assert.equal(keyboardOf(undefined), null);
});

describe("words", () => {
  test("are shown formatted, without previews of links", async (t) => {
    const { fake, ada, send, item } = await opened(t);
    await send(item("**bold** <x> [link](https://example.org/)"));
    assert.deepEqual(fake.said(ada.chat), ["bold <x> link"]);
    assert.deepEqual(fake.calls[0]?.params["link_preview_options"], { is_disabled: true });
  });

  test("are sent plain when Telegram cannot read their markup", async (t) => {
    const { fake, ada, send, item } = await opened(t);
    fake.breaks = (_, params) =>
      params["parse_mode"] === "HTML"
        ? { type: "answer", code: 400, description: "Bad Request: can't parse entities: whatever" }
        : null;
    assert.equal((await send(item("**bold** words"))).type, "accepted");
    assert.deepEqual(fake.said(ada.chat), ["bold words"]);
  });

  test("that are too many are a file with their beginning below it", async (t) => {
    const { fake, ada, send, item } = await opened(t);
    const text = "many words ".repeat(5_000);
    assert.equal((await send(item(text))).type, "accepted");
    const [shown] = fake.shown(ada.chat);
    assert.deepEqual([shown?.file?.name, shown?.file?.content.toString()], ["answer.md", text]);
    assert.match(shown?.text ?? "", /^many words many words [\s\S]*…$/);
  });

  test("that are too many turn a draft into the file, however often", async (t) => {
    const { fake, ada, out, to, send, item } = await opened(t);
    const draft = await out.drafts.place(to, {}, signal, key);
    const edits = draft.type === "accepted" ? draft.remoteId : assert.fail(draft.type);
    const text = "many words ".repeat(5_000);
    for (let n = 0; n < 2; n++) assert.deepEqual(await send(item(text, { edits })), draft);
    assert.equal(fake.shown(ada.chat).length, 1);
    assert.equal(fake.shown(ada.chat)[0]?.file?.content.toString(), text);
  });

  test("follow a group that has another id now", async (t) => {
    const { fake, to, send, item } = await opened(t);
    const group = fake.group("Friends");
    const now = fake.upgrade(group);
    for (const n of [1, 2])
      assert.equal((await send(item(`to ${n}`, { to: { ...to, chat: String(group.id) } }))).type, "accepted");
    assert.deepEqual(fake.said(now), ["to 1", "to 2"]);
  });

  test("go to the chat itself when the topic is not there any more", async (t) => {
    const { fake, to, send, item } = await opened(t);
    const forum = fake.group("Forum", { is_forum: true });
    assert.equal((await send(item("here", { to: { ...to, chat: String(forum.id), thread: "9" } }))).type, "accepted");
    assert.deepEqual(fake.said(forum), ["here"]);
  });

  test("are a reply where there is something to reply to, and only the first part", async (t) => {
    const { fake, ada, send, item } = await opened(t);
    const asked = ada.write("hello");
    const hints = { telegram_reply_to_message_id: String(asked["message_id"]) };
    await send(item("one", { hints }));
    await send(item("two", { hints, part: 1, id: itemId("i2") }));
    await send(item("three", { hints: { telegram_reply_to_message_id: "99999" }, id: itemId("i3") }));
    assert.deepEqual(
      fake.shown(ada.chat).flatMap(({ from, replyTo }) => (from === null ? [replyTo] : [])),
      [asked["message_id"], null, null],
    );
  });

  test("to somebody who does not want them are refused", async (t) => {
    const { ada, send, item } = await opened(t);
    ada.blocks(true);
    const result = await send(item("hello"));
    assert.ok(result.type === "refused" && /blocked/.test(result.why));
  });
});

describe("files", () => {
  test("are shown as what they are", async (t) => {
    const { fake, ada, send, item } = await opened(t);
    const all = [photo, notes, aFile("v.ogg", "audio/ogg"), aFile("i.svg", "image/svg+xml")];
    for (const [n, file] of all.entries()) await send(item("see", { files: [file], id: itemId(`i${n}`) }));
    assert.deepEqual(
      fake.shown(ada.chat).map(({ file, text }) => [file?.kind, file?.name, text]),
      [
        ["photo", "a.png", "see"],
        ["document", "a.txt", "see"],
        ["voice", "v.ogg", "see"],
        ["document", "i.svg", "see"],
      ],
    );
  });

  test("that are no good pictures are documents, and what is refused is said in words", async (t) => {
    const { fake, ada, send, item } = await opened(t);
    fake.breaks = (method) =>
      method === "sendPhoto"
        ? { type: "answer", code: 400, description: "Bad Request: PHOTO_INVALID_DIMENSIONS" }
        : null;
    await send(item("see", { files: [photo] }));
    fake.breaks = (method) =>
      /Photo|Document/.test(method) ? { type: "answer", code: 413, description: "Request Entity Too Large" } : null;
    await send(item("see", { files: [photo], id: itemId("i2") }));
    await send(item("see", { files: [{ ...photo, blob: "gone" }], id: itemId("i3") }));
    const [first, second = "", third = ""] = fake.said(ada.chat);
    assert.equal(first, "see");
    assert.match(second, /^see\n\n\(The file a\.png could not be sent\..*Too Large/);
    assert.match(third, /^see\n\n\(The file a\.png could not be sent\. That file is not there any more\.\)/);
  });

  test("go on behind what was confirmed: no words are said twice", async (t) => {
    const { fake, ada, out, item } = await opened(t);
    let isBroken = true;
    fake.breaks = (method) => (isBroken && method === "sendDocument" ? { type: "drop", when: "before" } : null);
    const sent: string[] = [];
    const confirm = async (id: string) => void sent.push(id);
    const both = () =>
      item("two of them", {
        files: [photo, notes],
        now: { state: "sending", boot: bootId("b1"), attempts: 1, sent: [...sent] },
      });
    assert.equal((await out.send(both(), signal, confirm)).type, "unknown");
    isBroken = false;
    assert.equal((await out.send(both(), signal, confirm)).type, "accepted");
    assert.deepEqual(fake.said(ada.chat), ["two of them", "", ""]);
  });
});

describe("drafts", () => {
  test("are finished by the same words however often, and by new ones when they are gone", async (t) => {
    const { fake, ada, out, to, send, item } = await opened(t);
    const draft = await out.drafts.place(to, {}, signal, key);
    const edits = draft.type === "accepted" ? draft.remoteId : assert.fail(draft.type);
    await out.drafts.fill(to, edits, "so **far", signal);
    assert.deepEqual(fake.said(ada.chat), ["so **far"]);
    for (let n = 0; n < 3; n++) assert.deepEqual(await send(item("the end", { edits, question })), draft);
    assert.deepEqual(fake.said(ada.chat), ["the end"]);
    assert.deepEqual(fake.shown(ada.chat)[0]?.buttons, [{ text: "Tea", data: "q:0:q1" }]);
    await out.drafts.remove(to, edits, signal);
    assert.deepEqual(await out.drafts.remove(to, edits, signal), draft);
    assert.equal((await send(item("anew", { edits, id: itemId("i9") }))).type, "accepted");
    assert.deepEqual(fake.said(ada.chat), ["anew"]);
  });

  test("an edit that nobody answered is tried again, not in doubt", async (t) => {
    const { fake, out, to, send, item } = await opened(t);
    const draft = await out.drafts.place(to, {}, signal, key);
    const edits = draft.type === "accepted" ? draft.remoteId : "";
    for (const when of ["before", "after"] as const) {
      fake.breaks = (method) => (method === "editMessageText" ? { type: "drop", when } : null);
      assert.equal((await send(item("the end", { edits }))).type, "retry");
    }
  });
});

test("when a second chat is told to wait while one does, all of us are", async (t) => {
  const { fake, to, send, item } = await opened(t);
  const bob = fake.person("Bob");
  fake.breaks = () => ({ type: "answer", code: 429, description: "Too Many Requests", parameters: { retry_after: 9 } });
  const first = await send(item("a"));
  assert.deepEqual([first.type, first.type === "retry" && first.all], ["retry", undefined]);
  const other = await send(item("b", { to: { ...to, chat: String(bob.id) }, id: itemId("i2") }));
  assert.deepEqual([other.type, other.type === "retry" && other.all], ["retry", true]);
});
