// Who may speak: one row per case. Whatever is not said here is refused.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { anInbound } from "../../testing/samples.ts";
import { limits } from "../limits.ts";
import { type AccessRules, type Ask, isAdmin, isTheirs, judgeAccess, placeOf, senderOf } from "./access.ts";

const closed: AccessRules = { allow: [], groups: "mention", chats: {}, pairing: true };

function judged(more: {
  rules?: Partial<AccessRules>;
  sender?: Partial<Ask["sender"]>;
  chat?: string;
  group?: { called: boolean };
  admins?: readonly string[];
  known?: Ask["known"];
  botsInARow?: number;
}): string {
  const { rules, sender, chat = "c", group = null, admins = [], known = null, botsInARow = 0 } = more;
  const answer = judgeAccess({
    sender: { id: "7", isBot: false, ...sender },
    place: { chat, group },
    rules: { ...closed, ...rules },
    admins,
    known,
    botsInARow,
  });
  return answer.type === "ignore" ? answer.why : answer.type;
}

const called = { called: true };
const uncalled = { called: false };
const stranger = "a stranger in a group";
const bot = "a bot that is not allowed by its id";

const cases: readonly (readonly [what: string, ask: Parameters<typeof judged>[0], answer: string])[] = [
  ["nobody is allowed by default; alone with us a stranger gets a code", {}, "pair"],
  ["without pairing a stranger is not heard", { rules: { pairing: false } }, "a stranger, and pairing is switched off"],
  ["in a group a stranger is not heard", { group: called }, stranger],
  ["an id that is allowed", { rules: { allow: ["7"] } }, "speak"],
  ["an id that only begins like one", { rules: { allow: ["77"] } }, "pair"],
  ["everybody", { rules: { allow: ["*"] } }, "speak"],
  ["everybody, in a group", { rules: { allow: ["*"] }, group: called }, "speak"],
  ["a name", { rules: { allow: ["Ann"] }, sender: { name: "ann" } }, "speak"],
  ["a name with its sign", { rules: { allow: ["@ann"] }, sender: { name: "Ann" } }, "speak"],
  ["somebody who was let in", { known: { admin: false } }, "speak"],
  ["the same in a group", { known: { admin: false }, group: called }, "speak"],
  ["an admin, by id", { admins: ["7"] }, "speak"],
  ["an admin, by name", { admins: ["ann"], sender: { name: "ann" } }, "speak"],
  ["an admin who was let in", { known: { admin: true }, rules: { chats: { c: { allow: [] } } } }, "speak"],
  ["that everybody is an admin lets nobody in", { admins: ["*"] }, "pair"],

  ["a group: what is not meant for us", { rules: { allow: ["7"] }, group: uncalled }, "it was not meant for us"],
  ["not even from an admin", { admins: ["7"], group: uncalled }, "it was not meant for us"],
  ["a group where all is meant for us", { rules: { allow: ["7"], groups: "all" }, group: uncalled }, "speak"],
  ["its strangers", { rules: { groups: "all" }, group: uncalled }, stranger],
  ["groups switched off", { rules: { allow: ["*"], groups: "off" }, group: called }, "groups are switched off"],
  ["which says nothing of chats of two", { rules: { allow: ["*"], groups: "off" } }, "speak"],

  ["a list of its own for a chat", { rules: { chats: { c: { allow: ["7"] } } }, group: called }, "speak"],
  ["which is not for others", { rules: { chats: { d: { allow: ["7"] } } }, group: called }, stranger],
  [
    "and takes the place of the platform's",
    { rules: { allow: ["7"], chats: { c: { allow: ["8"] } } }, group: called },
    stranger,
  ],
  [
    "also for those who were let in",
    { rules: { chats: { c: { allow: ["8"] } } }, known: { admin: false }, group: called },
    stranger,
  ],
  [
    "where a code would help nobody, none is given",
    { rules: { chats: { c: { allow: ["8"] } } } },
    "a stranger where only those may speak who are named",
  ],
  [
    "a way of its own for a group",
    { rules: { allow: ["*"], chats: { c: { groups: "all" } } }, group: uncalled },
    "speak",
  ],
  [
    "one group switched on",
    { rules: { allow: ["*"], groups: "off", chats: { c: { groups: "mention" } } }, group: called },
    "speak",
  ],
  [
    "a chat named like a part of every object",
    { rules: { allow: ["*"] }, chat: "constructor", group: uncalled },
    "it was not meant for us",
  ],
  ["and another", { chat: "__proto__", group: called }, stranger],

  ["a bot", { sender: { isBot: true } }, bot],
  ["a bot, where everybody is allowed", { rules: { allow: ["*"] }, sender: { isBot: true } }, bot],
  ["a bot by its name", { rules: { allow: ["helpful"] }, sender: { isBot: true, name: "helpful" } }, bot],
  ["a bot that was let in", { sender: { isBot: true }, known: { admin: true } }, bot],
  ["a bot among the admins", { sender: { isBot: true }, admins: ["7"] }, bot],
  ["a bot by its id", { rules: { allow: ["7"] }, sender: { isBot: true }, group: called }, "speak"],
  ["a bot whose id is a star", { rules: { allow: ["*"] }, sender: { isBot: true, id: "*" } }, bot],
  [
    "bots that only talk to each other",
    { rules: { allow: ["7"] }, sender: { isBot: true }, group: called, botsInARow: limits.botsInARowMax },
    "bots talk to each other without a human",
  ],
  ["of which a human hears nothing", { rules: { allow: ["7"] }, botsInARow: 99 }, "speak"],
];

describe("who may speak", () => {
  for (const [what, ask, answer] of cases) test(what, () => assert.equal(judged(ask), answer));
});

/** Entry of a list, what somebody is, whether it is them. */
const matches: readonly (readonly [entry: string, id: string, name: string | undefined, is: boolean])[] = [
  ["12345678", "12345678", undefined, true],
  // A name is no id, whatever it looks like.
  ["12345678", "666", "12345678", false],
  ["+49151234", "666", "+49151234", false],
  ["-1001234", "666", "-1001234", false],
  ["@12345678", "666", "12345678", true],
  ["U024BE7LH", "666", "u024be7lh", false],
  ["U024BE7LH", "U024BE7LH", undefined, true],
  ["u024be7lh", "U024BE7LH", undefined, false],
  ["@ann:example.org", "@ann:example.org", "Ann", true],
  ["@ann:example.org", "@eve:evil.example", "@ann:example.org", false],
  ["ann@example.org", "eve@evil.example", "ann@example.org", false],
  ["ann", "666", "@ann", true],
  ["ANN", "666", "ann", true],
  ["Ärger", "666", "ärger", true],
  ["ann", "666", undefined, false],
  ["", "666", "", false],
  ["@", "666", "@", false],
  ["ann", "666", "ann ", false],
  // Look-alikes: Cyrillic а, Kelvin sign, dotless and long letters, marks that cannot be seen, wide letters.
  ["ann", "666", "аnn", false],
  ["kim", "666", "\u212aim", false],
  ["KIM", "666", "\u212aIM", false],
  ["iris", "666", "ırıs", false],
  ["sam", "666", "ſam", false],
  ["ann", "666", "ann\u200b", false],
  ["ann", "666", "\u202eann", false],
  ["ann", "666", "ａｎｎ", false],
  ["straße", "666", "strasse", false],
];

describe("ids and names", () => {
  for (const [entry, id, name, is] of matches) {
    test(`"${entry}" and ${id}, ${JSON.stringify(name)}`, () => {
      assert.equal(isTheirs(name === undefined ? { id } : { id, name }, entry), is);
    });
  }

  test("somebody called * is like everybody else", () => {
    for (const sender of [{ id: "666", name: "*" }, { id: "*" }, { id: "*", name: "*" }]) {
      assert.equal(judged({ sender, rules: { allow: ["7", "ann"] }, admins: ["7"] }), "pair");
      assert.equal(judged({ sender, rules: { allow: ["*"] }, group: called }), "speak");
      assert.equal(isAdmin(sender, ["7"], null), false);
    }
    assert.equal(judged({ sender: { id: "*" }, admins: ["*"] }), "pair");
  });
});

test("admins: named, let in as such, or everybody who may speak", () => {
  assert.equal(isAdmin({ id: "7" }, [], null), false);
  assert.equal(isAdmin({ id: "7" }, ["7"], null), true);
  assert.equal(isAdmin({ id: "7", name: "Ann" }, ["@ann"], null), true);
  assert.equal(isAdmin({ id: "7" }, ["*"], null), true);
  assert.equal(isAdmin({ id: "7" }, [], { admin: false }), false);
  assert.equal(isAdmin({ id: "7" }, [], { admin: true }), true);
});

test("presses and commands of the platform are meant for us, words only when it says so", () => {
  const group = uncalled;
  const called = (more: Parameters<typeof anInbound>[1]) => placeOf(anInbound("x", more)).group?.called;
  assert.equal(called({}), undefined);
  assert.equal(called({ group }), false);
  assert.equal(called({ group: { called: true } }), true);
  assert.equal(called({ group, body: { kind: "answer", question: "q", choice: "a" } }), true);
  assert.equal(called({ group, body: { kind: "command", name: "stop", rest: "" } }), true);
  assert.deepEqual(senderOf(anInbound("x", { sender: "7", name: "ann", isBot: true })), {
    id: "7",
    name: "ann",
    isBot: true,
  });
  assert.deepEqual(senderOf(anInbound("x", { sender: "7" })), { id: "7", isBot: false });
});
