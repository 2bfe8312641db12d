import assert from "node:assert/strict";
import { test } from "node:test";
import { type StandingFacts, standingOf } from "./standing.ts";

const open = { allow: ["*"], groups: "mention", chats: {}, pairing: true } as const;
const facts: StandingFacts = {
  platform: "telegram",
  sender: { id: "7", name: "ann", isBot: false },
  isGroup: false,
  rules: open,
  admins: [],
  approvers: null,
  known: null,
};
const only = (...allow: string[]) => ({ rules: { ...open, allow } });
const bot = { sender: { id: "7", isBot: true } };
const irc = (id: string) => ({ platform: "irc", sender: { id, name: "ann", isBot: false }, admins: ["ann"] });

test("standing: party, commands and approvals of everybody who may speak", () => {
  const cases: readonly [what: string, Partial<StandingFacts>, string][] = [
    ["our own client", { platform: "web", rules: null, admins: ["*"] }, "owner commands approves"],
    ["anybody where all may speak", {}, "person"],
    ["an admin by id", { admins: ["7"] }, "admin commands approves"],
    ["an admin by name, in a group", { admins: ["@Ann"], isGroup: true }, "admin commands approves"],
    ["somebody else's admin", { admins: ["8"] }, "person"],
    ["admins for everybody: commands only", { admins: ["*"] }, "person commands"],
    ["the same and named", { admins: ["*", "7"] }, "admin commands approves"],
    ["paired", { known: { admin: false } }, "person"],
    ["paired as admin", { known: { admin: true } }, "admin commands approves"],
    ["an approver", { approvers: ["7"], isGroup: true }, "person approves"],
    ["an approver by name", { approvers: ["ann"] }, "person approves"],
    ["approvers never include everybody", { approvers: ["*"] }, "person"],
    ["the only one who may speak", only("7"), "admin approves"],
    ["the only one, by name", only("ann"), "person approves"],
    ["the only one, in a group", { ...only("7"), isGroup: true }, "person"],
    ["the only one, beside an admin", { ...only("7"), admins: ["8"] }, "person"],
    ["the only one, where approvers are listed", { ...only("7"), approvers: [] }, "person"],
    ["one of two", only("7", "8"), "person"],
    ["paired beside the only one", { ...only("8"), known: { admin: false } }, "person"],
    ["a bot that is an admin", { ...bot, admins: ["7"] }, "person"],
    ["a mail of an admin", { platform: "email", admins: ["7"] }, "admin"],
    ["a mail of an approver", { platform: "email", approvers: ["7"] }, "person"],
    ["a webhook", { platform: "hooks", admins: [], approvers: ["7"] }, "person"],
    ["a webhook with the role admin", { platform: "hooks", admins: ["7"], approvers: ["7"] }, "admin"],
    ["the same for somebody", { platform: "hooks", sender: { id: "7/ann", isBot: false }, admins: ["7"] }, "admin"],
    ["one that names an admin", { platform: "hooks", sender: { id: "8/7", isBot: false }, admins: ["7"] }, "person"],
    ["IRC, logged in", irc("account:ann"), "admin commands approves"],
    ["IRC, a nickname", irc("ann!a@host"), "admin commands"],
    ["an API key", { platform: "api", admins: ["owner"], approvers: [] }, "person"],
    ["an API key among the admins", { platform: "api", admins: ["7"], approvers: [] }, "person"],
    ["an API key with the role approver", { platform: "api", approvers: ["7"] }, "person approves"],
    ["an API key called by a name of an approver", { platform: "api", approvers: ["ann"] }, "person"],
    [
      "the control token at the API",
      { platform: "api", sender: { id: "owner", isBot: false } },
      "owner commands approves",
    ],
  ];
  for (const [what, more, expected] of cases) {
    const { party, commands, approves } = standingOf({ ...facts, ...more });
    const words = [party, ...(commands ? ["commands"] : []), ...(approves ? ["approves"] : [])];
    assert.equal(words.join(" "), expected, what);
  }
});
