import assert from "node:assert/strict";
import { test } from "node:test";
import { table } from "../testing/table.ts";
import { anInbound } from "../testing/samples.ts";
import { type Party, type Requester, requesterOf } from "./requester.ts";
import { type Sharing, personOf, workspaceName } from "./workspace.ts";

const group = { group: { called: true } } as const;
const telegram = { platform: "telegram", account: "bot", chat: "42" };

table(
  "whose workspace a message uses",
  [
    { name: "the page", from: { ...telegram, platform: "web" }, more: {}, person: "owner" },
    { name: "a person", from: telegram, more: {}, person: "telegram/bot/42" },
    { name: "an admin", from: telegram, more: { party: "admin" as Party }, person: "owner" },
    {
      name: "an admin in a group",
      from: telegram,
      more: { party: "admin" as Party, ...group },
      person: "telegram/bot/42",
    },
    { name: "a thread of a group", from: { ...telegram, thread: "7" }, more: group, person: "telegram/bot/42" },
    { name: "a reminder of a person", from: telegram, more: { sender: "timer" }, person: "telegram/bot/42" },
    {
      name: "an API key",
      from: { platform: "api", account: "api", chat: "ci", thread: "a" },
      more: {},
      person: "api/api/ci",
    },
  ],
  async ({ from, more, person }) => assert.equal(requesterOf(anInbound("hello", { from, ...more }), []).person, person),
);

const separate: Sharing = { workspaces: "separate", shareWith: [] };
const guest: Requester = { party: "person", person: "telegram/bot/42" };
table(
  "with whom the owner's workspace is shared",
  [
    { name: "no one by default", sharing: separate, person: guest.person },
    { name: "everybody", sharing: { ...separate, workspaces: "shared" as const }, person: "owner" },
    { name: "one chat", sharing: { ...separate, shareWith: ["telegram/bot/42"] }, person: "owner" },
    { name: "one platform", sharing: { ...separate, shareWith: ["telegram"] }, person: "owner" },
    {
      name: "a chat whose name begins the same",
      sharing: { ...separate, shareWith: ["telegram/bot/4"] },
      person: guest.person,
    },
  ],
  async ({ sharing, person }) => assert.equal(personOf(guest, sharing), person),
);

test("folder names are readable, safe, and different for different persons", () => {
  assert.match(workspaceName("telegram/bot/42"), /^telegram-bot-42-[0-9a-f]{12}$/);
  assert.equal(workspaceName("owner"), "owner");
  const persons = [
    "a/b/c",
    "a/b-c",
    "a-b/c",
    "A/b/c",
    "email/x/../../etc",
    "irc/x/#\u202e",
    "irc/x/😀",
    `m/x/${"y".repeat(999)}`,
  ];
  const names = persons.map(workspaceName);
  assert.equal(new Set(names).size, names.length);
  for (const name of names) assert.match(name, /^[a-z0-9](?:[a-z0-9-]{0,60}[a-z0-9])?$/);
});
