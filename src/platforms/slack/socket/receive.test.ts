// The way in while sockets end: what a reading of the past may still do when it is over, and what waits for which. Calls of
// Slack answer here when the test lets them.

import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { test } from "node:test";
import type { Inlet } from "../../../ports/platform.ts";
import { realWorld } from "../../../world.ts";
import type { Api, SlackMessage } from "../api.ts";
import { openDesk } from "../desk.ts";
import { type Offered, receiver } from "./receive.ts";

const self = { user: "UBOT", bot: "BBOT", name: "bot", team: "t", app: "A1" };
const settings = { botToken: "xoxb-1", appToken: "xapp-1", apiRoot: "http://127.0.0.1:9/api", streaming: true };
const settled = async (): Promise<void> => {
  for (let n = 0; n < 20; n++) await turn();
};

function opened() {
  const pasts = new Map<string, SlackMessage[]>([
    ["CA", []],
    ["CB", []],
  ]);
  const held = new Map<string, PromiseWithResolvers<void>>();
  const reads: string[] = [];
  const calls: Partial<Api> = {
    conversations: async (kind) => ({
      items: kind === "public_channel" ? [...pasts.keys()].map((id) => ({ id })) : [],
      next: null,
    }),
    async history(id) {
      reads.push(id);
      const items = (pasts.get(id) ?? []).toReversed();
      await held.get(id)?.promise;
      return { items, next: null };
    },
    userName: async () => "ann",
  };
  const world = realWorld(() => undefined);
  const blobs = { put: () => assert.fail(), read: () => assert.fail(), path: () => assert.fail() };
  const desk = { ...openDesk(settings, "A1", world, blobs), api: calls as Api, namesOf: async () => new Map() };
  const stored: string[] = [];
  let at = "1700000000.000000";
  const inlet: Inlet = {
    async accept({ key }, cursor) {
      stored.push(key);
      if (cursor !== null) ({ at } = JSON.parse(cursor) as { at: string });
      return "accepted";
    },
    hears: async () => true,
    moved: async (cursor) => void ({ at } = JSON.parse(cursor) as { at: string }),
    up: () => undefined,
    trouble: () => undefined,
  };
  const stop = new AbortController();
  const line = receiver(desk, self, inlet, { born: at, at, recent: ["CB", "CA"], threads: [] }, stop.signal);
  return {
    line,
    reads,
    stored,
    stop,
    at: () => at,
    /** The past of a conversation is not told before this is called; it is told as it was when it was asked for. */
    hold(id: string): () => void {
      const gate = Promise.withResolvers<void>();
      held.set(id, gate);
      return () => {
        held.delete(id);
        gate.resolve();
      };
    },
    said(channel: string, second: number): SlackMessage {
      const message = { type: "message", ts: `${1_700_000_000 + second}.000000`, user: "UANN", text: `at ${second}` };
      pasts.get(channel)?.push(message);
      return message;
    },
  };
}

function told(channel: string, message: SlackMessage): Offered & { readonly isDone: () => boolean } {
  let isDone = false;
  return {
    type: "events_api",
    body: { event: { ...message, channel, channel_type: "channel" } },
    ack: async () => void (isDone = true),
    isDone: () => isDone,
  };
}

test("a reading that a gap has ended neither counts nor moves the place", async () => {
  const { line, hold, said, stored, at } = opened();
  const release = hold("CB");
  line.gap();
  const first = line.catchUp().catch(() => undefined);
  await settled();
  // The socket ends while CA is read and CB is not; somebody writes in both before the next one stands.
  line.gap();
  said("CA", 100);
  const last = said("CB", 500);
  const second = line.catchUp();
  release();
  await Promise.all([first, second]);
  assert.deepEqual(stored.toSorted(), ["CA:1700000100.000000", "CB:1700000500.000000"]);
  assert.equal(at(), last.ts);
});

test("what came before a gap waits for a reading that began when the next socket stood", async () => {
  const { line, said, stored, reads } = opened();
  line.gap();
  const late = said("CA", 200);
  const envelope = told("CA", late);
  line.offer(envelope);
  await settled();
  assert.deepEqual([reads, stored], [[], []]);
  said("CA", 300);
  await line.catchUp();
  await settled();
  assert.deepEqual(stored.slice(0, 2), ["CA:1700000200.000000", "CA:1700000300.000000"]);
  assert.ok(envelope.isDone());
});

test("what waits for a reading that is over waits for the next one", async () => {
  const { line, hold, said, stored } = opened();
  const release = hold("CA");
  line.gap();
  const first = line.catchUp().catch(() => undefined);
  const envelope = told("CA", said("CA", 200));
  line.offer(envelope);
  await settled();
  line.gap();
  said("CA", 100);
  release();
  await first;
  await settled();
  assert.deepEqual(stored, []);
  await line.catchUp();
  await settled();
  assert.deepEqual(stored.slice(0, 2), ["CA:1700000100.000000", "CA:1700000200.000000"]);
  assert.ok(envelope.isDone());
});

test("after the end nothing is stored and the place stays", async () => {
  const { line, hold, said, stored, stop, at } = opened();
  said("CA", 100);
  const release = hold("CA");
  line.gap();
  const reading = line.catchUp().catch(() => undefined);
  line.offer(told("CA", said("CA", 200)));
  await settled();
  stop.abort();
  release();
  await reading;
  await settled();
  assert.deepEqual([stored, at()], [[], "1700000000.000000"]);
});

test("a mention that is told once more after it was stored does not hold the place", async () => {
  const { line, said, at } = opened();
  for (const second of [100, 200]) {
    const message = { ...said("CA", second), text: "<@UBOT> hi" };
    for (const type of ["message", "app_mention"]) {
      const envelope = told("CA", { ...message, type });
      line.offer(envelope);
      await settled();
      assert.ok(envelope.isDone());
    }
  }
  assert.equal(at(), "1700000200.000000");
  line.offer(told("CA", said("CA", 300)));
  await settled();
  assert.equal(at(), "1700000300.000000");
});
