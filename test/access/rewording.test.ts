// What somebody writes anew: it takes the place of what waits, in its order, and changes nothing once that was begun. Also
// when the gateway dies right before or behind the commit.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Inbound } from "../../src/core/message.ts";
import { type Stage, at, stage } from "../stop/stage.ts";
import { type Cut, asking, hand, message, mortal, seenBy } from "./people.ts";

const room = { from: at("a") };
const say = (key: string, text: string, more: Partial<Inbound> = {}) => message("ann", text, { ...room, key, ...more });
const anew = (key: string, replaces: string, text: string, more: Partial<Inbound> = {}) =>
  say(key, text, { replaces, ...more });
const open = asking({ allow: ["*"] });

async function lines(on: Stage): Promise<readonly string[]> {
  const { platform, account } = room.from;
  return (await on.store.messagesAfter({ platform, account, chat: "a" }, 0, 99)).map(({ text }) => text);
}

test("what waits is answered as it was written last; the order stays", async (t) => {
  const on = await stage(t);
  await on.start(open);
  for (const one of [say("k1", "work 1000"), say("k2", "secnod"), say("k3", "third")]) await hand(on, one);
  assert.equal(await hand(on, anew("e1", "k2", "secod"), "c1"), "accepted");
  assert.equal(await hand(on, anew("e2", "k2", "second"), "c2"), "accepted");
  assert.equal(await hand(on, anew("e2", "k2", "second"), "c3"), "duplicate");
  assert.equal(await on.store.cursor("chat", "bot"), "c3");
  await on.until(() => seenBy(on, "a").length === 3);
  assert.deepEqual(seenBy(on, "a"), ["answer to work 1000", "answer to second", "answer to third"]);
  assert.deepEqual((await lines(on)).slice(0, 3), ["work 1000", "second", "third"]);
  const turns = await on.store.turns({ limit: 9 });
  assert.deepEqual(turns.map(({ input }) => input.key).toSorted(), ["k1", "k2", "k3"]);
});

test("an edit of an edit finds the same turn, and files come with the words", async (t) => {
  const on = await stage(t);
  await on.start(open);
  await hand(on, say("k1", "work 1000"));
  await hand(on, say("k2", "a"));
  const file = { name: "f.txt", mime: "text/plain", blob: "b1", bytes: 1 };
  await hand(on, anew("e1", "k2", "b"));
  await hand(on, anew("e2", "e1", "c", { body: { kind: "text", text: "c", files: [file] } }));
  await on.until(() => seenBy(on, "a").length === 2);
  assert.equal(seenBy(on, "a")[1], "answer to c");
  assert.deepEqual((await on.store.messagesAfter(room.from, 0, 9))[1]?.files, [file]);
});

/** What was written anew, and how. */
const nothing: readonly (readonly [what: string, edit: Inbound])[] = [
  ["of a turn that runs", anew("n1", "k1", "work 1")],
  ["of something that was never taken", anew("n2", "nobody knows", "hello")],
  ["by somebody else", anew("n3", "k2", "stolen", { sender: "eve" })],
  ["from another chat", anew("n4", "k2", "stolen", { from: at("b") })],
  ["from another thread", anew("n5", "k2", "stolen", { from: at("a", { thread: "2" }) })],
  ["into a command", anew("n6", "k2", "/stop")],
  ["of a command", anew("n7", "k3", "never mind")],
  ["that is no text", anew("n8", "k2", "x", { body: { kind: "answer", question: "q", choice: "a" } })],
];

for (const [what, edit] of nothing) {
  test(`a new wording ${what} changes nothing but its key and the cursor`, async (t) => {
    const on = await stage(t);
    await on.start(open);
    await hand(on, say("k1", "work 1000"));
    await hand(on, say("k2", "second"));
    await hand(on, say("k3", "/status"));
    const before = await lines(on);
    assert.equal(await hand(on, edit, "c9"), "accepted");
    assert.equal(await hand(on, edit, "c9"), "duplicate");
    assert.equal(await on.store.cursor("chat", "bot"), "c9");
    assert.deepEqual((await lines(on)).slice(0, before.length), before);
    await on.until(() => seenBy(on, "a").length === 3);
    await on.pass(10_000);
    assert.deepEqual(seenBy(on, "a").slice(1), ["answer to work 1000", "answer to second"]);
    assert.equal((await on.store.turns({ limit: 9 })).length, 3);
  });
}

test("also after it was answered", async (t) => {
  const on = await stage(t);
  await on.start(open);
  await hand(on, say("k1", "first"));
  await on.until(() => seenBy(on, "a").length === 1);
  assert.equal(await hand(on, anew("e1", "k1", "frist")), "accepted");
  await on.pass(10_000);
  assert.deepEqual([seenBy(on, "a"), await lines(on)], [["answer to first"], ["first", "answer to first"]]);
});

/** Hands everything over as a platform does: again from the first that was not acknowledged, after each death. */
async function story(t: Parameters<typeof stage>[0], cut: Cut | null): Promise<{ on: Stage; commits: number }> {
  const on = await stage(t);
  const power = mortal(on, cut);
  const said = [say("k1", "work 500"), say("k2", "secnod"), anew("e1", "k2", "second"), say("k3", "third")];
  power.made.living = await on.start({ ...open, store: power.store });
  for (let n = 0; n < said.length; ) {
    const one = said[n];
    const accept = on.servers.get("chat")?.accept;
    let taken = false;
    if (one && accept) void accept(one, String(n)).then(() => (taken = true));
    await on.until(() => taken || power.made.dead);
    if (power.made.dead) {
      power.made.dead = false;
      await on.start(open);
    } else n++;
  }
  await on.until(() => seenBy(on, "a").length >= 3 || power.made.dead);
  if (power.made.dead) await on.start(open);
  await on.until(() => seenBy(on, "a").length >= 3);
  await on.pass(60_000);
  return { on, commits: power.made.commits };
}

test("killed before or behind any commit of it, each is answered once, as it was written last or as it was begun", async (t) => {
  const { commits } = await story(t, null);
  assert.ok(commits > 6);
  for (let commit = 1; commit <= commits; commit++) {
    for (const when of ["before", "after"] as const) {
      const { on } = await story(t, { commit, when });
      const answers = seenBy(on, "a");
      const where = `${when} commit ${commit}: ${answers.join(" | ")}`;
      assert.equal(answers.length, 3, where);
      assert.equal(answers[0], "answer to work 500", where);
      assert.match(answers[1] ?? "", /^answer to (?:second|secnod)$/, where);
      assert.equal(answers[2], "answer to third", where);
      const said = (await lines(on)).find((text) => text.startsWith("sec"));
      assert.equal(answers[1], `answer to ${said}`, `${where}: the transcript says what was answered`);
    }
  }
});
