// The chat platform over real HTTP: what a client sends, what it is shown, and what it is told when something is wrong.

import assert from "node:assert/strict";
import { connect } from "node:net";
import { type TestContext, test } from "node:test";
import { Fault, type FaultCode } from "../../core/fault.ts";
import { limits } from "../../core/limits.ts";
import type { Inbound, Message } from "../../core/message.ts";
import type { Accept } from "../../ports/platform.ts";
import { inletOf } from "../../testing/platform/steps.ts";
import { chat } from "./index.ts";
import { type Event, type Kept, keptTranscript, readEvents, reply, serve } from "./samples.ts";

const facts = { boot: "boot-1", version: "0.0.1" };

async function started(t: TestContext, accept?: Accept) {
  const kept = keptTranscript("web");
  const { platform, routes } = chat("web", kept, facts, undefined, { pingMs: 60_000 });
  const taken: Inbound[] = [];
  const stop = new AbortController();
  const listening = platform.listen(inletOf(accept ?? storing(kept, taken)), null, stop.signal);
  const server = await serve((request) => routes.handle(request));
  t.after(async () => {
    stop.abort();
    await listening;
    await server.close();
  });
  return { kept, platform, taken, stop, listening, server, at: `${server.url}${routes.prefix}` };
}

function storing(kept: Kept, taken: Inbound[]): Accept {
  return async (message) => {
    if (taken.some((one) => one.key === message.key)) return "duplicate";
    taken.push(message);
    if (message.body.kind === "text") kept.say(message.from.chat, message.key, message.body.text, "user");
    return "accepted";
  };
}

function post(url: string, body: unknown): Promise<Response> {
  return fetch(url, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body) });
}

async function errorOf(response: Response): Promise<{ code: string; message: string }> {
  return ((await response.json()) as { error: { code: string; message: string } }).error;
}

async function take(events: { next(): Promise<Event | null> }, count: number): Promise<Event[]> {
  const found: Event[] = [];
  while (found.length < count) found.push((await events.next()) ?? assert.fail("the stream ended"));
  return found;
}

function messageOf(event: Event | null): Message {
  assert.equal(event?.type, "message");
  return event.data as Message;
}

const textsOf = (events: readonly Event[]) =>
  events.filter((one) => one.type === "message").map((one) => (one.data as Message).text);

test("a message is stored under a key of its conversation, and a repeat is harmless", async (t) => {
  const { at, taken } = await started(t);
  const first = await post(`${at}/c1/messages`, { id: "m1", text: "héllo 👋 שלום" });
  assert.deepEqual([first.status, await first.json()], [200, { status: "accepted" }]);
  const again = await post(`${at}/c1/messages`, { id: "m1", text: "héllo 👋 שלום" });
  assert.deepEqual(await again.json(), { status: "duplicate" });
  const elsewhere = await post(`${at}/c2/messages`, { id: "m1", text: "other" });
  assert.deepEqual(await elsewhere.json(), { status: "accepted" });
  assert.deepEqual(
    taken.map((one) => [one.key, one.from.chat, one.body]),
    [
      ["c1:m1", "c1", { kind: "text", text: "héllo 👋 שלום", files: [] }],
      ["c2:m1", "c2", { kind: "text", text: "other", files: [] }],
    ],
  );
});

test("the answer to a question arrives as one", async (t) => {
  const { at, taken } = await started(t);
  const sent = await post(`${at}/c1/messages`, { id: "a1", answer: { question: "q7", choice: "blue" } });
  assert.equal(sent.status, 200);
  assert.deepEqual(taken[0]?.body, { kind: "answer", question: "q7", choice: "blue" });
});

test("a message that cannot be read is refused with what is wrong", async (t) => {
  const { at, taken } = await started(t);
  const wrong: [unknown, RegExp][] = [
    ["", /body is empty/],
    ["{", /not JSON/],
    ["[]", /JSON object/],
    ["null", /JSON object/],
    [{ text: "x" }, /`id` must be/],
    [{ id: 7, text: "x" }, /`id` must be/],
    [{ id: "a b", text: "x" }, /`id` must be/],
    [{ id: "x".repeat(65), text: "x" }, /`id` must be/],
    [{ id: "m" }, /either `text` or `answer`/],
    [{ id: "m", text: "x", answer: { question: "q", choice: "c" } }, /either `text` or `answer`/],
    [{ id: "m", text: 5 }, /must be a string/],
    [{ id: "m", text: "" }, /empty/],
    [{ id: "m", text: " \n\t " }, /empty/],
    [{ id: "m", text: "x", colour: 1 }, /Unknown field `colour`/],
    [{ id: "m", answer: "blue" }, /`answer` must be an object/],
    [{ id: "m", answer: { question: "", choice: "c" } }, /answer.question/],
    [{ id: "m", answer: { question: "q", choice: " " } }, /answer.choice/],
  ];
  for (const [body, what] of wrong) {
    const response = await post(`${at}/c1/messages`, body);
    assert.equal(response.status, 400, JSON.stringify(body));
    assert.match((await errorOf(response)).message, what);
  }
  const bytes = await fetch(`${at}/c1/messages`, { method: "POST", body: new Uint8Array([0x22, 0xff, 0x22]) });
  assert.match((await errorOf(bytes)).message, /UTF-8/);
  const badChat = await post(`${at}/a%20b/messages`, { id: "m", text: "x" });
  assert.equal(badChat.status, 400);
  assert.equal((await fetch(`${at}/c1/other`)).status, 404);
  assert.equal((await fetch(`${at}/c1/messages`, { method: "DELETE" })).status, 405);
  assert.equal((await fetch(`${at}/c1/events?after=x`)).status, 400);
  assert.equal(taken.length, 0);
});

test("a body above the limit is refused, announced or not; one of a megabyte is taken", async (t) => {
  const { at, taken } = await started(t);
  const large = JSON.stringify({ id: "m", text: "x".repeat(5 * 1024 * 1024) });
  assert.equal((await post(`${at}/c1/messages`, large)).status, 413);
  const chunked = await fetch(`${at}/c1/messages`, {
    method: "POST",
    body: new Blob([large]).stream(),
    duplex: "half",
  } as RequestInit);
  assert.equal(chunked.status, 413);
  const long = await post(`${at}/c1/messages`, { id: "m", text: "x".repeat(limits.textMax + 1) });
  assert.deepEqual([long.status, (await errorOf(long)).code], [413, "too-large"]);
  assert.equal((await post(`${at}/c1/messages`, { id: "m", text: "x".repeat(1024 * 1024) })).status, 200);
  assert.equal(taken.length, 1);
});

test("faults of the gateway say whether and when to try again", async (t) => {
  const cases: [FaultCode, number, string | null][] = [
    ["busy", 429, "1"],
    ["store-full", 503, "2"],
    ["store-failed", 503, "2"],
    ["stopping", 503, "2"],
    ["too-large", 413, null],
    ["empty", 400, null],
  ];
  let code: FaultCode = "busy";
  const { at } = await started(t, async () => {
    throw new Fault(code, "said so");
  });
  for (const [fault, status, after] of cases) {
    code = fault;
    const response = await post(`${at}/c1/messages`, { id: "m", text: "x" });
    assert.deepEqual([response.status, response.headers.get("retry-after")], [status, after]);
    assert.deepEqual(await errorOf(response), { code: fault, message: "said so" });
  }
});

test("before and after it listens, messages are sent back with a time to return", async (t) => {
  const { routes } = chat("web", keptTranscript("web"), facts);
  const server = await serve((request) => routes.handle(request));
  t.after(() => server.close());
  const early = await post(`${server.url}${routes.prefix}/c1/messages`, { id: "m", text: "x" });
  assert.deepEqual([early.status, (await errorOf(early)).code], [503, "starting"]);

  const { at, stop, listening } = await started(t);
  stop.abort();
  await listening;
  const late = await post(`${at}/c1/messages`, { id: "m", text: "x" });
  assert.deepEqual([late.status, late.headers.get("retry-after"), (await errorOf(late)).code], [503, "1", "stopping"]);
  assert.equal((await fetch(`${at}/c1/events`)).status, 503);
});

test("a stream says hello, catches up after the cursor, then goes on live", async (t) => {
  const { at, kept, platform } = await started(t);
  for (let n = 1; n <= 45; n++) kept.say("c1", `i${n}`, `text ${n}`);
  kept.say("c2", "x", "another conversation");
  const events = readEvents(await fetch(`${at}/c1/events?after=3`));
  const old = await take(events, 44);
  assert.deepEqual(old[0], { type: "hello", id: null, data: facts });
  assert.deepEqual(
    textsOf(old),
    Array.from({ length: 42 }, (_, i) => `text ${i + 4}`),
  );
  assert.equal(old[1]?.id, "4");
  assert.equal(old.at(-1)?.type, "live");

  await post(`${at}/c1/messages`, { id: "mine", text: "question" });
  const own = messageOf(await events.next());
  assert.deepEqual([own.key, own.role], ["mine", "user"]);
  platform.draft(reply("web", "c1", "i", "").to, "ans");
  assert.deepEqual((await take(events, 1))[0]?.data, { text: "ans" });
  kept.say("c1", "item-1", "answer");
  assert.deepEqual(await platform.send(reply("web", "c1", "item-1", "answer"), AbortSignal.timeout(1e6)), {
    type: "accepted",
    remoteId: "item-1",
  });
  assert.equal(messageOf(await events.next()).text, "answer");
  const gone = await events.next();
  assert.deepEqual([gone?.type, gone?.data], ["draft", { text: null }]);
  platform.draft(reply("web", "c1", "i", "").to, "hal");
  assert.deepEqual((await take(events, 1))[0]?.data, { text: "hal" });
  kept.say("c1", "turn.stopped", "hal (Stopped.)");
  platform.draft(reply("web", "c1", "i", "").to, null);
  const last = await take(events, 2);
  assert.deepEqual(textsOf(last), ["hal (Stopped.)"], "what was stopped is shown without a send");
  await events.cancel();
});

test("without a cursor the newest fifty are shown; what a browser saw last wins over its first address", async (t) => {
  const { at, kept } = await started(t);
  for (let n = 1; n <= 80; n++) kept.say("c1", `i${n}`, `text ${n}`);
  const newest = readEvents(await fetch(`${at}/c1/events`));
  assert.deepEqual(
    textsOf(await take(newest, 52)),
    Array.from({ length: 50 }, (_, i) => `text ${i + 31}`),
  );
  await newest.cancel();
  const back = readEvents(await fetch(`${at}/c1/events?after=2`, { headers: { "last-event-id": "78" } }));
  assert.deepEqual(textsOf(await take(back, 4)), ["text 79", "text 80"]);
  await back.cancel();
  const page = (await (await fetch(`${at}/c1/messages?before=31&limit=3`)).json()) as { messages: Message[] };
  assert.deepEqual(
    page.messages.map((one) => one.n),
    [28, 29, 30],
  );
  const foreign = readEvents(await fetch(`${at}/c1/events?after=900`));
  assert.equal(textsOf(await take(foreign, 52)).length, 50);
  await foreign.cancel();
});

test("conversations are listed newest first", async (t) => {
  const { at, kept } = await started(t);
  kept.say("old", "1", "first words");
  kept.say("young", "2", "other words");
  assert.deepEqual(await (await fetch(at)).json(), {
    chats: [
      { chat: "young", title: "other words", activeAt: 1002, lastN: 2 },
      { chat: "old", title: "first words", activeAt: 1001, lastN: 1 },
    ],
  });
});

test("a client that takes nothing does not make the gateway read or keep what it misses", async (t) => {
  const { at, kept, platform, server } = await started(t);
  const large = "x".repeat(256 * 1024);
  const socket = connect(server.port, "127.0.0.1");
  t.after(() => socket.destroy());
  await new Promise((resolve) => socket.once("connect", resolve));
  socket.write(`GET ${new URL(at).pathname}/c1/events?after=0 HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  await new Promise((resolve) => socket.once("data", resolve));
  socket.pause();
  for (let n = 0; n < 400; n++) {
    kept.say("c1", `i${n}`, large);
    await platform.send(reply("web", "c1", `i${n}`, large), AbortSignal.timeout(1e6));
    await new Promise(setImmediate);
  }
  const reads = kept.reads;
  assert.ok(reads < 100, `a stuck client caused ${reads} reads of 400 messages`);
  // It comes back with what it has and misses nothing.
  const events = readEvents(await fetch(`${at}/c1/events?after=390`));
  assert.deepEqual(
    (await take(events, 11)).slice(1).map((one) => one.id),
    Array.from({ length: 10 }, (_, i) => `${391 + i}`),
  );
  await events.cancel();
});

test("a stop ends every stream at once", async (t) => {
  const { at, stop, listening } = await started(t);
  const open = await Promise.all(
    Array.from({ length: 20 }, async (_, i) => readEvents(await fetch(`${at}/c${i % 3}/events`))),
  );
  for (const events of open) await take(events, 2);
  stop.abort();
  await listening;
  for (const events of open) assert.equal(await events.next(), null);
});
