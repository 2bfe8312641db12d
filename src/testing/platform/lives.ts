// A kill at each point of the way in: whatever was written is stored in the end, once, under the same key, in its order,
// when the next life goes on from the cursor that was stored.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Accept } from "../../ports/platform.ts";
import { type Kept, type OpenPlatform, kept, live, nextLife, settle, wordsOf } from "./steps.ts";

/** What the store has done when the process dies, which answers nobody any more. */
const points = {
  "before it is stored": async () => undefined,
  "when it is stored and nothing is acknowledged": (store, message, cursor) => store.accept(message, cursor),
} as const satisfies Record<string, (store: Kept, ...given: Parameters<Accept>) => Promise<unknown>>;

export function lifeTests(open: OpenPlatform): void {
  for (const [name, die] of Object.entries(points)) {
    test(`a kill ${name}: nothing is lost, and the key stays`, (t) => killAt(t, open, die));
  }
  backlogTests(open);
  downTests(open);
}

type Dying = (store: Kept, ...given: Parameters<Accept>) => Promise<unknown>;

async function killAt(t: TestContext, open: OpenPlatform, die: Dying): Promise<void> {
  const opened = await open();
  t.after(() => opened.close());
  if (!opened.hasBacklog || opened.reopen === undefined) return t.diagnostic("the far side keeps nothing");
  const store = kept();
  const died = Promise.withResolvers<void>();
  const first = live(opened.platform, store, async (message, cursor) => {
    if (wordsOf([message])[0] !== "two") return store.accept(message, cursor);
    await die(store, message, cursor);
    died.resolve();
    return new Promise(() => undefined);
  });
  t.after(() => first.stop.abort());
  await first.up;
  assert.equal(await opened.say("one"), "acknowledged");
  const late = [opened.say("two"), opened.say("three")];
  await died.promise;
  // A platform that goes on with the next message stores a cursor which is beyond this one.
  await settle();
  first.stop.abort();
  await first.ended;
  assert.notEqual(await late[0], "acknowledged", "nobody had said that it is stored");
  await late[1];
  await nextLife(t, opened, store);
  await store.count(3);
  checkKeys(store);
  assert.deepEqual(wordsOf(store.stored), ["one", "two", "three"]);
}

/** One key for each text, also when it came more than once. */
function checkKeys(store: Kept): void {
  for (const text of new Set(wordsOf(store.taken))) {
    const keys = new Set(store.taken.filter((one) => wordsOf([one])[0] === text).map(({ key }) => key));
    assert.equal(keys.size, 1, `"${text}" came under ${[...keys].join(" and ")}`);
  }
}

function backlogTests(open: OpenPlatform): void {
  test("what is written while nobody listens is handed over by the next life, in order", async (t) => {
    const opened = await open();
    t.after(() => opened.close());
    if (!opened.hasBacklog || opened.reopen === undefined) return t.diagnostic("the far side keeps nothing");
    const store = kept();
    const first = live(opened.platform, store);
    t.after(() => first.stop.abort());
    await first.up;
    await opened.say("before");
    first.stop.abort();
    await first.ended;
    const texts = Array.from({ length: 12 }, (_, n) => `number ${n}`);
    for (const text of texts) assert.equal(await opened.say(text), "refused");
    await nextLife(t, opened, store);
    await store.count(13);
    assert.deepEqual(wordsOf(store.stored), ["before", ...texts]);
    checkKeys(store);
  });

  test("a life that begins after everything was stored is told nothing new", async (t) => {
    const opened = await open();
    t.after(() => opened.close());
    if (opened.reopen === undefined) return t.diagnostic("this driver cannot reopen");
    const store = kept();
    const first = live(opened.platform, store);
    t.after(() => first.stop.abort());
    await first.up;
    for (const text of ["a", "b"]) await opened.say(text);
    first.stop.abort();
    await first.ended;
    await nextLife(t, opened, store);
    assert.equal(await opened.say("c"), "acknowledged");
    assert.deepEqual(wordsOf(store.stored), ["a", "b", "c"]);
    checkKeys(store);
  });
}

function downTests(open: OpenPlatform): void {
  test("a far side that was away is found again, and what was written meanwhile is handed over", async (t) => {
    const opened = await open();
    t.after(() => opened.close());
    const { goDown, comeBack } = opened;
    if (goDown === undefined || comeBack === undefined) return t.diagnostic("this driver cannot go down");
    const store = kept();
    const life = live(opened.platform, store);
    t.after(async () => {
      life.stop.abort();
      await life.ended;
    });
    await life.up;
    assert.equal(await opened.say("before"), "acknowledged");
    await goDown();
    if (opened.hasBacklog) assert.equal(await opened.say("meanwhile"), "refused");
    await comeBack();
    const wanted = opened.hasBacklog ? ["before", "meanwhile"] : ["before"];
    await store.count(wanted.length);
    assert.deepEqual(wordsOf(store.stored), wanted);
    checkKeys(store);
  });
}
