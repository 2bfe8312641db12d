import assert from "node:assert/strict";
import { test } from "node:test";
import type { FeedEvent } from "../state.ts";
import { follow, splitter } from "./stream.ts";

test("a stream is cut into events wherever its pieces end", () => {
  const text = 'event: hello\ndata: {"a":1}\n\n:ping\n\nid: 7\nevent: message\ndata: x\ndata: y\n\ndata: plain\n\n';
  const events = [
    { type: "hello", data: '{"a":1}' },
    { type: "message", data: "x\ny" },
    { type: "message", data: "plain" },
  ];
  assert.deepEqual(splitter()(text), events);
  const split = splitter();
  assert.deepEqual(
    [...text].flatMap((letter) => split(letter)),
    events,
  );
  assert.deepEqual(splitter()("event: hello\ndata: 1\n"), [], "without its end it waits");
});

/** Streams by script: each attempt takes the next. */
function following(answers: (() => Promise<Response>)[]) {
  const seen: string[] = [];
  const done = Promise.withResolvers<void>();
  const stream = follow({
    open: (signal) => {
      const next = answers.shift();
      if (next !== undefined) return next();
      return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("aborted"))));
    },
    events: (batch: readonly FeedEvent[]) => {
      seen.push(...batch.map(({ type }) => type));
      if (answers.length === 0) done.resolve();
    },
    denied: () => {
      seen.push("denied");
      done.resolve();
    },
  });
  return { stream, seen, done: done.promise };
}

const body = (text: string) => async () => new Response(text);

test("each loss is followed by a new attempt, whatever ended the one before", async () => {
  const { stream, seen, done } = following([
    body('event: hello\ndata: {"boot":"b1"}\n\n'),
    async () => new Response("busy", { status: 503 }),
    () => Promise.reject(new TypeError("network")),
    body("event: live\ndata: {}\n\n"),
  ]);
  await done;
  stream.close();
  assert.deepEqual(seen.slice(0, 4), ["hello", "lost", "lost", "lost"]);
  assert.ok(seen.includes("live"));
});

test("a browser that is not signed in stops asking and says so", async () => {
  const { stream, seen, done } = following([async () => new Response("", { status: 401 })]);
  await done;
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(seen, ["lost", "denied"]);
  stream.close();
});
