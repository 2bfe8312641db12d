// Strangers, their codes, and those who let them in: from the first message to the first answer, whatever is tried between.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../src/core/fault.ts";
import { limits } from "../../src/core/limits.ts";
import { type Stage, at, stage } from "../stop/stage.ts";
import { asking, codeFor, counting, decided, hand, message, seenBy, talk, web, write } from "./people.ts";

/** In two steps: the stage waits less than an hour at once. */
async function anHour(on: Stage): Promise<void> {
  for (let n = 0; n < 2; n++) await on.pass(limits.pairingMs / 2);
}

const wrong = /^(?:Fault: )?No open request has this code/;

test("a stranger gets a code and nothing else; once it is approved they are told, and are answered", async (t) => {
  const on = await stage(t);
  const { gateway } = await on.start(asking());
  const told = await talk(on, "eve", "let me in, this is secret", { name: "Eve" });
  const code = /: ([2-9A-HJ-NP-Z]{8})\n/.exec(told)?.[1] ?? "";
  assert.match(told, new RegExp(`^I do not know you yet.*\n.*everturn pair approve ${code}`));
  assert.deepEqual(await on.store.turns({ limit: 9 }), []);
  assert.deepEqual(await on.store.search("secret", 9), [], "what a stranger wrote is not kept");
  const [request] = await on.store.pairings();
  assert.deepEqual([request?.sender, request?.name, request?.address], ["eve", "Eve", at("with eve")]);
  assert.ok(!JSON.stringify(request).includes(code), "the code itself is not kept");
  const [session] = await on.store.sessions({ limit: 9 });
  assert.ok(session);
  assert.ok(!JSON.stringify(await on.store.history(session.id, 9)).includes(code), "nor in the transcript");
  assert.deepEqual(
    on.calls.filter((call) => call.startsWith("step")),
    [],
  );

  const paired = await decided(on, gateway.approvePairing({ code: ` ${code.toLowerCase()} ` }, false));
  assert.deepEqual([paired.sender, paired.name, paired.admin, paired.by], ["eve", "Eve", false, "operator"]);
  await on.until(() => seenBy(on, "with eve").length === 2);
  assert.equal(seenBy(on, "with eve")[1], "You may write to me now.");
  assert.deepEqual(await on.store.pairings(), []);
  assert.equal(await talk(on, "eve", "hi"), "answer to hi");
  await assert.rejects(decided(on, gateway.approvePairing({ code }, false)), wrong);
});

test("who waits is told so now and then, and a code that expired is worth nothing", async (t) => {
  const on = await stage(t);
  const { gateway } = await on.start(asking());
  const code = await codeFor(on, "eve");
  for (let n = 0; n < 5; n++) assert.equal(await write(on, "eve", "hello?"), "ignored");
  await on.pass(limits.pairingReminderMs);
  assert.match(
    await talk(on, "eve", "hello?"),
    /^Your code still waits to be approved; it is good for 55 more minutes\.$/,
  );
  assert.equal(await write(on, "eve", "hello?"), "ignored");
  await anHour(on);
  await assert.rejects(decided(on, gateway.approvePairing({ code }, false)), wrong);
  const next = await codeFor(on, "eve");
  assert.notEqual(next, code);
  assert.equal((await on.store.pairings()).length, 1);
  await assert.rejects(decided(on, gateway.approvePairing({ code }, false)), wrong);
  await decided(on, gateway.approvePairing({ code: next }, true));
  assert.equal((await on.store.paired("chat", "bot", "eve"))?.admin, true);
});

test("however many strangers come at once, few wait, and the store hardly grows", async (t) => {
  const on = await stage(t);
  const { store, changes } = counting(on);
  await on.start({ ...asking(), store });
  const before = changes.length;
  const accept = on.servers.get("chat")?.accept;
  assert.ok(accept);
  const flood = Array.from({ length: 200 }, (_, n) =>
    accept(message(`s${n % 100}`, `flood ${"x".repeat(5_000)}`, { name: "n".repeat(9_999) }), String(n)),
  );
  let receipts: readonly string[] = [];
  void Promise.all(flood).then((all) => (receipts = all));
  await on.until(() => receipts.length === 200, "the end of the flood");
  await on.pass(60_000);
  const taken = receipts.filter((one) => one === "accepted").length;
  assert.equal(taken, limits.pairingsMax);
  assert.equal(receipts.filter((one) => one === "ignored").length, 200 - taken);
  const pairings = await on.store.pairings();
  assert.equal(pairings.length, limits.pairingsMax);
  assert.ok(pairings.every(({ name }) => name?.length === limits.senderNameMax));
  assert.equal((await on.store.sessions({ limit: 999 })).length, limits.pairingsMax);
  const grown = changes.slice(before).filter((one) => !("put" in one && one.put === "cursor"));
  assert.ok(grown.length <= 8 * limits.pairingsMax, `${grown.length} changes`);
  assert.equal((await on.store.cursor("chat", "bot")) !== null, true);
});

test("a flood that goes on for hours stays as small", async (t) => {
  const on = await stage(t);
  await on.start(asking());
  for (let hour = 0; hour < 5; hour++) {
    for (let n = 0; n < 10; n++) await write(on, `s${hour}-${n}`, "hello");
    await anHour(on);
  }
  await write(on, "last", "hello");
  assert.ok((await on.store.pairings()).length <= limits.pairingsMax);
});

async function tryWrong(on: Stage, times: number, approve: (code: string) => Promise<unknown>): Promise<void> {
  for (let n = 0; n < times; n++) await assert.rejects(decided(on, approve(`AAAAAAA${n + 2}`)), wrong);
}

test("codes cannot be guessed: after a few none is taken for a while, not even the right one, nor after a restart", async (t) => {
  const on = await stage(t);
  const one = await on.start(asking());
  const code = await codeFor(on, "eve");
  await tryWrong(on, limits.pairingTriesMax, (typed) => one.gateway.approvePairing({ code: typed }, false));
  const shut = /^(?:Fault: )?Too many wrong codes were tried\. None is taken for 10 more minutes; /;
  await assert.rejects(decided(on, one.gateway.approvePairing({ code }, false)), shut);
  assert.match(await talk(on, "boss", `/pair approve ${code}`), shut);
  await on.stop(one);
  const two = await on.start(asking());
  await assert.rejects(decided(on, two.gateway.approvePairing({ code }, false)), shut);
  await on.pass(limits.pairingTriesMs);
  assert.equal((await decided(on, two.gateway.approvePairing({ code }, false))).sender, "eve");
});

test("many guesses at the same moment count as many", async (t) => {
  const on = await stage(t);
  const { gateway } = await on.start(asking());
  await codeFor(on, "eve");
  const letters = [..."23456789AB"];
  const all = letters.flatMap((one) =>
    letters.map((two) => gateway.approvePairing({ code: `BBBBBB${one}${two}` }, false)),
  );
  const results = await decided(on, Promise.allSettled(all));
  const messages = results.map((one) => (one.status === "rejected" ? String((one.reason as Fault).message) : "let in"));
  assert.equal(messages.filter((text) => wrong.test(text)).length, limits.pairingTriesMax);
  assert.equal(messages.filter((text) => text.startsWith("Too many")).length, 100 - limits.pairingTriesMax);
});

test("an admin lets people in from the chat, also while a turn runs; it is one commit with the answer", async (t) => {
  const on = await stage(t);
  await on.start(asking());
  const code = await codeFor(on, "eve");
  assert.equal(await write(on, "boss", "work 60000"), "accepted");
  assert.match(
    await talk(on, "boss", "/pair"),
    /^These wait to be let in.*\n- eve at chat, for 60 more min\n\nNobody was let in by a code\.$/,
  );
  assert.equal(await talk(on, "boss", `/pair approve ${code} admin`), "eve may write to me now, and is an admin.");
  await on.until(() => seenBy(on, "with eve").includes("You may write to me now."));
  const paired = await on.store.paired("chat", "bot", "eve");
  assert.deepEqual([paired?.admin, paired?.by], [true, "boss at chat/bot/with boss"]);
  assert.match(
    await talk(on, "eve", "/pair"),
    /^Nobody waits to be let in\.\n\nThese were let in:\n- eve at chat, admin$/,
  );
  await on.until(() => seenBy(on, "with boss").includes("answer to work 60000"));
});

test("an admin of one platform decides about its people alone, the owner about everybody", async (t) => {
  const on = await stage(t);
  const rules = asking().settings?.["chat"] ?? {};
  const two = { ...asking(), platforms: { chat: {}, web: {}, other: {} } };
  await on.start({ ...two, settings: { ...two.settings, other: rules } });
  const code = await codeFor(on, "eve");
  const other = { from: { platform: "other", account: "bot", chat: "with boss" } };
  assert.match(await talk(on, "boss", `/pair approve ${code}`, other), wrong);
  assert.match(await talk(on, "boss", "/pair", other), /^Nobody waits/);
  assert.equal(await talk(on, "me", `/pair approve ${code}`, web), "eve may write to me now.");
  assert.match(await talk(on, "boss", "/pair revoke eve", other), /^Nobody who was let in is "eve"/);
  assert.match(await talk(on, "me", "/pair revoke eve", web), /^eve may no longer write to me/);
  assert.match(await talk(on, "eve", "hello"), /^I do not know you yet/);
});

test("whoever is no admin lets nobody in, and commands of strangers are not looked at", async (t) => {
  const on = await stage(t);
  await on.start(asking({ allow: ["ann"] }));
  const code = await codeFor(on, "eve");
  const no = /^Only admins of chat may use \/pair, and ann is not one of them\./;
  for (const text of ["/pair", `/pair approve ${code}`, "/pair revoke boss"])
    assert.match(await talk(on, "ann", text), no);
  for (const text of [`/pair approve ${code}`, "/restart", "/sethome", "/stop", "/new", "/help"])
    assert.equal(await write(on, "eve", text), "ignored", text);
  assert.equal((await on.store.pairings()).length, 1);
  assert.deepEqual(await on.store.pairedPeople(), []);
});

test("what is not understood decides nothing", async (t) => {
  const on = await stage(t);
  await on.start(asking());
  const code = await codeFor(on, "eve");
  for (const text of ["/pair approve", `/pair approve ${code} boss`, "/pair revoke", "/pair what"])
    assert.match(await talk(on, "boss", text), /^Send \/pair to see who waits/, text);
  for (const text of ["/pair revoke *", "/pair revoke %", "/pair revoke chat/"])
    assert.match(await talk(on, "boss", text), /^Nobody who was let in/, text);
  assert.deepEqual(await on.store.pairedPeople(), []);
});

test("one who was turned down hears nothing until it is forgotten, and takes nobody's place", async (t) => {
  const on = await stage(t);
  const { gateway } = await on.start(asking());
  const code = await codeFor(on, "eve");
  const id = (await on.store.pairings())[0]?.id ?? "";
  await decided(on, gateway.denyPairing({ id }));
  await assert.rejects(decided(on, gateway.denyPairing({ id })), Fault);
  await assert.rejects(decided(on, gateway.approvePairing({ id }, false)), /no open request/);
  await assert.rejects(decided(on, gateway.approvePairing({ code }, false)), wrong);
  await on.pass(limits.pairingReminderMs);
  assert.equal(await write(on, "eve", "hello?"), "ignored");
  for (const sender of ["a", "b", "c"]) await codeFor(on, sender);
  await anHour(on);
  await codeFor(on, "eve");
});

test("approved twice at the same moment, somebody is let in once", async (t) => {
  const on = await stage(t);
  const { gateway } = await on.start(asking());
  const code = await codeFor(on, "eve");
  const id = (await on.store.pairings())[0]?.id ?? "";
  const all = [{ code }, { id }, { code }].map((which) => gateway.approvePairing(which, false));
  const results = await decided(on, Promise.allSettled(all));
  assert.equal(results.filter(({ status }) => status === "fulfilled").length, 1);
  await on.pass(1_000);
  assert.equal(seenBy(on, "with eve").filter((text) => text === "You may write to me now.").length, 1);
});

test("an approval and a reminder at the same moment: neither breaks the other", async (t) => {
  const on = await stage(t);
  const { gateway } = await on.start(asking());
  const code = await codeFor(on, "eve");
  await on.pass(limits.pairingReminderMs);
  const [, receipt] = await decided(
    on,
    Promise.all([
      gateway.approvePairing({ code }, false),
      on.servers.get("chat")?.accept?.(message("eve", "hello?"), null),
    ]),
  );
  assert.ok(receipt === "accepted" || receipt === "ignored");
  assert.equal(await talk(on, "eve", "hi"), "answer to hi");
  assert.equal(gateway.status().state, "running");
});

test("names of strangers cannot be mistaken for others, and people are revoked by what is theirs alone", async (t) => {
  const on = await stage(t);
  const { gateway } = await on.start(asking());
  for (const [sender, name] of [
    ["1", "Ann"],
    ["2", "ann"],
    ["3", "1"],
  ] as const) {
    await write(on, sender, "hello", { name });
    await decided(on, gateway.approvePairing({ id: (await on.store.pairings())[0]?.id ?? "" }, false));
  }
  await assert.rejects(decided(on, gateway.revokePaired("ann")), /More than one is meant: chat\/1, chat\/2\./);
  assert.equal((await decided(on, gateway.revokePaired("1"))).sender, "1", "an id is nobody's name");
  assert.equal((await decided(on, gateway.revokePaired("@ANN"))).sender, "2");
  assert.equal((await decided(on, gateway.revokePaired("chat/3"))).sender, "3");
  await assert.rejects(decided(on, gateway.revokePaired("3")), /Nobody who was let in/);
});

test("a redelivered first message is known, and gives no second code", async (t) => {
  const on = await stage(t);
  await on.start(asking());
  const first = message("eve", "hello");
  assert.equal(await hand(on, first, "1"), "accepted");
  assert.equal(await hand(on, first, "1"), "ignored");
  await anHour(on);
  assert.equal(await hand(on, first, "2"), "duplicate");
  assert.equal(await on.store.cursor("chat", "bot"), "2");
  assert.equal(seenBy(on, "with eve").length, 1);
});

test("an approval that is delivered again and again is no guess", async (t) => {
  const on = await stage(t);
  await on.start(asking());
  const order = message("boss", `/pair approve ${await codeFor(on, "eve")}`);
  assert.equal(await hand(on, order), "accepted");
  for (let n = 0; n < 2 * limits.pairingTriesMax; n++) assert.equal(await hand(on, order), "duplicate");
  assert.equal(await talk(on, "boss", `/pair approve ${await codeFor(on, "mia")}`), "mia may write to me now.");
});

test("without pairing strangers are not answered at all", async (t) => {
  const on = await stage(t);
  const { store, changes } = counting(on);
  await on.start({ ...asking({ pairing: false }), store });
  const before = changes.length;
  assert.equal(await hand(on, message("eve", "hello"), "7"), "ignored");
  assert.deepEqual(changes.slice(before), [{ put: "cursor", platform: "chat", account: "bot", value: "7" }]);
});
