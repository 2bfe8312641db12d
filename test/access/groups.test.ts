// Chats of several people: strangers are not heard, whatever they press or command; what is not meant for us is left alone;
// bots that only talk to each other are cut off; and only admins command the gateway itself.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Verdict } from "../../src/core/approval.ts";
import { limits } from "../../src/core/limits.ts";
import type { Inbound } from "../../src/core/message.ts";
import { at, stage } from "../stop/stage.ts";
import { agentOf, calling, fine, tool, untilAsked } from "../turns/agents.ts";
import { asking, counting, hand, inGroup, message, seenBy, talk, web, write } from "./people.ts";

const moved = (value: string) => ({ put: "cursor", platform: "chat", account: "bot", value });

test("what is ignored moves the cursor and leaves nothing else behind", async (t) => {
  const on = await stage(t);
  const { store, changes } = counting(on);
  await on.start({ ...asking({ allow: ["ann", "robot"] }), store });
  const before = changes.length;
  const ignored: readonly Inbound[] = [
    message("eve", "hello bot", inGroup(true)),
    message("eve", "/help", inGroup(true)),
    message("eve", { kind: "command", name: "restart", rest: "" }, inGroup(false)),
    message("eve", { kind: "answer", question: "q", choice: "approve" }, inGroup(false)),
    message("eve", "", inGroup(true)),
    message("eve", "x".repeat(limits.textMax + 1), inGroup(true)),
    message("ann", "so I said to Bob", inGroup(false)),
    message("boss", "let us have lunch", inGroup(false)),
    message("bot2", "beep", { ...inGroup(true), isBot: true }),
    message("bot2", "beep", { isBot: true }),
    message("eve", "new words", { replaces: "p1" }),
  ];
  for (const [n, one] of ignored.entries()) assert.equal(await hand(on, one, `c${n}`), "ignored", one.sender);
  assert.equal(await write(on, "eve", "hello bot", inGroup(true)), "ignored");
  assert.deepEqual(
    changes.slice(before),
    ignored.map((_, n) => moved(`c${n}`)),
  );
  assert.deepEqual(await on.store.sessions({ limit: 9 }), []);
  assert.deepEqual(on.servers.get("chat")?.sent, []);
});

test("who may speak is answered in a group when it is meant for us, or wherever all is", async (t) => {
  const on = await stage(t);
  await on.start(asking({ allow: ["ann"], chats: { open: { groups: "all" }, mute: { groups: "off" } } }));
  assert.equal(await talk(on, "ann", "hi", inGroup(true)), "answer to hi");
  assert.equal(await talk(on, "ann", "hi", inGroup(false, { from: at("open") })), "answer to hi");
  assert.equal(await write(on, "ann", "hi", inGroup(true, { from: at("mute") })), "ignored");
  assert.equal(await talk(on, "boss", "/status", inGroup(true)), "I am not working on anything here. Nothing waits.");
});

const leave: Verdict = { type: "approve", why: "it deletes", what: "rm", bound: "b", subject: "rm" };

test("buttons and words of strangers and guests decide nothing; approvers decide", async (t) => {
  const on = await stage(t);
  let ran = 0;
  const rm = tool("rm", "once", () => (ran++, fine), { vet: async () => leave });
  await on.start(asking({ allow: ["ann", "bea"] }, { agent: agentOf([rm], [calling("rm")]) }));
  assert.equal(await write(on, "ann", "clean up", inGroup(true)), "accepted");
  const { question } = await untilAsked(on);
  const press = { kind: "answer", question: question.id, choice: "approve" } as const;
  for (const sender of ["eve", "*", "Ann", "аnn"]) {
    assert.equal(await write(on, sender, press, inGroup(false)), "ignored", sender);
    for (const text of ["yes", "always", "/approve", "/approve always", "/deny"])
      assert.equal(await write(on, sender, text, inGroup(true)), "ignored", `${sender}: ${text}`);
  }
  assert.equal(await write(on, "eve", press, { ...inGroup(true), isBot: true }), "ignored");
  // Alone with us, a stranger who knows the question is a stranger who gets a code.
  assert.equal(await write(on, "eve", press), "accepted");
  await on.pass(60_000);
  assert.equal(ran, 0);
  assert.equal(await write(on, "ann", "yes", inGroup(false)), "ignored", "not meant for us");
  const refusal = "Only approvers may allow this. The owner decides with `everturn approvals`.";
  for (const sender of ["ann", "bea"])
    for (const text of ["yes", "always", "/approve", "/approve always"])
      assert.equal(await talk(on, sender, text, inGroup(true)), refusal, `${sender}: ${text}`);
  assert.match(await talk(on, "bea", "/deny", inGroup(true)), /^That question is for somebody else/);
  assert.equal(await write(on, "bea", press, inGroup(false)), "ignored");
  await on.pass(60_000);
  assert.equal(ran, 0);
  assert.equal(await write(on, "boss", press, inGroup(false)), "accepted");
  await on.until(() => ran === 1, "the call");
});

test("only admins restart the gateway, choose its home and let people in, in a group as elsewhere", async (t) => {
  const on = await stage(t);
  const prepareRestart = async () => undefined;
  const one = await on.start(asking({ allow: ["ann", "12345678"] }, { prepareRestart }));
  for (const text of ["/restart", "/sethome", "/pair"]) {
    assert.match(await talk(on, "ann", text, inGroup(true)), new RegExp(`^Only admins of chat may use ${text},`));
    assert.match(await talk(on, "ann", text), new RegExp(`may use ${text}, and ann is not one of them`));
    // Being called like an admin's id, or like everybody, makes nobody one.
    assert.match(await talk(on, "12345678", text, { name: "*" }), /is not one of them/);
  }
  assert.equal(await write(on, "boss", "/restart", inGroup(true)), "accepted");
  await on.until(() => one.ending !== null, "the restart");
});

test("bots are heard by their id alone, and cut off when only they talk", async (t) => {
  const on = await stage(t);
  const bot = { ...inGroup(true), isBot: true } as const;
  const settings = asking({ allow: ["robot", "ann", "*"] });
  const one = await on.start(settings);
  assert.equal(await write(on, "stranger", "beep", bot), "ignored", "everybody is every human");
  for (let n = 0; n < limits.botsInARowMax; n++) assert.equal(await talk(on, "robot", "beep", bot), "answer to beep");
  for (let n = 0; n < 5; n++) assert.equal(await write(on, "robot", "beep", bot), "ignored");
  assert.equal(await talk(on, "robot", "beep", { ...bot, from: at("elsewhere") }), "answer to beep");
  assert.equal(await write(on, "ann", "ha ha", inGroup(false)), "ignored");
  assert.equal(await write(on, "robot", "beep", bot), "ignored", "what is not meant for us does not count");
  await on.stop(one);
  await on.start(settings);
  assert.equal(await write(on, "robot", "beep", bot), "ignored", "a restart forgets nothing");
  assert.equal(await talk(on, "ann", "go on", inGroup(true)), "answer to go on");
  assert.equal(await on.store.fact("bots:chat/bot/group"), null);
  assert.equal(await talk(on, "robot", "beep", bot), "answer to beep");
});

test("our own clients are not asked, whoever writes there and whatever they are called", async (t) => {
  const on = await stage(t);
  await on.start(asking());
  for (const more of [{}, { isBot: true as const }, { group: { called: false } }])
    assert.equal(await talk(on, "anybody", "hi", { ...web, ...more }), "answer to hi");
  assert.equal(seenBy(on, "mine", "web").length, 3);
});

test("everybody is told how they are known", async (t) => {
  const on = await stage(t);
  await on.start(asking({ allow: ["7"] }));
  assert.equal(await talk(on, "7", "/whoami", { name: "Ann" }), "You are 7 (Ann), writing from chat/bot/with 7.");
  assert.equal(
    await talk(on, "boss", "/whoami"),
    "You are boss, writing from chat/bot/with boss. You are an admin here. You may approve what I ask for.",
  );
});

test("a stranger's key that cannot be kept is not kept", async (t) => {
  const on = await stage(t);
  await on.start(asking());
  for (const key of ["", "k".repeat(limits.keyMax + 1)]) assert.equal(await write(on, "eve", "hi", { key }), "ignored");
  assert.deepEqual(await on.store.pairings(), []);
});
