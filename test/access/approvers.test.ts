// Who approves: what somebody asks who may not allow it goes to the approvers, wherever they are, and is decided once. What
// was allowed for good holds in its conversation, and nobody's turn has more rights than whoever wrote in it.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Verdict } from "../../src/core/approval.ts";
import { limits } from "../../src/core/limits.ts";
import type { OutboxItem } from "../../src/core/outbox.ts";
import type { Requester } from "../../src/core/requester.ts";
import type { DraftMessages } from "../../src/ports/platform.ts";
import { type Stage, stage } from "../stop/stage.ts";
import { agentOf, calling, fine, resultsOf, tool, turnsOf } from "../turns/agents.ts";
import { type Cut, asking, decided, inGroup, message, mortal, seenBy, talk, web, write } from "./people.ts";

const leave: Verdict = { type: "approve", why: "it deletes", what: "rm -r old", bound: "b", subject: "rm" };

/** An agent that removes something in every turn, and a count of how often it did. */
function removing() {
  const made = { ran: 0, by: [] as Requester[] };
  const run = ({ requester }: { readonly requester: Requester }) => {
    made.ran++;
    made.by.push(requester);
    return fine;
  };
  const rm = tool("rm", "once", run, { vet: async () => leave });
  return { made, agent: agentOf([rm], [calling("rm")]) };
}

function questionAt(on: Stage, chat: string, platform = "chat"): OutboxItem | undefined {
  return on.servers.get(platform)?.sent.findLast(({ to, question }) => to.chat === chat && question !== undefined);
}

async function asked(
  on: Stage,
  chat: string,
  platform = "chat",
): Promise<{ readonly id: string; readonly item: OutboxItem }> {
  await on.until(() => questionAt(on, chat, platform) !== undefined, `a question at ${chat}`);
  const item = questionAt(on, chat, platform);
  assert.ok(item?.question);
  return { id: item.question.id, item };
}

const pressing = (question: string, choice: string) => ({ kind: "answer", question, choice }) as const;

test("what a guest asks goes to the approvers and the page, and the guest reads who was asked", async (t) => {
  const on = await stage(t);
  const { made, agent } = removing();
  await on.start(asking({ allow: ["ann", "bea"] }, { agent }));
  await talk(on, "boss", "/whoami");
  await talk(on, "me", "/whoami", web);
  assert.equal(await write(on, "ann", "clean up", { name: "Ann" }), "accepted");
  const own = await asked(on, "with ann");
  assert.match(
    own.item.text,
    /Only approvers may allow this\. I asked boss and the owner on the page\. \/deny withdraws it\.$/,
  );
  assert.doesNotMatch(own.item.text, /Answer \/approve/);
  assert.deepEqual(own.item.question?.choices, ["deny"]);
  const copy = await asked(on, "with boss");
  assert.equal(copy.id, own.id);
  assert.match(
    copy.item.text,
    /^Ann at chat\/bot\/with ann asks for something that needs an approver\.\n\n[\s\S]*rm -r old/,
  );
  assert.deepEqual(copy.item.question?.choices, ["approve", "always", "deny"]);
  assert.equal((await asked(on, "mine", "web")).id, own.id);

  // The requester and others may not, from wherever they try.
  for (const text of ["yes", "/approve", "always"])
    assert.match(
      await talk(on, "ann", text),
      /^Only approvers may allow this\. I asked boss and the owner on the page\./,
    );
  const before = seenBy(on, "with bea").length;
  assert.equal(await write(on, "bea", pressing(own.id, "approve")), "ignored");
  await on.until(() => seenBy(on, "with bea").length > before, "a refusal for bea");
  assert.equal(made.ran, 0);

  assert.equal(await write(on, "boss", pressing(own.id, "approve")), "accepted");
  await on.until(() => made.ran === 1, "the call");
  await on.until(() => seenBy(on, "with boss").some((text) => text === "Allowed by boss. The turn goes on."), "a word");
  await on.until(() => seenBy(on, "with ann").includes("done"), "the answer");
  assert.deepEqual(made.by[0], { party: "person", person: "chat/bot/with ann" });
  assert.match(await talk(on, "boss", "/approve"), /^Nothing waits to be allowed/);
  // Somebody who comes later reads that it is decided.
  const late = seenBy(on, "mine", "web").length;
  assert.equal(await write(on, "me", pressing(own.id, "deny"), web), "ignored");
  await on.until(() => seenBy(on, "mine", "web").length > late, "a word about the past");
  assert.match(seenBy(on, "mine", "web").at(-1) ?? "", /that was answered already, with "approve"/);
});

test("an approver decides by command in their own chat; a bare yes there is a message like any other", async (t) => {
  const on = await stage(t);
  const { made, agent } = removing();
  await on.start(asking({ allow: ["ann"] }, { agent }));
  await talk(on, "boss", "/whoami");
  await write(on, "ann", "clean up");
  await asked(on, "with boss");
  await write(on, "boss", "yes");
  await on.pass(5_000);
  assert.equal(made.ran, 0, "the yes asked for something itself");
  // Two wait now: the approver's own, which is newer in their chat, and the guest's.
  assert.match(await talk(on, "boss", "/approve"), /^That was for: rm -r old\nOne more waits/);
  await on.until(() => made.ran === 1, "the approver's own call");
  assert.equal(made.by[0]?.party, "admin");
  await write(on, "boss", "/deny not today");
  await on.until(() => seenBy(on, "with ann").includes("done"), "the end of the guest's turn");
  assert.equal(made.ran, 1);
  assert.match(JSON.stringify(await resultsOf(on, 1)), /not today/);
});

test("what would run outside of the sandbox is asked of admins, and no other approver allows it", async (t) => {
  const on = await stage(t);
  let ran = 0;
  const grant = { hosts: [], paths: [], credentials: [], outside: true };
  const sudo = tool("sudo", "once", () => (ran++, fine), { vet: async () => ({ ...leave, grant }) });
  const options = asking({ allow: ["ann"] }, { agent: agentOf([sudo], [calling("sudo")]) });
  const chat = { ...options.settings?.["chat"], approvers: ["april"] };
  const rules = { allow: ["ann", "april"], groups: "mention", chats: {}, pairing: false } as const;
  await on.start({ ...options, settings: { ...options.settings, chat: { ...chat, access: rules } } });
  for (const sender of ["boss", "april"]) await talk(on, sender, "/whoami");
  await write(on, "ann", "clean up", inGroup(true));
  const { id, item } = await asked(on, "group");
  assert.match(item.text, /Only admins may allow this\. I asked boss\. \/deny withdraws it\.$/);
  assert.match((await asked(on, "with boss")).item.text, /needs an admin/);
  assert.equal(questionAt(on, "with april"), undefined);
  assert.match(await talk(on, "april", "yes", inGroup(true)), /^Only admins may allow this\. I asked boss\.$/);
  assert.equal(await write(on, "april", pressing(id, "approve"), inGroup(false)), "ignored");
  assert.equal(ran, 0);
  await write(on, "boss", pressing(id, "approve"));
  await on.until(() => ran === 1, "the call");
});

test("a guest who asks again and again does not fill the chats of the approvers", async (t) => {
  const on = await stage(t);
  const { agent } = removing();
  await on.start(asking({ allow: ["ann"] }, { agent }));
  await talk(on, "boss", "/whoami");
  const own = () => seenBy(on, "with ann").length;
  for (let n = 1; n <= limits.routedMax + 2; n++) {
    await write(on, "ann", "clean up");
    await on.until(() => own() === n, `question ${n}`);
  }
  assert.match(seenBy(on, "with ann").at(-1) ?? "", /The owner decides with `everturn approvals`/);
  assert.equal(seenBy(on, "with boss").length, 1 + limits.routedMax);
  assert.equal((await on.store.asked(100)).length, limits.routedMax + 2);
});

test("the requester withdraws what they asked for; another guest cannot", async (t) => {
  const on = await stage(t);
  const { made, agent } = removing();
  await on.start(asking({ allow: ["ann", "bea"] }, { agent }));
  await write(on, "ann", "clean up", inGroup(true));
  await asked(on, "group");
  for (const text of ["no", "/deny"]) assert.match(await talk(on, "bea", text, inGroup(true)), /for somebody else/);
  await write(on, "ann", "no", inGroup(true));
  await on.until(() => seenBy(on, "group").includes("done"), "the end");
  assert.equal(made.ran, 0);
});

test("a plain question in a group is answered by whoever was asked, not by another guest", async (t) => {
  const on = await stage(t);
  const vet = async (): Promise<Verdict> => {
    return { type: "question", text: "Which one?", choices: ["a", "b"], until: (on.clock.now() + 60_000) as never };
  };
  const which = tool("which", "pure", () => fine, { vet });
  await on.start(asking({ allow: ["ann", "bea"] }, { agent: agentOf([which], [calling("which")]) }));
  await write(on, "ann", "choose", inGroup(true));
  const { id } = await asked(on, "group");
  assert.match(await talkPress(on, "bea", id, "a"), /^That question is for somebody else\. It stays open\.$/);
  // Words of somebody else are a message of its own, which waits.
  assert.equal(await write(on, "bea", "b", inGroup(true)), "accepted");
  assert.deepEqual(await resultsOf(on), []);
  await write(on, "ann", "2", inGroup(true));
  await on.until(() => seenBy(on, "group").includes("done"), "the end");
  assert.deepEqual(await resultsOf(on), [{ type: "ok", output: "b" }]);
});

async function talkPress(on: Stage, sender: string, id: string, choice: string): Promise<string> {
  const before = seenBy(on, "group").length;
  assert.equal(await write(on, sender, pressing(id, choice), inGroup(false)), "ignored");
  await on.until(() => seenBy(on, "group").length > before, "an answer to the press");
  return seenBy(on, "group").at(-1) ?? "";
}

test("always holds in its conversation, until the owner makes it general", async (t) => {
  const on = await stage(t);
  const { made, agent } = removing();
  const one = await on.start(asking({ allow: ["ann", "bea"] }, { agent }));
  await write(on, "ann", "clean up", inGroup(true));
  const { id } = await asked(on, "group");
  await write(on, "boss", pressing(id, "always"), inGroup(false));
  await on.until(() => made.ran === 1, "the call");
  await write(on, "bea", "clean up", inGroup(true));
  await on.until(() => made.ran === 2, "the call in the same group");
  await write(on, "bea", "clean up");
  await asked(on, "with bea");
  assert.equal(made.ran, 2, "not in another conversation");
  const [rule] = await on.store.rules();
  assert.deepEqual([rule?.id, rule?.scope, rule?.by], [id, "chat/bot/group", "boss at chat/bot/group"]);
  await decided(on, one.gateway.generalize(id));
  assert.deepEqual(
    (await on.store.rules()).map(({ scope }) => scope),
    ["everywhere"],
  );
  await write(on, "ann", "clean up");
  await on.until(() => made.ran === 3, "the call anywhere");
  await assert.rejects(decided(on, one.gateway.generalize("r0")), /There is no rule r0/);
});

test("where one person alone may speak, they approve in their private chat, and not in a group", async (t) => {
  const on = await stage(t);
  const { made, agent } = removing();
  const options = asking({ allow: ["ann"] }, { agent });
  await on.start({
    ...options,
    settings: { ...options.settings, chat: { ...options.settings?.["chat"], admins: [] } },
  });
  await write(on, "ann", "clean up");
  await asked(on, "with ann");
  await write(on, "ann", "yes");
  await on.until(() => made.ran === 1, "the call");
  await write(on, "ann", "clean up", inGroup(true));
  const { id } = await asked(on, "group");
  assert.match(await talk(on, "ann", "yes", inGroup(true)), /^Only approvers may allow this\. I asked ann\.$/);
  // The same question came to their private chat, where their word counts.
  assert.equal((await asked(on, "with ann")).id, id);
  await write(on, "ann", pressing(id, "approve"));
  await on.until(() => made.ran === 2, "the second call");
});

test("people listed as approvers approve without being admins; a mail and a webhook never do", async (t) => {
  for (const [platform, counts] of [
    ["chat", true],
    ["email", false],
    ["hooks", false],
  ] as const) {
    const on = await stage(t);
    const { made, agent } = removing();
    const access = { allow: ["*"], groups: "mention", chats: {}, pairing: false } as const;
    const settings = { [platform]: { access, admins: [], approvers: ["bea"] } };
    await on.start({ platforms: { [platform]: {} }, settings, agent });
    const from = { platform, account: "bot", chat: "b" };
    await write(on, "bea", "clean up", { from });
    await asked(on, "b", platform);
    await write(on, "bea", "yes", { from });
    await write(on, "bea", "/approve", { from });
    await on.pass(5_000);
    assert.equal(made.ran, counts ? 1 : 0, platform);
  }
});

test("somebody who joins a running turn takes its rights away, also after a crash", async (t) => {
  for (const dies of [false, true]) {
    const on = await stage(t);
    const seen: Requester[] = [];
    const look = tool("look", "pure", ({ requester }) => (seen.push(requester), fine));
    let steps = 0;
    const slowly = async () => {
      if (++steps <= (dies ? 2 : 1)) await pause(on, 5_000);
      return calling("look");
    };
    const agent = agentOf([look], [calling("look"), slowly, slowly]);
    const options = asking({ allow: ["ann"] }, { agent });
    const steer = { ...options.settings?.["chat"], busy: "steer" } as const;
    const all = { ...options, settings: { ...options.settings, chat: steer } };
    const first = await on.start(all);
    await write(on, "boss", "look around", inGroup(true));
    await on.until(() => steps === 1, "the first look");
    await write(on, "ann", "and there", inGroup(true));
    await on.until(() => steps === 2, "the step after the message that joined");
    if (dies) {
      first.life.kill();
      await on.start(all);
    }
    await on.until(() => seenBy(on, "group").includes("done"), "the end");
    assert.deepEqual(
      seen.map(({ party }) => party),
      ["admin", "admin", "person"],
    );
  }
});

function pause(on: Stage, ms: number): Promise<void> {
  return new Promise((resolve) => on.clock.at(on.clock.now() + ms, () => resolve()));
}

test("a reminder has the rights of whoever made it", async (t) => {
  for (const [sender, party] of [
    ["ann", "person"],
    ["boss", "admin"],
  ] as const) {
    const on = await stage(t);
    const seen: Requester[] = [];
    const wake = tool("wake", "once", ({ now }) => {
      return { type: "ok", output: "", wishes: [{ type: "wake", at: (now() + 60_000) as never, text: "look" }] };
    });
    const look = tool("look", "pure", ({ requester }) => (seen.push(requester), fine));
    const agent = agentOf(
      [wake, look],
      [({ input }) => (input.body.kind === "timer" ? calling("look") : calling("wake"))],
    );
    await on.start(asking({ allow: ["ann"] }, { agent }));
    await write(on, sender, "remind me");
    await on.until(() => seen.length === 1, "the reminder");
    const person = party === "person" ? `chat/bot/with ${sender}` : "owner";
    assert.deepEqual(seen, [{ party, person }]);
    const turn = (await turnsOf(on)).at(-1);
    assert.deepEqual(turn?.input.maker, { party, sender });
  }
});

test("where a platform edits, the other copies of a question say what was decided", async (t) => {
  const on = await stage(t);
  const { made, agent } = removing();
  const drafts: DraftMessages = {
    place: async () => ({ type: "accepted", remoteId: "draft" }),
    fill: async (_to, remoteId) => ({ type: "accepted", remoteId }),
    remove: async (_to, remoteId) => ({ type: "accepted", remoteId }),
  };
  const options = asking({ allow: ["ann"] }, { agent });
  const chat = { ...options.settings?.["chat"], admins: ["boss", "chef"] };
  await on.start({
    ...options,
    platforms: { chat: { is: { drafts } }, web: {} },
    settings: { ...options.settings, chat },
  });
  for (const sender of ["boss", "chef"]) await talk(on, sender, "/whoami");
  await write(on, "ann", "clean up");
  const { id, item } = await asked(on, "with chef");
  await asked(on, "with boss");
  await write(on, "boss", pressing(id, "always"));
  await on.until(() => made.ran === 1, "the call");
  const closed = () =>
    on.servers.get("chat")?.sent.find((one) => one.edits !== undefined && one.to.chat === "with chef");
  await on.until(() => closed() !== undefined, "the closed copy");
  assert.equal(closed()?.text, "rm -r old\nAllowed for that conversation by boss.");
  assert.equal(closed()?.question, undefined);
  const stored = await on.store.item(item.id);
  assert.equal(closed()?.edits, stored?.now.state === "delivered" ? stored.now.remoteId : null);
});

test("a question reaches its approver whatever commit the gateway dies at", { timeout: 600_000 }, async (t) => {
  const commits = async (cut: Cut | null): Promise<number> => {
    const on = await stage(t);
    const { made: calls, agent } = removing();
    const options = asking({ allow: ["ann"] }, { agent });
    await on.stop(await begun(on, options));
    const { made, store } = mortal(on, cut);
    made.living = on.live({ ...options, store });
    await on.until(() => made.dead || made.living?.gateway.status().state === "running", "a start");
    if (made.dead) await on.start(options);
    const ask = message("ann", "clean up");
    const handed = async () => void (await on.servers.get("chat")?.accept?.(ask, null));
    void handed();
    await on.until(() => made.dead || questionAt(on, "with boss") !== undefined, "the question or a death");
    if (made.dead && questionAt(on, "with boss") === undefined) {
      if (on.servers.get("chat")?.accept === null) await on.start(options);
      void handed();
    }
    const { id } = await asked(on, "with boss");
    assert.match((await asked(on, "with ann")).item.text, /I asked boss\./);
    const count = made.commits;
    if (on.servers.get("chat")?.accept === null) await on.start(options);
    await write(on, "boss", pressing(id, "approve"));
    await on.until(() => calls.ran === 1, "the call");
    const copies = on.servers.get("chat")?.sent.filter(({ to, question }) => to.chat === "with boss" && question);
    assert.equal(new Set(copies?.map((one) => one.id)).size, 1);
    return count;
  };
  const total = await commits(null);
  assert.ok(total > 3, `${total} commits`);
  for (let commit = 1; commit <= total; commit++)
    for (const when of ["before", "after"] as const) await commits({ commit, when });
});

async function begun(on: Stage, options: Parameters<Stage["start"]>[0]) {
  const one = await on.start(options);
  await talk(on, "boss", "/whoami");
  return one;
}
