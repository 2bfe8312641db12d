// A gateway composed from the public names alone, with a platform and an agent as an outside author would write them.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as api from "./index.ts";

test("the public values are these and no others", () => {
  assert.deepEqual(Object.keys(api).toSorted(), [
    "Bug",
    "Fault",
    "formatAddress",
    "gateway",
    "later",
    "limits",
    "openSqliteStore",
    "parseAddress",
    "realWorld",
    "sentenceOf",
    "textOf",
    "toParts",
  ]);
});

/** A platform with one user, who writes once and waits for the answer. */
function onePen(question: string): { readonly platform: api.Platform; readonly answer: Promise<string> } {
  const answered = Promise.withResolvers<string>();
  const from = { platform: "pen", account: "desk", chat: "c1" };
  const platform: api.Platform = {
    name: "pen",
    account: "desk",
    can: { keyedSend: true, draftEveryMs: null },
    parts: (text) => api.toParts(text, 1_000),
    async listen(accept, _from, up, signal) {
      up();
      const body = { kind: "text", text: question, files: [] } as const;
      await accept({ key: "m1", from, sender: "ann", body, sentAt: 1 as api.Instant }, "1");
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
    },
    async send(item) {
      answered.resolve(item.text);
      return { type: "accepted", remoteId: item.id };
    },
    draft: () => undefined,
  };
  return { platform, answer: answered.promise };
}

const shouting: api.Agent = {
  tools: [],
  step: async (job) => ({ type: "said", text: api.textOf(job.input.body).toUpperCase(), calls: [], final: true }),
  close: async () => undefined,
};

test("a gateway of one's own answers a message, and stops", async (t) => {
  const store = await api.openSqliteStore({ file: ":memory:", writer: "inline" });
  t.after(() => store.close());
  const world = api.realWorld(() => undefined);
  const now = world.now();
  const facts = { pid: process.pid, host: "here", machine: "m1", version: "0.0.0" };
  const boot: api.Boot = { id: world.id() as api.BootId, ...facts, startedAt: now, beatAt: now, stop: null };
  const { platform, answer } = onePen("good morning");
  const settings: api.Settings = { drainMs: 0, lanesMax: 4, platforms: {} };
  const gate = api.gateway({ store, platforms: [platform], agent: shouting, world, settings, boot });
  const running = gate.run();
  await gate.ready;
  assert.equal(await answer, "GOOD MORNING");
  gate.stop({ to: "stop", by: "cli", reason: "the test is over" });
  assert.deepEqual(await running, {
    intent: { to: "stop", by: "cli", reason: "the test is over" },
    clean: true,
  });
  const [session] = await store.sessions({ limit: 1 });
  assert.equal(session?.title, "good morning");
  assert.equal(await store.cursor("pen", "desk"), "1");
});
