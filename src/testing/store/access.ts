// What a store keeps of people: who asks to be let in, who was, and what they say anew.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { AccessLink, Device } from "../../core/access/devices.ts";
import type { Paired, Pairing } from "../../core/access/pairing.ts";
import type { Change } from "../../core/change.ts";
import { advanceTurn } from "../../core/turn.ts";
import { aMessage, aSession, aTurn, anAddress, anInbound, at, bootId, sessionId } from "../samples.ts";
import { type OpenStore, putSession, putTurn, started, write } from "./steps.ts";

export function accessTests(open: OpenStore): void {
  describe("who is let in", { concurrency: 4 }, () => {
    pairingTests(open);
    pairedTests(open);
    deviceTests(open);
    wordingTests(open);
  });
}

function aPairing(sender: string, more: Partial<Pairing> = {}): Pairing {
  const times = { askedAt: at(1), expiresAt: at(100), toldAt: at(2) };
  const address = anAddress(`chat of ${sender}`, { thread: "t" });
  return { id: `p-${sender}`, sender, name: null, address, digest: "d", ...times, denied: false, ...more };
}

const put = (pairing: Pairing): Change => ({ put: "pairing", pairing });

function pairingTests(open: OpenStore): void {
  test("requests are kept whole, by account, the oldest first, and outlive the process", async (t) => {
    const { store, reopen } = await started(t, open);
    const ann = aPairing("ann", { name: "Ann *", denied: true });
    const eve = aPairing("eve");
    const other = aPairing("ann", { id: "p-other", address: anAddress("c", { account: "other" }) });
    await write(store, [put(ann), put(eve), put(other)]);
    assert.deepEqual(await store.pairingsAt("test", "home"), [ann, eve]);
    assert.deepEqual(await store.pairingsAt("test", "other"), [other]);
    assert.deepEqual(await store.pairingsAt("other", "home"), []);
    assert.deepEqual(await (await reopen()).pairings(), [ann, eve, other]);
  });

  test("one request for each sender: a second is refused with all that came with it", async (t) => {
    const { store, by } = await started(t, open);
    await write(store, [put(aPairing("ann"))]);
    const second = put(aPairing("ann", { id: "p-second" }));
    assert.equal(await store.commit([{ put: "fact", name: "f", value: "1" }, second], by), "conflict");
    assert.equal(await store.fact("f"), null);
    await write(store, [{ drop: "pairing", id: "p-ann" }, second]);
    assert.deepEqual(
      (await store.pairingsAt("test", "home")).map(({ id }) => id),
      ["p-second"],
    );
    assert.equal(await store.commit([{ drop: "pairing", id: "p-ann" }], by), "conflict");
  });
}

function pairedTests(open: OpenStore): void {
  const ann: Paired = {
    platform: "test",
    account: "home",
    sender: "ann",
    name: null,
    admin: true,
    by: "x",
    at: at(1),
  };

  test("somebody who was let in is found by exactly their id, at that account, until it is taken back", async (t) => {
    const { store, by } = await started(t, open);
    await write(store, [{ put: "paired", paired: ann }]);
    assert.deepEqual(await store.paired("test", "home", "ann"), ann);
    for (const [platform, account, sender] of [
      ["test", "home", "Ann"],
      ["test", "home", "an_"],
      ["test", "home", "%"],
      ["test", "other", "ann"],
      ["other", "home", "ann"],
    ] as const) {
      assert.equal(await store.paired(platform, account, sender), null, `${platform} ${account} ${sender}`);
    }
    const gone: Change = { drop: "paired", platform: "test", account: "home", sender: "ann" };
    await write(store, [gone]);
    assert.equal(await store.paired("test", "home", "ann"), null);
    assert.equal(await store.commit([gone], by), "conflict");
  });

  test("what is decided anew takes the place of what was", async (t) => {
    const { store } = await started(t, open);
    const later: Paired = { ...ann, name: "Ann", admin: false, by: "y", at: at(2) };
    const eve: Paired = { ...ann, sender: "eve", at: at(1) };
    await write(store, [
      { put: "paired", paired: ann },
      { put: "paired", paired: eve },
    ]);
    await write(store, [{ put: "paired", paired: later }]);
    assert.deepEqual(await store.pairedPeople(), [eve, later]);
  });
}

function deviceTests(open: OpenStore): void {
  const phone: Device = { id: "d1", digest: "1".repeat(64), name: "Chrome", createdAt: at(1), seenAt: at(1) };
  const laptop: Device = { ...phone, id: "d2", digest: "2".repeat(64), createdAt: at(2) };
  const link: AccessLink = { digest: "3".repeat(64), expiresAt: at(9) };
  const signIn: readonly Change[] = [
    { drop: "link", digest: link.digest },
    { put: "device", device: phone },
  ];

  test("a link signs one device in, once, and both outlive the process", async (t) => {
    const { store, by, reopen } = await started(t, open);
    assert.equal(await store.commit(signIn, by), "conflict", "a link that was never made");
    assert.deepEqual(await store.devices(), []);
    await write(store, [{ put: "link", link }]);
    assert.deepEqual(await store.links(), [link]);
    await write(store, signIn);
    assert.equal(await store.commit(signIn, by), "conflict", "it was used");
    await write(store, [{ put: "device", device: laptop }]);
    const again = await reopen();
    assert.deepEqual([await again.links(), await again.devices()], [[], [phone, laptop]]);
  });

  test("a device that was revoked does not come back by being seen", async (t) => {
    const { store, by } = await started(t, open);
    await write(store, [
      { put: "device", device: phone },
      { put: "device", device: laptop },
    ]);
    await write(store, [{ put: "seen", device: "d1", at: at(7) }]);
    assert.deepEqual(await store.devices(), [{ ...phone, seenAt: at(7) }, laptop]);
    await write(store, [{ drop: "device", id: "d1" }]);
    await write(store, [{ put: "seen", device: "d1", at: at(8) }]);
    assert.deepEqual(await store.devices(), [laptop]);
    assert.equal(await store.commit([{ drop: "device", id: "d1" }], by), "conflict");
  });
}

function wordingTests(open: OpenStore): void {
  const turn = aTurn("t1", { input: anInbound("frist", { key: "k1" }) });
  const input = anInbound("first", { key: "k1" });
  const said = (key: string, text: string): Change => ({
    put: "message",
    message: aMessage(key, { turn: turn.id, text }),
  });
  const accepted = [putSession("s1"), putTurn(turn), said("k1", "frist"), said("k2", "second")];
  const anew = (version: number): readonly Change[] => [
    { put: "input", turn: turn.id, version, input },
    { put: "wording", session: sessionId("s1"), key: "k1", text: "first", files: [] },
  ];

  test("a new wording takes the place of the old one, in its order, also for search", async (t) => {
    const { store } = await started(t, open);
    await write(store, accepted);
    assert.equal((await store.search("frist", 5)).length, 1);
    await write(store, anew(2));
    const found = await store.turn(turn.id);
    assert.deepEqual([found?.input, found?.version, found?.now.state], [input, 2, "queued"]);
    const texts = (await store.history(sessionId("s1"), 9)).map(({ text }) => text);
    assert.deepEqual(texts, ["first", "second"]);
    assert.equal((await store.search("frist", 5)).length, 0);
    assert.equal((await store.search("first", 5)).length, 1);
  });

  test("also before anybody searched", async (t) => {
    const { store } = await started(t, open);
    await write(store, accepted);
    await write(store, anew(2));
    assert.deepEqual([(await store.search("frist", 5)).length, (await store.search("first", 5)).length], [0, 1]);
  });

  test("not once the turn has moved", async (t) => {
    const { store, by } = await started(t, open);
    await write(store, [{ put: "session", session: aSession("s1") }, ...accepted.slice(1)]);
    await write(store, [putTurn(advanceTurn(turn, { type: "claimed", boot: bootId("b1"), at: at(1) }))]);
    for (const version of [2, 3]) assert.equal(await store.commit(anew(version), by), "conflict");
    assert.deepEqual((await store.turn(turn.id))?.input, turn.input);
    assert.equal((await store.history(sessionId("s1"), 9))[0]?.text, "frist");
  });
}
