import assert from "node:assert/strict";
import { webcrypto } from "node:crypto";
import { beforeEach, mock, test } from "node:test";
import { type Box, concernsPending, keepIn, newId } from "./pending.ts";

// What the page tells the console is no news in a test.
beforeEach(() => void mock.method(console, "warn", () => undefined));

/** The browser's storage, with room for so many characters. */
function box(room = Number.POSITIVE_INFINITY): Box & { readonly values: Map<string, string> } {
  const values = new Map<string, string>();
  return {
    values,
    get length() {
      return values.size;
    },
    key: (i) => [...values.keys()][i] ?? null,
    getItem: (key) => values.get(key) ?? null,
    removeItem: (key) => void values.delete(key),
    setItem(key, value) {
      if (value.length > room) throw new DOMException("full", "QuotaExceededError");
      values.set(key, value);
    },
  };
}

test("what waits is there again after a reload, in the order it was written", () => {
  const storage = box();
  const keep = keepIn(storage);
  keep.add({ id: "b", chat: "x", text: "first" }, 100);
  keep.add({ id: "a", chat: "x", text: "same millisecond" }, 100);
  keep.add({ id: "c", chat: "y", text: "yes", answer: { question: "q", choice: "yes" } }, 50);
  const reloaded = keepIn(storage);
  assert.deepEqual(
    reloaded.pending().map((one) => [one.id, one.at]),
    [
      ["b", 100],
      ["a", 101],
      ["c", 102],
    ],
  );
  assert.deepEqual(reloaded.pending()[2]?.answer, { question: "q", choice: "yes" });
  reloaded.remove("b");
  reloaded.remove("unknown");
  assert.deepEqual(
    keep.pending().map((one) => one.id),
    ["a", "c"],
  );
});

test("two tabs add without overwriting each other", () => {
  const storage = box();
  const [one, two] = [keepIn(storage), keepIn(storage)];
  one.add({ id: "1", chat: "x", text: "one" }, 1);
  two.add({ id: "2", chat: "x", text: "two" }, 1);
  assert.deepEqual(one.pending(), two.pending());
  assert.equal(one.pending().length, 2);
});

test("what others have put into the storage is passed over", () => {
  const storage = box();
  for (const [i, odd] of [
    "",
    "{",
    "null",
    "[]",
    '"text"',
    '{"id":1}',
    '{"id":"a","chat":"b","text":"c","at":"d"}',
  ].entries())
    storage.setItem(`everturn.pending.${i}`, odd);
  storage.setItem("everturn.pending.x", '{"id":"x","chat":"b","text":"c","at":1,"answer":{"question":5}}');
  storage.setItem("other", "value");
  assert.deepEqual(keepIn(storage).pending(), []);
});

test("a storage without room loses nothing while the page lives", () => {
  const storage = box(100);
  const keep = keepIn(storage);
  const long = "x".repeat(1_000);
  keep.add({ id: "1", chat: "c", text: long }, 1);
  keep.setDraft("c", long);
  assert.equal(keep.pending()[0]?.text, long);
  assert.equal(keep.draft("c"), long);
  keep.setDraft("c", "short");
  keep.remove("1");
  assert.deepEqual([keep.draft("c"), keep.pending(), storage.values.size], ["short", [], 1]);
});

test("drafts, places read and settings have their own names", () => {
  const storage = box();
  const keep = keepIn(storage);
  keep.setDraft("a", "unsent");
  keep.setSeen("a", 7);
  keep.setSetting("theme", "dark");
  assert.deepEqual([keep.draft("a"), keep.seen("a"), keep.setting("theme")], ["unsent", 7, "dark"]);
  assert.deepEqual([keep.draft("b"), keep.seen("b"), keep.setting("x")], ["", 0, null]);
  keep.setDraft("a", "");
  keep.setSetting("theme", null);
  assert.deepEqual([...storage.values.keys()], ["everturn.seen.a"]);
  assert.deepEqual(["everturn.pending.1", "everturn.draft.1", null].map(concernsPending), [true, false, true]);
});

test("ids are random and fit the protocol, also where the short way does not exist", () => {
  const crypto = webcrypto as unknown as Crypto;
  const without = { getRandomValues: (bytes: Uint8Array<ArrayBuffer>) => crypto.getRandomValues(bytes) } as Crypto;
  for (const source of [crypto, without]) {
    const ids = new Set(Array.from({ length: 50 }, () => newId(source)));
    assert.equal(ids.size, 50);
    for (const id of ids) assert.match(id, /^[A-Za-z0-9_-]{32,64}$/);
  }
});
