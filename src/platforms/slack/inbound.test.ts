import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { Instant } from "../../core/ids.ts";
import type { Inbound } from "../../core/message.ts";
import type { SlackMessage } from "./api.ts";
import { type Envelope, type Fetched, heardIn, inMessage, peopleIn, toInbound } from "./inbound.ts";

const self = { user: "U0BOT", bot: "B0BOT", app: "A0APP", name: "everturn", team: "T" };
const nothing: Fetched = { names: new Map([["U777", "bob"]]), files: [], lost: [] };
const now = 1_726_000_100_000 as Instant;

function sample<T>(name: string): T {
  return JSON.parse(readFileSync(join(import.meta.dirname, "samples", `${name}.json`), "utf8")) as T;
}

function read(envelope: Envelope, isOurs = false, fetched = nothing): Inbound | null {
  const heard = heardIn(envelope, self, now);
  return heard === null ? null : toInbound(heard, "A0APP", self, isOurs, fetched);
}

const from = { platform: "slack", account: "A0APP" };

describe("samples of what the socket brings", () => {
  const cases: readonly (readonly [name: string, expected: Partial<Inbound> | null])[] = [
    [
      "message",
      {
        key: "D024BE91L:1726000000.000200",
        from: { ...from, chat: "D024BE91L" },
        sender: "U123ABC456",
        anchor: "1726000000.000200",
        sentAt: 1_726_000_000_000 as Instant,
        body: {
          kind: "text",
          text: "is 1 < 2 & 3 > 2, @bob? see https://example.com/a?b=1&c=2 and example.org",
          files: [],
        },
      },
    ],
    [
      "app-mention",
      {
        key: "C024BE91L:1726000001.000100",
        from: { ...from, chat: "C024BE91L", thread: "1726000001.000100" },
        group: { called: true },
        body: { kind: "text", text: "what is up in #general?", files: [] },
      },
    ],
    [
      "reply",
      {
        key: "C024BE91L:1726000005.000300",
        from: { ...from, chat: "C024BE91L", thread: "1726000001.000100" },
        group: { called: true },
      },
    ],
    [
      "changed",
      {
        key: "D024BE91L:1726000000.000200:1726000010.000000",
        replaces: "D024BE91L:1726000000.000200",
        from: { ...from, chat: "D024BE91L" },
        body: { kind: "text", text: "second wording", files: [] },
      },
    ],
    [
      "block-actions",
      {
        key: "C024BE91L:1726000020.000100:pressed:1726000025.123456",
        from: { ...from, chat: "C024BE91L", thread: "1726000001.000100" },
        name: "alice",
        group: { called: true },
        body: { kind: "answer", question: "q1", choice: "Coffee, black" },
      },
    ],
    [
      "slash-command",
      {
        key: "C024BE91L:command:13345224609.738474920.8088930838d88f008e0",
        from: { ...from, chat: "C024BE91L" },
        name: "alice",
        sentAt: now,
        group: { called: true },
        body: { kind: "command", name: "model", rest: "some/model" },
      },
    ],
    ["file-share", { body: { kind: "text", text: "look at this", files: [] } }],
    ["bot-message", { isBot: true, name: "ci", sender: "B0OTHER", group: { called: false } }],
    [
      "forwarded",
      {
        key: "D024BE91L:1726000050.000100",
        sender: "U123ABC456",
        body: {
          kind: "text",
          text: "[forwarded from bob]\nthe password changes on Friday, ask @everturn & me",
          files: [],
        },
      },
    ],
    [
      "link",
      {
        body: {
          kind: "text",
          text: "see https://example.slack.com/archives/C024BE91L/p1725990000000100 and https://example.com/a",
          files: [],
        },
      },
    ],
    [
      "app-post",
      {
        isBot: true,
        group: { called: false },
        body: {
          kind: "text",
          text: `Job failed :red_circle:
see job 7 (https://example.com/7)
*Branch*: main
*Author*: @bob
took 3 < 4 minutes
Issue created by bob (https://example.com/bob)
#2 the build (https://example.com/issues/2)
it is red again
Priority: High`,
          files: [],
        },
      },
    ],
    ["joined", null],
  ];
  for (const [name, expected] of cases) {
    test(name, () => {
      const found = read(sample<Envelope>(name));
      if (expected === null || found === null) return assert.equal(found, expected);
      const keys = Object.keys(expected) as (keyof Inbound)[];
      assert.deepEqual(Object.fromEntries(keys.map((key) => [key, found[key]])), expected);
    });
  }

  test("the message and the mention of us are one message, under one key", () => {
    const mention = sample<{ body: { event: SlackMessage } }>("app-mention");
    const { event } = mention.body;
    const message = { type: "events_api", body: { event: { ...event, type: "message", channel_type: "channel" } } };
    assert.deepEqual(read(message), read({ type: "events_api", body: mention.body }));
  });
});

describe("what is ours and what is not", () => {
  const where = { conversation: "C1", isDirect: false };
  const cases: readonly (readonly [what: string, message: Partial<SlackMessage>, isHeard: boolean])[] = [
    ["somebody", { user: "U1" }, true],
    ["our user", { user: "U0BOT" }, false],
    ["our bot", { bot_id: "B0BOT" }, false],
    ["our app", { user: "U9", app_id: "A0APP" }, false],
    ["another app", { user: "U9", bot_id: "B9", app_id: "A9" }, true],
    ["a reply shown in the channel too", { user: "U1", subtype: "thread_broadcast" }, true],
    ["/me", { user: "U1", subtype: "me_message" }, true],
    ["a topic", { user: "U1", subtype: "channel_topic" }, false],
    ["a deletion", { subtype: "message_deleted" }, false],
  ];
  for (const [what, message, isHeard] of cases) {
    test(what, () => assert.equal(inMessage({ ts: "1.2", text: "x", ...message }, where, self) !== null, isHeard));
  }

  test("what unfolds below a link is no edit", () => {
    const envelope = sample<{ type: string; body: { event: { message: object; previous_message: object } } }>(
      "changed",
    );
    const { event } = envelope.body;
    assert.equal(read({ type: "events_api", body: { event: { ...event, previous_message: event.message } } }), null);
  });
});

describe("where a conversation is", () => {
  const cases: readonly (readonly [string, Partial<SlackMessage>, boolean, string | undefined])[] = [
    ["a channel: the message begins a thread", {}, false, "5.0"],
    ["a channel: a first message that has replies", { thread_ts: "5.0" }, false, "5.0"],
    ["a channel: a reply", { thread_ts: "4.0" }, false, "4.0"],
    ["a chat of two", {}, true, undefined],
    ["a chat of two: a first message that has replies", { thread_ts: "5.0" }, true, undefined],
    ["a chat of two: a reply", { thread_ts: "4.0" }, true, "4.0"],
  ];
  for (const [what, more, isDirect, thread] of cases) {
    test(what, () => {
      const found = inMessage({ ts: "5.0", user: "U1", text: "x", ...more }, { conversation: "X", isDirect }, self);
      assert.equal(found?.thread, thread);
    });
  }
});

describe("commands", () => {
  const body = (text: string, isOurs = false) =>
    read(
      {
        type: "events_api",
        body: { event: { type: "message", channel: "D1", channel_type: "im", ts: "1.0", user: "U1", text } },
      },
      isOurs,
    )?.body;
  const cases: readonly (readonly [string, unknown])[] = [
    ["!stop", { kind: "command", name: "stop", rest: "" }],
    ["<@U0BOT> !Model a/b", { kind: "command", name: "model", rest: "a/b" }],
    ["!wow that is great", { kind: "text", text: "!wow that is great", files: [] }],
    ["! stop", { kind: "text", text: "! stop", files: [] }],
  ];
  for (const [text, expected] of cases) test(text, () => assert.deepEqual(body(text), expected));

  const slash = (text: string) => {
    const given = { user_id: "U1", channel_id: "D1", trigger_id: "t", text };
    return read({ type: "slash_commands", body: given })?.body;
  };
  test("/everturn alone asks for help", () => assert.deepEqual(slash(""), { kind: "command", name: "help", rest: "" }));
  test("/everturn /Stop now", () =>
    assert.deepEqual(slash("/Stop now"), { kind: "command", name: "stop", rest: "now" }));
});

test("in a thread that is ours every reply is meant for us", () => {
  const reply = sample<{ type: string; body: { event: SlackMessage } }>("reply");
  const { parent_user_id: _, ...event } = reply.body.event;
  const plain = { type: "events_api", body: { event } };
  assert.deepEqual([read(plain)?.group, read(plain, true)?.group], [{ called: false }, { called: true }]);
});

test("names are asked of whoever wrote and whoever is mentioned", () => {
  const heard = heardIn(sample<Envelope>("message"), self, now);
  assert.deepEqual(heard === null ? [] : peopleIn(heard), ["U123ABC456", "U777"]);
});

describe("what is forwarded", () => {
  const forwarded = (text: string) => ({ is_share: true, author_name: "bob", text });
  const event = (text: string, attachments: SlackMessage["attachments"], more: object = {}) => ({
    type: "events_api",
    body: {
      event: {
        type: "message",
        channel: "C1",
        channel_type: "channel",
        ts: "1.0",
        user: "U1",
        text,
        attachments,
        ...more,
      },
    },
  });

  test("brings its files along, and people in it have their names", () => {
    const heard = heardIn(sample<Envelope>("forwarded"), self, now);
    assert.deepEqual(heard?.what.kind === "words" ? heard.what.files.map(({ name }) => name) : [], ["plan.pdf"]);
    const asked = heardIn(event("", [forwarded("ask <@U777>")]), self, now);
    assert.deepEqual(asked === null ? [] : peopleIn(asked), ["U1", "U777"]);
  });

  test("follows the words of whoever forwards it; it calls nobody, and is no command", () => {
    const found = read(event("look", [forwarded("<@U0BOT> !stop")]));
    assert.deepEqual(
      [found?.group, found?.body],
      [{ called: false }, { kind: "text", text: "look\n[forwarded from bob]\n@everturn !stop", files: [] }],
    );
    assert.equal(read(event("!stop", [forwarded("words")]))?.body.kind, "text");
  });

  test("an edit of its words alone is one too; what unfolds is not", () => {
    const change = (before: SlackMessage["attachments"], after: SlackMessage["attachments"]) => {
      const message = { type: "message", user: "U1", ts: "1.0", text: "" };
      const edited = { ...message, attachments: after, edited: { user: "U1", ts: "2.0" } };
      const more = {
        subtype: "message_changed",
        message: edited,
        previous_message: { ...message, attachments: before },
      };
      return read(event("", undefined, more))?.replaces;
    };
    assert.equal(change([{ text: "red" }], [{ text: "green" }]), "C1:1.0");
    assert.equal(change([], [{ from_url: "https://example.com", text: "a page" }]), undefined);
  });
});

test("files that could not be had are lines of the text", () => {
  const found = read(sample<Envelope>("file-share"), false, { ...nothing, lost: ["[The file notes.txt is lost.]"] });
  assert.deepEqual(found?.body, { kind: "text", text: "look at this\n[The file notes.txt is lost.]", files: [] });
});

test("envelopes of other kinds, and broken ones, hold nothing", () => {
  for (const body of [{}, { event: {} }, { event: { type: "reaction_added" } }, { type: "view_submission" }])
    for (const type of ["events_api", "interactive", "slash_commands", "novelty"])
      assert.equal(heardIn({ type, body }, self, now), null);
});

test("hostile repeats cost no more than their length", () => {
  const marks = ["<", "<@", "<@U0BOT", "<@U0BOT|", "<@U0BOT>", " <@U0BOT>", "<a|", "&", "&amp;", "|", "> ", "!help "];
  for (const mark of [" ", "\t", "\n", "a", "!", ...marks]) {
    const repeated = mark.repeat(100_000 / mark.length);
    for (const text of [`a${repeated}b`, repeated, `<@U0BOT>${repeated}b`, `!${repeated}\0`]) {
      const begun = performance.now();
      const message = { type: "message", ts: "1726000000.000100", user: "U1", text };
      const heard = inMessage(message, { conversation: "C1", isDirect: false }, self);
      assert.ok(heard !== null);
      peopleIn(heard);
      toInbound(heard, "A1", self, false, { names: new Map(), files: [], lost: [] });
      const tookMs = performance.now() - begun;
      assert.ok(tookMs < 2_000, `${JSON.stringify(mark)} took ${Math.round(tookMs)} ms`);
    }
  }
});
