// What a set of streams holds while clients come, go and get stuck.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../core/fault.ts";
import { keptTranscript, readEvents, serve } from "./samples.ts";
import { streams } from "./streams.ts";

const hello = { boot: "b", version: "v" };

test("a client that disconnects mid-stream leaves nothing behind", async (t) => {
  const open = streams("web", keptTranscript("web"), hello, 60_000);
  let gone: () => void = () => {};
  const server = await serve(async () => {
    const body = open.open("c1", 0);
    return new Response(body?.pipeThrough(new TransformStream({ cancel: () => gone() })) ?? null);
  });
  t.after(() => server.close());
  const left = new Promise<void>((resolve) => {
    gone = resolve;
  });
  const quit = new AbortController();
  const events = readEvents(await fetch(server.url, { signal: quit.signal }));
  assert.equal((await events.next())?.type, "hello");
  assert.equal(open.size, 1);
  quit.abort();
  await left;
  await new Promise(setImmediate);
  assert.equal(open.size, 0);
  open.draft("c1", "nobody");
  open.draft("c1", null);
});

test("a stream without news pings, and drafts in between are skipped", async () => {
  const open = streams("web", keptTranscript("web"), hello, 1);
  const body = open.open("c1", undefined) ?? assert.fail("refused");
  const events = readEvents(new Response(body));
  assert.equal((await events.next())?.type, "hello");
  assert.equal((await events.next())?.type, "live");
  assert.equal((await events.next())?.type, "ping");
  for (let n = 0; n < 1_000; n++) open.draft("c1", `draft ${n}`);
  let event = await events.next();
  while (event?.type === "ping") event = await events.next();
  assert.deepEqual(event?.data, { text: "draft 999" });
  await events.cancel();
  assert.equal(open.size, 0);
  open.closeAll();
});

test("who joins in the middle of an answer sees it so far", async () => {
  const open = streams("web", keptTranscript("web"), hello, 60_000);
  open.draft("c1", "half an ans");
  const events = readEvents(new Response(open.open("c1", 0)));
  const seen = [await events.next(), await events.next(), await events.next()];
  assert.deepEqual(
    seen.map((one) => [one?.type, one?.data]),
    [
      ["hello", hello],
      ["live", {}],
      ["draft", { text: "half an ans" }],
    ],
  );
  open.closeAll();
  assert.equal(await events.next(), null);
});

test("a store that cannot be read ends the stream; the client comes back later", async () => {
  const kept = keptTranscript("web");
  const open = streams(
    "web",
    { ...kept, messagesAfter: () => Promise.reject(new Fault("store-failed", "no disk")) },
    hello,
    60_000,
  );
  const events = readEvents(new Response(open.open("c1", 1)));
  assert.equal((await events.next())?.type, "hello");
  assert.equal((await events.next())?.type, "no disk");
  assert.equal(await events.next(), null);
  assert.equal(open.size, 0);
});
