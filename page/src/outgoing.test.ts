import assert from "node:assert/strict";
import { test } from "node:test";
import type { Client, Posted } from "./net/client.ts";
import type { Message } from "./net/wire.ts";
import { outgoing } from "./outgoing.ts";
import { type Box, keepIn, type Pending } from "./pending.ts";

/** A page whose gateway answers each message when the test says so. */
function desk(chat = "here") {
  const values = new Map<string, string>();
  const box: Box = {
    get length() {
      return values.size;
    },
    key: (i) => [...values.keys()][i] ?? null,
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
  };
  const keep = keepIn(box);
  const posts: { readonly message: Pending; readonly answer: (posted: Posted) => void }[] = [];
  const client: Pick<Client, "post"> = {
    post: (message) => new Promise((answer) => posts.push({ message, answer })),
  };
  const back: Pending[] = [];
  const returned = (message: Pending) => void back.push(message);
  const out = outgoing({ keep, client, chat: () => chat, denied: () => undefined, stored: () => undefined, returned });
  const shown = (one: Pending): Message => ({ n: 1, key: one.id, role: "user", text: one.text, at: 1 });
  const states = () => out.unsent.value.map(({ message, state }) => `${message.text} ${state}`);
  const answerNext = async (posted: Posted) => {
    const next = posts.shift() ?? assert.fail("nothing was posted");
    next.answer(posted);
    await new Promise<void>((resolve) => setImmediate(resolve));
    return next.message;
  };
  return { keep, out, posts, back, shown, states, answerNext };
}

test("a message waits, is stored, and leaves when the feed shows it", async () => {
  const { out, keep, shown, states, answerNext } = desk();
  out.send("hello");
  assert.deepEqual(states(), ["hello waiting"]);
  const sent = await answerNext({ type: "stored" });
  assert.deepEqual(states(), ["hello stored"]);
  assert.deepEqual(keep.pending(), [], "what is confirmed is the gateway's");
  out.seen([shown(sent)]);
  assert.deepEqual(states(), []);
});

test("a message that the feed shows before its confirmation arrives is not shown twice", async () => {
  const { out, posts, shown, states, answerNext } = desk();
  out.send("hello");
  out.seen([shown(posts[0]?.message ?? assert.fail())]);
  assert.deepEqual(states(), []);
  await answerNext({ type: "stored" });
  assert.deepEqual(states(), []);
});

test("confirmed messages stand before those that wait", async () => {
  const { out, states, answerNext } = desk();
  for (const text of ["one", "two", "three"]) out.send(text);
  await answerNext({ type: "stored" });
  assert.deepEqual(states(), ["one stored", "two waiting", "three waiting"]);
});

test("what is refused comes back for editing, before what was written since", async () => {
  const { out, keep, states, answerNext } = desk();
  out.send("too much");
  out.write("next thought");
  await answerNext({ type: "refused", reason: "It is too large." });
  assert.deepEqual(states(), []);
  assert.equal(out.composer.value, "too much\n\nnext thought");
  assert.equal(keep.draft("here"), "too much\n\nnext thought");
  assert.deepEqual(out.refusal.value, { chat: "here", reason: "It is too large." });
  out.send("less");
  assert.equal(out.refusal.value, null);
});

test("a refused choice is explained, and nothing is put into the composer", async () => {
  const { out, posts, answerNext } = desk();
  out.answer("q1", "tea");
  assert.deepEqual(posts[0]?.message.answer, { question: "q1", choice: "tea" });
  await answerNext({ type: "refused", reason: "No such question." });
  assert.equal(out.composer.value, "");
  assert.equal(out.refusal.value?.reason, "No such question.");
});

test("nothing is sent when nothing was said", () => {
  const { out, posts } = desk();
  for (const text of ["", "  ", "\n\t"]) out.send(text);
  assert.equal(posts.length, 0);
});

test("unsent text is written down, long text a moment later or when the page is left", () => {
  const { out, keep } = desk();
  out.write("short");
  assert.equal(keep.draft("here"), "short");
  const long = "x".repeat(60_000);
  out.write(long);
  assert.equal(keep.draft("here"), "short");
  out.flush();
  assert.equal(keep.draft("here"), long);
  out.write("");
  assert.equal(keep.draft("here"), "");
});

test("files go with a message, survive a reload with it, and come back when it is refused", async () => {
  const { keep, out, back, answerNext } = desk();
  const files = [{ name: "a.png", mime: "image/png", blob: "b1", bytes: 3 }];
  out.send("", []);
  assert.deepEqual(keep.pending(), [], "neither words nor files are nothing");
  out.send("", files);
  assert.deepEqual(
    keep.pending().map((one) => one.files),
    [files],
  );
  const sent = await answerNext({ type: "refused", reason: "no" });
  assert.deepEqual(sent.files, files);
  assert.deepEqual(
    back.map((one) => one.files),
    [files],
  );
});
