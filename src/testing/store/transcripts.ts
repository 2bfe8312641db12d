// What was said: in order, across sessions of one place, by cursor, and by its words.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Change } from "../../core/change.ts";
import type { Message } from "../../core/message.ts";
import { aMessage, aSession, at, sessionId, turnId } from "../samples.ts";
import { type OpenStore, putSession, started, write } from "./steps.ts";

function say(key: string, session = "s1", text = `text of ${key}`): Change {
  return { put: "message", message: aMessage(key, { session: sessionId(session), text }) };
}

function keys(found: readonly Message[]): string {
  return found.map((one) => one.key).join("");
}

export function transcriptTests(open: OpenStore): void {
  describe("transcripts", { concurrency: 4 }, () => {
    orderTests(open);
    conversationTests(open);
    searchTests(open);
  });
}

function orderTests(open: OpenStore): void {
  test("history is the newest of one session, oldest first", async (t) => {
    const { store } = await started(t, open);
    await write(store, [putSession("s1"), putSession("s2")]);
    for (const key of "abcde") await write(store, [say(key), say(key.toUpperCase(), "s2")]);
    assert.equal(keys(await store.history(sessionId("s1"), 3)), "cde");
    assert.equal(keys(await store.history(sessionId("s1"), 100)), "abcde");
    assert.equal(keys(await store.history(sessionId("nobody"), 100)), "");
  });

  test("a message comes back with everything it had", async (t) => {
    const { store } = await started(t, open);
    const question = { id: "q1", choices: ["Tea", "Coffee"] };
    const plain = aMessage("a");
    const asking = aMessage("b", { role: "assistant", turn: turnId("t1"), question, at: at(7) });
    const notice = aMessage("c", { role: "notice", text: "" });
    await write(store, [
      putSession("s1"),
      ...[plain, asking, notice].map((message) => ({ put: "message" as const, message })),
    ]);
    const found = await store.history(sessionId("s1"), 10);
    assert.deepEqual(
      found,
      [plain, asking, notice].map((message, i) => ({ ...message, n: found[i]?.n })),
    );
    assert.ok(found.every((one) => Number.isSafeInteger(one.n) && one.n > 0));
  });
}

function conversationTests(open: OpenStore): void {
  const { key, address } = aSession("s1");
  const place = { key, address };

  test("a conversation is read by its cursor, across sessions that followed one another", async (t) => {
    const { store } = await started(t, open);
    await write(store, [putSession("s1"), putSession("elsewhere")]);
    await write(store, [say("a"), say("X", "elsewhere"), say("b")]);
    await write(store, [{ put: "ended", session: sessionId("s1"), at: at(5) }, putSession("s2", place)]);
    await write(store, [say("c", "s2"), say("Y", "elsewhere"), say("d", "s2")]);
    // A reply of the ended session may still come in.
    await write(store, [say("e", "s1"), say("f", "s2")]);

    const all = await store.messagesAfter(address, 0, 100);
    assert.equal(keys(all), "abcdef");
    assert.equal(keys(await store.messagesAfter(address, 0, 2)), "ab");
    assert.equal(keys(await store.messagesAfter(address, all[1]?.n ?? -1, 3)), "cde");
    assert.equal(keys(await store.messagesAfter(address, all.at(-1)?.n ?? -1, 10)), "");
    assert.equal(keys(await store.messagesBefore(address, null, 4)), "cdef");
    assert.equal(keys(await store.messagesBefore(address, null, 100)), "abcdef");
    assert.equal(keys(await store.messagesBefore(address, all[4]?.n ?? -1, 3)), "bcd");
    assert.equal(keys(await store.messagesBefore(address, all[0]?.n ?? -1, 10)), "");
  });

  test("a reader that keeps the last number as its cursor misses nothing and sees nothing twice", async (t) => {
    const { store, by } = await started(t, open);
    await write(store, [putSession("s1")]);
    let seen = "";
    let cursor = 0;
    const names = "abcdefghijklmnopqrstuvwxyz";
    const writing = [...names].map((name) => store.commit([say(name)], by));
    while (seen.length < names.length) {
      const more = await store.messagesAfter(address, cursor, 4);
      seen += keys(more);
      cursor = more.at(-1)?.n ?? cursor;
      // Gives the commits a turn of the loop; how long they take is theirs.
      await new Promise((resolve) => setImmediate(resolve));
    }
    await Promise.all(writing);
    assert.equal(seen, names);
    assert.equal(keys(await store.messagesAfter(address, cursor, 4)), "");
  });

  test("a thread is a conversation of its own", async (t) => {
    const { store } = await started(t, open);
    const inThread = aSession("s2", { key: `${key}/7`, address: { ...address, thread: "7" } });
    await write(store, [putSession("s1"), { put: "session", session: inThread }]);
    await write(store, [say("a"), say("b", "s2")]);
    assert.equal(keys(await store.messagesAfter(address, 0, 10)), "a");
    assert.equal(keys(await store.messagesAfter(inThread.address, 0, 10)), "b");
  });
}

function searchTests(open: OpenStore): void {
  const lines: readonly (readonly [key: string, text: string])[] = [
    ["a", "The kettle is on the stove"],
    ["b", "Tee mit Zitrone, grün & heiß"],
    ["c", "שלום עולם"],
    ["d", "SELECT * FROM \"kettle\" WHERE a = 'b' AND NOT c*"],
    ["e", "a kettle again 🫖"],
    ["f", "naïve café"],
    ["g", "чайник кипит"],
  ];

  test("messages are found by their words, the newest first", async (t) => {
    const { store } = await started(t, open);
    await write(store, [putSession("s1"), ...lines.map(([key, text]) => say(key, "s1", text))]);
    const found = async (words: string, limit = 10): Promise<string> => keys(await store.search(words, limit));
    assert.equal(await found("kettle"), "eda");
    assert.equal(await found("KETTLE"), "eda");
    assert.equal(await found("kettle", 2), "ed");
    assert.equal(await found("kettle stove"), "a");
    assert.equal(await found("stove kettle"), "a");
    assert.equal(await found("kettle nowhere"), "");
    assert.equal(await found("grün"), "b");
    assert.equal(await found("שלום"), "c");
    assert.equal(await found("чайник"), "g");
    assert.equal(await found("café"), "f");
  });

  test("nothing typed into a search is an error", async (t) => {
    const { store } = await started(t, open);
    await write(store, [putSession("s1"), ...lines.map(([key, text]) => say(key, "s1", text))]);
    const typed = [
      "",
      " ",
      '"',
      "'",
      "*",
      "(",
      ")",
      "AND",
      "NOT",
      "OR",
      "NEAR(a b)",
      "a:b",
      "-",
      "^",
      "🫖",
      "\\",
      "%",
      "_",
    ];
    for (const words of typed) assert.ok(Array.isArray(await store.search(words, 5)), words);
    for (const blank of ["", "  ", '"', "***"]) assert.deepEqual(await store.search(blank, 5), [], blank);
    assert.equal(keys(await store.search('"kettle"', 5)).includes("a"), true);
  });

  test("what was just stored is found at once, also much of it", async (t) => {
    const { store } = await started(t, open);
    await write(store, [putSession("s1")]);
    const many = Array.from({ length: 5_000 }, (_, n) => say(`k${n}`, "s1", `number ${n} of many`));
    await write(store, many);
    assert.equal((await store.search("many", 10_000)).length, 5_000);
    await write(store, [say("last", "s1", "number last of many")]);
    assert.equal((await store.search("many", 1))[0]?.key, "last");
  });
}
