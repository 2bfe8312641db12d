import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { limits } from "../../core/limits.ts";
import type { MatrixEvent, Sync } from "./api.ts";
import { type Read, type Room, readEvent } from "./inbound.ts";

const sync = JSON.parse(readFileSync(join(import.meta.dirname, "samples", "sync.json"), "utf8")) as Sync;
const id = "!team:example.org";
const events = sync.rooms?.join?.[id]?.timeline?.events ?? [];
const people = (...users: readonly string[]) => new Map(users.map((user) => [user, user === helper ? "Helper" : user]));
const helper = "@helper:example.org";
const self = { user: helper, account: helper };
const team: Room = { id, members: people(helper, "@ann:example.org", "@bob:example.org") };
const pair: Room = { id, members: people(helper, "@ann:example.org") };

const sample = (event: string): MatrixEvent => events.find((one) => one.event_id === event) as MatrixEvent;
const read = (event: string, room = team): Read => readEvent(sample(event), room, self);
const textOf = (found: Read) =>
  found.type === "message" && found.inbound.body.kind === "text" ? found.inbound.body.text : found.type;

test("what each event of a room says", () => {
  const rows: readonly (readonly [event: string, text: string, called: boolean | null])[] = [
    ["$plain", "hello all", false],
    ["$mention", "what time is it?", true],
    ["$thread", "and now?", true],
    ["$edit", "what day is it?", true],
    ["$reply", "thanks", true],
    ["$picture", "what is this?", false],
    ["$voice", "", false],
    ["$notice", "build 12 failed", false],
    ["$own", "nothing", null],
    ["$secret", "encrypted", null],
    ["$gone", "nothing", null],
    ["$member", "nothing", null],
  ];
  for (const [event, text, called] of rows) {
    const found = read(event);
    assert.equal(textOf(found), text, event);
    if (found.type === "message") assert.equal(found.inbound.group?.called, called, event);
    else assert.equal(called, null, event);
  }
});

test("where it is from, who wrote it, and how an answer is anchored", () => {
  const found = read("$mention");
  assert.equal(found.type, "message");
  if (found.type !== "message") return;
  assert.deepEqual(found.inbound, {
    key: "$mention",
    from: { platform: "matrix", account: helper, chat: id },
    sender: "@ann:example.org",
    body: { kind: "text", text: "what time is it?", files: [] },
    sentAt: 1_726_000_001_000,
    anchor: "$mention",
    hints: { reply_to: "$mention" },
    group: { called: true },
  });
});

test("a thread is a place of its own, an edit names what it replaces, a program is known as one", () => {
  const [thread, edit, notice] = ["$thread", "$edit", "$notice"].map((event) => read(event));
  assert.ok(thread?.type === "message" && thread.inbound.from.thread === "$mention");
  assert.ok(edit?.type === "message" && edit.inbound.replaces === "$mention" && edit.inbound.key === "$edit");
  assert.ok(notice?.type === "message" && notice.inbound.isBot === true);
});

test("a room of two is no group", () => {
  const found = read("$plain", pair);
  assert.ok(found.type === "message" && found.inbound.group === undefined);
});

test("files are named with what is known of them", () => {
  const found = read("$picture");
  assert.ok(found.type === "message");
  const picture = { mxc: "mxc://example.org/abc123", name: "cat.png", mime: "image/png", bytes: 20_480 };
  assert.deepEqual(found.type === "message" ? found.files : [], [picture]);
});

test("nothing that a stranger can put into an event is more than ignored", () => {
  const odd: readonly unknown[] = [
    { msgtype: "m.text" },
    { msgtype: "m.text", body: 7 },
    { msgtype: "m.text", body: " " },
    { msgtype: "m.image", body: "x" },
    { msgtype: "m.image", body: "x", url: 7, info: "y" },
    { msgtype: 7, body: "x" },
    { msgtype: "m.text", body: "x", "m.relates_to": "y", "m.mentions": { user_ids: "z" } },
    { msgtype: "m.text", body: "x", "m.relates_to": { rel_type: "m.replace", event_id: "$e" } },
    { msgtype: "__proto__", body: "x" },
  ];
  for (const content of odd) {
    const event = { type: "m.room.message", event_id: "$x", sender: "@eve:example.org", content } as MatrixEvent;
    const found = readEvent(event, team, self);
    if (found.type === "message") assert.equal(found.inbound.key.length <= limits.keyMax, true);
  }
});
