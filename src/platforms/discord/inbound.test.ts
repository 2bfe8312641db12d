import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { APIMessage } from "discord-api-types/v10";
import { type Attached, type Scene, attachmentsOf, isBlanked, isForUs, toEdited, toInbound } from "./inbound.ts";
import type { Channel } from "./stream/places.ts";

const me = "900000000000000001";
const ourRole = "800000000000000001";

function sample(name: string, more: object = {}): APIMessage {
  const text = readFileSync(join(import.meta.dirname, "samples", `${name}.json`), "utf8");
  return { ...(JSON.parse(text) as APIMessage), ...more } as APIMessage;
}

const channel: Channel = { id: "600000000000000001", name: "general", guild: "5", parent: null, newest: null };
const scene: Scene = {
  account: me,
  me,
  channel,
  channelName: (id) => (id === "600000000000000002" ? "help" : undefined),
  role: (id) =>
    id === ourRole ? { id, name: "ever", isOurs: true } : id === "81" ? { id, name: "crew", isOurs: false } : undefined,
};
const directScene: Scene = { ...scene, channel: null };
const nothing: Attached = { files: [], missing: [] };

describe("a message", () => {
  test("in a channel: who, where, what, and that it is for us", () => {
    assert.deepEqual(toInbound(sample("message"), scene, nothing), {
      key: "1310000000000000010",
      from: { platform: "discord", account: me, chat: "600000000000000001" },
      sender: "100000000000000001",
      body: { kind: "text", text: "ask @Bob B in #help :wave:", files: [] },
      sentAt: Date.parse("2024-11-23T19:18:36Z"),
      anchor: "1310000000000000010",
      name: "ann",
      group: { called: true, title: "#general" },
      hints: { reply: "1310000000000000010" },
    });
  });

  test("in a direct chat: no group, with a file, a sticker, and a word about a file that could not be had", () => {
    const file = { name: "voice-message.ogg", mime: "audio/ogg", blob: "b1", bytes: 8123 };
    const { body, group, hints } = toInbound(sample("direct"), directScene, {
      files: [file],
      missing: ["[no plan.pdf]"],
    });
    assert.deepEqual(body, { kind: "text", text: "look at this\n[sticker: Wave]\n[no plan.pdf]", files: [file] });
    assert.deepEqual([group, hints], [undefined, undefined]);
  });

  test("in a thread: it hangs from its channel", () => {
    const thread: Channel = { ...channel, id: "600000000000000003", name: "how to", parent: "600000000000000002" };
    const { from, group } = toInbound(
      sample("message", { channel_id: thread.id }),
      { ...scene, channel: thread },
      nothing,
    );
    assert.deepEqual(from, { platform: "discord", account: me, chat: "600000000000000002", thread: thread.id });
    assert.equal(group?.title, "how to");
  });

  const words: readonly (readonly [written: string, read: string])[] = [
    [`<@${me}> hello`, "hello"],
    [`<@!${me}>, hello`, "hello"],
    [`hey <@${me}>, hello`, "hey, hello"],
    [`hey <@${me}> hello`, "hey hello"],
    [`hey <@${me}> <@${me}> hello`, "hey hello"],
    [`are you there <@${me}>?`, "are you there?"],
    [`hello <@&${ourRole}>`, "hello"],
    ["hello <@&81> and <@&82>", "hello @crew and <@&82>"],
    ["  indented\n\tas it is  ", "  indented\n\tas it is  "],
    ["</help:123456> <t:1700000000:R> <a:dance:12>", "/help <t:1700000000:R> :dance:"],
    [`<@${me}>\n\`\`\`\n  a  b\n\`\`\``, "```\n  a  b\n```"],
  ];
  for (const [written, read] of words) {
    test(`is read as people read it: ${JSON.stringify(written)}`, () => {
      const { body } = toInbound(sample("message", { content: written }), scene, nothing);
      assert.equal(body.kind === "text" ? body.text : "", read);
    });
  }

  const calls: readonly (readonly [what: string, more: object, called: boolean])[] = [
    ["a mention", {}, true],
    ["no mention", { mentions: [] }, false],
    ["a mention of our role", { mentions: [], mention_roles: [ourRole] }, true],
    ["a mention of another role", { mentions: [], mention_roles: ["81"] }, false],
    ["a reply to us", { mentions: [], type: 19, referenced_message: { author: { id: me } } }, true],
    ["a reply to another", { mentions: [], type: 19, referenced_message: { author: { id: "1" } } }, false],
    ["everyone", { mentions: [], mention_everyone: true }, false],
  ];
  for (const [what, more, called] of calls) {
    test(`${what} is ${called ? "" : "not "}for us`, () => {
      assert.equal(toInbound(sample("message", more), scene, nothing).group?.called, called);
    });
  }

  test("of a program is marked, and a webhook has no name that could be trusted", () => {
    const author = { ...sample("message").author, bot: true };
    assert.deepEqual(
      [toInbound(sample("message", { author }), scene, nothing)].map(({ isBot, name }) => [isBot, name]),
      [[true, "ann"]],
    );
    const hook = toInbound(sample("message", { webhook_id: "7" }), scene, nothing);
    assert.deepEqual([hook.isBot, hook.name], [true, undefined]);
  });

  test("holds what embeds, polls and forwarded messages say", () => {
    const more = {
      content: "see",
      embeds: [
        { type: "link", title: "not this" },
        { type: "rich", title: "Report", description: "all well", fields: [{ name: "a", value: "1" }] },
      ],
      poll: { question: { text: "When?" }, answers: [{ answer_id: 1, poll_media: { text: "now" } }] },
      message_snapshots: [{ message: { content: "older words" } }],
    };
    const { body } = toInbound(sample("message", more), scene, nothing);
    assert.equal(
      body.kind === "text" ? body.text : "",
      "see\n[forwarded]\nolder words\nReport\nall well\na: 1\n[poll] When?\n- now",
    );
  });
});

test("what is forwarded is there with all that hangs on it", () => {
  const message = sample("forwarded");
  assert.deepEqual(
    attachmentsOf(message).map(({ filename }) => filename),
    ["contract.pdf"],
  );
  const { body } = toInbound(message, directScene, nothing);
  const text = "[forwarded]\nsee the contract\nReport\nall well\n[sticker: Wave]";
  assert.deepEqual(body, { kind: "text", text, files: [] });
  const bare = sample("direct", { message_snapshots: [{ message: { content: "" } }] });
  assert.deepEqual(
    attachmentsOf(bare).map(({ filename }) => filename),
    ["voice-message.ogg"],
  );
});

test("an edit has a key of its own and says what it replaces; a preview that was added is none", () => {
  const edited = toEdited(sample("message", { edited_timestamp: "2024-11-23T19:20:00Z" }), scene, nothing);
  assert.deepEqual([edited?.key, edited?.replaces], ["1310000000000000010~1732389600000", "1310000000000000010"]);
  assert.equal(toEdited(sample("message"), scene, nothing), null);
});

test("what we said ourselves, and what Discord says of itself, is not for us", () => {
  assert.equal(isForUs(sample("message"), me), true);
  assert.equal(isForUs(sample("message", { type: 19 }), me), true);
  assert.equal(isForUs(sample("message", { author: { id: me } }), me), false);
  for (const type of [6, 7, 8, 18, 20, 21]) assert.equal(isForUs(sample("message", { type }), me), false);
});

test("words that Discord keeps from us are noticed", () => {
  const blank = { content: "", mentions: [] };
  assert.equal(isBlanked(sample("message", blank), scene), true);
  assert.equal(isBlanked(sample("message", blank), directScene), false);
  assert.equal(isBlanked(sample("message"), scene), false);
  assert.equal(isBlanked(sample("message", { content: "" }), scene), false, "mentions of us are whole");
  assert.equal(isBlanked(sample("direct", blank), scene), false, "a file without words");
});

test("hostile repeats cost no more than their length", () => {
  const marks = ["<", "</", "</a", "<a:", "<a:a:1", "<@", "<@1", `<@${me}>`, ` <@${me}>`, `<@${me}> ,`];
  for (const mark of [" ", "\t", "\n", "a", ",", ...marks]) {
    const repeated = mark.repeat(100_000 / mark.length);
    for (const content of [`a${repeated}b`, repeated, `<@${me}>${repeated}b`, `a${repeated}b<@${me}>`]) {
      const begun = performance.now();
      toInbound(sample("message", { content }), scene, nothing);
      const tookMs = performance.now() - begun;
      assert.ok(tookMs < 2_000, `${JSON.stringify(mark)} took ${Math.round(tookMs)} ms`);
    }
  }
});
