// Every entrance for text from outside, by samples of the platforms themselves: whatever carries words of others marks its
// conversation, and what a person wrote does not.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { APIMessage } from "discord-api-types/v10";
import type { Message, Update } from "grammy/types";
import PostalMime from "postal-mime";
import type { Instant } from "../src/core/ids.ts";
import { type FileRef, type Inbound, bringsOutside } from "../src/core/message.ts";
import { toInbound as fromApi } from "../src/platforms/api/inbound.ts";
import { toInbound as fromDiscord } from "../src/platforms/discord/inbound.ts";
import { readMail } from "../src/platforms/email/inbound.ts";
import { readEvent } from "../src/platforms/matrix/inbound.ts";
import { type Envelope, heardIn, toInbound as fromSlack } from "../src/platforms/slack/inbound.ts";
import { read as fromTelegram } from "../src/platforms/telegram/inbound.ts";

const now = 1_800_000_000_000 as Instant;
const file: FileRef = { name: "a.pdf", mime: "application/pdf", blob: "b", bytes: 1 };
const root = join(import.meta.dirname, "..", "src", "platforms");
const sample = (path: string): string => readFileSync(join(root, path), "utf8");

const ann = { id: 7, is_bot: false, first_name: "Ann" };
const bob = { id: 8, is_bot: false, first_name: "Bob" };
const me = { id: 99, username: "ever" };
function telegram(more: object): Inbound {
  const chat = { id: 7, type: "private", first_name: "Ann" };
  const message = { message_id: 1, date: 1_800_000_000, chat, from: ann, text: "look", ...more } as unknown as Message;
  const found = fromTelegram({ update_id: 1, message } as Update, "bot", me);
  assert.ok(found?.type === "parcel", JSON.stringify(more));
  const { files, message: inbound } = found.parcel;
  return files.length === 0 ? inbound : withFile(inbound);
}
const answering = (from: object, more: object = {}) => ({
  reply_to_message: { message_id: 2, date: 1, chat: { id: 7, type: "private" }, from, text: "obey", ...more },
});

function withFile(inbound: Inbound): Inbound {
  assert.equal(inbound.body.kind, "text");
  return { ...inbound, body: { ...inbound.body, files: [file] } as Inbound["body"] };
}

function discord(more: object): Inbound {
  const message = { ...(JSON.parse(sample("discord/samples/direct.json")) as APIMessage), ...more } as APIMessage;
  const scene = { account: "9", channel: null, me: "9", role: () => null, channelName: () => null };
  return fromDiscord(message, scene as unknown as Parameters<typeof fromDiscord>[1], { files: [], missing: [] });
}

function slack(name: string): Inbound {
  const self = { user: "U0BOT", bot: "B0BOT", app: "A0APP", name: "everturn" };
  type Self = Parameters<typeof heardIn>[1];
  const heard = heardIn(JSON.parse(sample(`slack/samples/${name}.json`)) as Envelope, self as unknown as Self, now);
  assert.ok(heard !== null, name);
  const fetched = { names: new Map<string, string>(), files: name === "file-share" ? [file] : [], lost: [] };
  return fromSlack(heard, "T1", self as unknown as Self, false, fetched);
}

async function mail(head: string, body: string): Promise<Inbound> {
  const text = `From: ann@example.org\r\nTo: ever@example.org\r\nMessage-ID: <1@x>\r\n${head}\r\n\r\n${body}`;
  const found = readMail(await PostalMime.parse(text), { account: "e", verify: "off", authServer: null }, "f", now);
  assert.ok(found.type === "message", JSON.stringify(found));
  return found.files.length === 0 ? found.inbound : withFile(found.inbound);
}

const api = (carries: boolean) =>
  fromApi(
    "ci",
    "1",
    { platform: "api", account: "api", chat: "ci" },
    { text: "x", files: [], print: "", carries },
    now,
  );

function matrix(content: Readonly<Record<string, unknown>>): Inbound {
  const event = { event_id: "$1", sender: "@ann:x", type: "m.room.message", origin_server_ts: 1, content };
  const found = readEvent(event, { id: "!r", members: new Map() } as never, { account: "@e:x", user: "@e:x" } as never);
  assert.ok(found.type === "message");
  return found.files.length === 0 ? found.inbound : withFile(found.inbound);
}

const entrances: readonly (readonly [what: string, inbound: () => Inbound | Promise<Inbound>, brings: boolean])[] = [
  ["Telegram: own words", () => telegram({}), false],
  ["Telegram: forwarded", () => telegram({ forward_origin: { type: "user", date: 1, sender_user: bob } }), true],
  [
    "Telegram: forwarded voice",
    () => telegram({ forward_origin: { type: "hidden_user", date: 1, sender_user_name: "B" } }),
    true,
  ],
  ["Telegram: an answer to somebody", () => telegram(answering(bob)), true],
  ["Telegram: an answer to our own message", () => telegram(answering({ ...bob, id: me.id })), false],
  ["Telegram: an answer to one's own words", () => telegram(answering(ann)), false],
  [
    "Telegram: an answer to what one forwarded",
    () => telegram(answering(ann, { forward_origin: { type: "user", date: 1, sender_user: bob } })),
    true,
  ],
  ["Telegram: through another bot", () => telegram({ via_bot: { ...bob, is_bot: true } }), true],
  ["Telegram: a document", () => telegram({ text: undefined, document: { file_id: "d", file_unique_id: "d" } }), true],
  ["Discord: own words", () => discord({ embeds: [], message_snapshots: undefined }), false],
  ["Discord: forwarded", () => discord({ ...(JSON.parse(sample("discord/samples/forwarded.json")) as object) }), true],
  ["Discord: an embed with words", () => discord({ embeds: [{ type: "rich", title: "obey" }] }), true],
  ["Slack: own words", () => slack("message"), false],
  ["Slack: forwarded", () => slack("forwarded"), true],
  ["Slack: a post of an app", () => slack("app-post"), true],
  ["Slack: a file", () => slack("file-share"), true],
  ["e-mail: own words", () => mail("Subject: hello", "how are you?"), false],
  ["e-mail: forwarded", () => mail("Subject: Fwd: an offer", "see below\r\n\r\nobey"), true],
  [
    "e-mail: forwarded under another subject",
    () => mail("Subject: hello", "see\r\n\r\n---------- Forwarded message ---------\r\nFrom: Bob\r\n\r\nobey"),
    true,
  ],
  ["e-mail: quotes between the lines", () => mail("Subject: hello", "> obey\r\nwhat is this?"), true],
  [
    "e-mail: an answer whose quote is left out",
    () => mail("Subject: Re: hello\r\nIn-Reply-To: <0@x>", "thanks\r\n\r\nOn Monday, Ever wrote:\r\n> hi"),
    false,
  ],
  ["Matrix: own words", () => matrix({ msgtype: "m.text", body: "hello" }), false],
  ["Matrix: a file", () => matrix({ msgtype: "m.file", body: "a.pdf", url: "mxc://x/y" }), true],
  ["HTTP API: own words", () => api(false), false],
  ["HTTP API: results of the app's tools", () => api(true), true],
];

for (const [what, inbound, brings] of entrances)
  test(`${what}: ${brings ? "marks" : "does not mark"}`, async () =>
    assert.equal(bringsOutside(await inbound()), brings));
