// Every command, word and button × every party, taken from the tables that the gateway itself uses: a new command or word
// is tried for everybody here without a line being written.

import assert from "node:assert/strict";
import { type TestContext, describe, test } from "node:test";
import type { AccessRules } from "../../src/core/access/access.ts";
import { type Verdict, approvalChoices, approvalWords, readApproval } from "../../src/core/approval.ts";
import type { BootId } from "../../src/core/ids.ts";
import type { Body, Inbound } from "../../src/core/message.ts";
import { type CommandName, commandRoles, commands } from "../../src/core/route.ts";
import { type Stage, type StageOptions, at, stage } from "../stop/stage.ts";
import { agentOf, calling, fine, tool } from "../turns/agents.ts";
import { hand, message } from "./people.ts";

type PartyCase = {
  readonly sender: string;
  readonly platform: string;
  /** In a chat of several people. */
  readonly inGroup?: true;
  readonly commands: boolean;
  readonly approves: boolean;
  /** Not heard at all. */
  readonly isUnknown?: true;
};

const parties: Readonly<Record<string, PartyCase>> = {
  "owner on the page": { sender: "you", platform: "web", commands: true, approves: true },
  "owner at the API": { sender: "owner", platform: "api", commands: true, approves: true },
  admin: { sender: "boss", platform: "chat", commands: true, approves: true },
  "admin in a group": { sender: "boss", platform: "chat", inGroup: true, commands: true, approves: true },
  "paired admin": { sender: "paula", platform: "chat", commands: true, approves: true },
  approver: { sender: "april", platform: "chat", commands: false, approves: true },
  "approver in a group": { sender: "april", platform: "chat", inGroup: true, commands: false, approves: true },
  "allowed person": { sender: "ann", platform: "chat", commands: false, approves: false },
  "guest in a group": { sender: "ann", platform: "chat", inGroup: true, commands: false, approves: false },
  "API key": { sender: "ci", platform: "api", commands: false, approves: false },
  "API key named operator": { sender: "operator", platform: "api", commands: false, approves: false },
  "API key with the role approver": { sender: "release", platform: "api", commands: false, approves: true },
  webhook: { sender: "repo", platform: "hooks", commands: false, approves: false },
  "webhook of an admin": { sender: "own", platform: "hooks", commands: false, approves: false },
  "mail of a person": { sender: "ann@example.org", platform: "email", commands: false, approves: false },
  "mail of an admin": { sender: "boss@example.org", platform: "email", commands: false, approves: false },
  "unknown sender": { sender: "eve", platform: "chat", commands: false, approves: false, isUnknown: true },
  "unknown sender in a group": {
    sender: "eve",
    platform: "chat",
    inGroup: true,
    commands: false,
    approves: false,
    isUnknown: true,
  },
};

const rules: AccessRules = { allow: ["*"], groups: "mention", chats: {}, pairing: false };
const people: AccessRules = { ...rules, allow: ["ann", "gus", "april"] };
const settings = {
  web: { admins: ["*"] },
  api: { access: rules, admins: ["owner", "ci"], approvers: ["release"] },
  chat: { access: people, admins: ["boss"], approvers: ["april"] },
  hooks: { access: rules, admins: ["own"], approvers: ["repo"] },
  email: { access: rules, admins: ["boss@example.org"], approvers: ["ann@example.org"] },
} satisfies StageOptions["settings"];
const platforms = Object.fromEntries(Object.keys(settings).map((name) => [name, {}]));

const leave: Verdict = { type: "approve", why: "it deletes", what: "rm", bound: "b", subject: "rm" };

async function open(t: TestContext): Promise<Stage> {
  const on = await stage(t);
  const agent = agentOf([tool("rm", "once", () => fine, { vet: async () => leave })], [calling("rm")]);
  const prepareRestart = () => Promise.reject(new Error("not in this test"));
  const one = await on.start({ platforms, settings, agent, prepareRestart });
  const paired = {
    platform: "chat",
    account: "bot",
    sender: "paula",
    name: null,
    admin: true,
    by: "test",
    at: on.clock.now(),
  };
  await on.store.commit([{ put: "paired", paired }], one.gateway.status().boot as BootId);
  return on;
}

let chats = 0;
type Says = (said: string | Body) => Promise<string>;

/** Somebody in a conversation of their own; answers what the platform is told. */
function speaker(on: Stage, { sender, platform, inGroup }: PartyCase, chat = `c${++chats}`) {
  const more: Partial<Inbound> = { from: at(chat, { platform }), ...(inGroup ? { group: { called: true } } : {}) };
  const says: Says = (said) => hand(on, message(sender, said, more));
  const heard = () => (on.servers.get(platform)?.sent ?? []).filter(({ to }) => to.chat === chat);
  return { says, heard, chat };
}

async function untilOpen(on: Stage, heard: ReturnType<typeof speaker>["heard"]): Promise<string> {
  const question = () => heard().find((item) => item.question !== undefined)?.question?.id;
  await on.until(() => question() !== undefined, "a question");
  return question() ?? "";
}

const isOpen = async (on: Stage, question: string) => (await on.store.waitingFor(question)) !== null;

type Way = { readonly said: (question: string) => string | Body; readonly allows: boolean };

/** Every way to decide, from the tables themselves. */
const presses: readonly (readonly [string, Way])[] = approvalChoices.map((choice) => [
  `button ${choice}`,
  { said: (question) => ({ kind: "answer", question, choice }), allows: choice !== "deny" },
]);
const words: readonly (readonly [string, Way])[] = approvalWords.map((word) => [
  `word ${word}`,
  { said: () => word, allows: readApproval(word) !== "deny" },
]);
const orders: readonly (readonly [string, Way])[] = ["/approve", "/approve always", "/deny", "/deny not now"].map(
  (text) => [text, { said: () => text, allows: text.startsWith("/approve") }],
);

describe("who decides", { concurrency: false }, () => {
  for (const [name, party] of Object.entries(parties)) {
    test(`${name}: about their own request`, async (t) => {
      const on = await open(t);
      for (const [what, { said, allows }] of [...presses, ...words, ...orders]) {
        const { says, heard } = speaker(on, party);
        if (party.isUnknown) {
          assert.equal(await says("clean up"), "ignored");
          continue;
        }
        assert.equal(await says("clean up"), "accepted", what);
        const question = await untilOpen(on, heard);
        await says(said(question));
        await on.pass(1_000);
        // Whoever asked may always withdraw it.
        assert.equal(await isOpen(on, question), allows && !party.approves, what);
      }
    });

    test(`${name}: about the request of somebody else in a group`, async (t) => {
      const on = await open(t);
      const isThere = party.inGroup === true;
      for (const [what, { said }] of [...presses, ...orders, ...(isThere ? words : [])]) {
        const guest = speaker(on, { ...party, platform: "chat", sender: "gus", inGroup: true });
        assert.equal(await guest.says("clean up"), "accepted");
        const question = await untilOpen(on, guest.heard);
        const own = speaker(on, party, isThere ? guest.chat : undefined);
        // Before they have written, no approver can be reached in a private chat; then a command is about nothing.
        await own.says("/whoami");
        const before = own.heard().length;
        await own.says(said(question));
        await on.pass(1_000);
        const counts = party.approves && (isThere || what.startsWith("button"));
        assert.equal(await isOpen(on, question), !counts, what);
        if (!party.isUnknown) assert.ok(own.heard().length > before, `${what} is answered`);
        // The next round begins without it.
        await speaker(on, parties["admin"] ?? party).says({ kind: "answer", question, choice: "deny" });
        await on.pass(1_000);
      }
    });
  }
});

describe("who commands", { concurrency: false }, () => {
  const names = Object.keys(commands) as readonly CommandName[];
  assert.deepEqual(Object.keys(commandRoles).toSorted(), names.toSorted(), "every command has a role");
  for (const [name, party] of Object.entries(parties)) {
    test(name, async (t) => {
      const on = await open(t);
      for (const command of names) {
        const { says, heard } = speaker(on, party);
        const receipt = await says(`/${command}`);
        if (party.isUnknown) {
          assert.equal(receipt, "ignored", command);
          continue;
        }
        await on.until(() => heard().length > 0, `an answer to /${command}`);
        const isRefused = /^Only admins of \w+ may use/.test(heard()[0]?.text ?? "");
        assert.equal(
          isRefused,
          commandRoles[command] === "admin" && !party.commands,
          `/${command}: ${heard()[0]?.text}`,
        );
      }
    });
  }
});
