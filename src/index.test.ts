// Gateways composed from the public names alone, with platforms, agents and tools as an outside author would write them.

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import * as api from "./index.ts";

test("the public values are these and no others", () => {
  assert.deepEqual(Object.keys(api).toSorted(), [
    "Bug",
    "Fault",
    "formatAddress",
    "gateway",
    "later",
    "limits",
    "newBoot",
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
    async listen({ accept, up }, _from, signal) {
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

function openStore(): Promise<api.SqliteStore> {
  return api.openSqliteStore({ file: ":memory:", writer: "inline" });
}

const overNow: api.StopIntent = { class: "planned", by: "cli", reason: "the test is over" };

/** A gateway that runs; it is stopped when the test ends, however it ends. */
function started(t: TestContext, store: api.SqliteStore, platform: api.Platform, agent: api.Agent) {
  const world = api.realWorld(() => undefined);
  const now = world.now();
  const facts = { pid: process.pid, host: "here", machine: "m1", version: "0.0.0", config: "" };
  const boot = api.newBoot({ id: world.id() as api.BootId, ...facts, startedAt: now });
  const settings: api.Settings = {
    drainMs: 0,
    lanesMax: 4,
    recovery: { afterCrash: "resume", autoResume: true },
    platforms: {},
  };
  const gate = api.gateway({ store, platforms: [platform], agent, world, settings, boot });
  const running = gate.run();
  t.after(async () => {
    gate.stop(overNow);
    await running;
  });
  return { gate, running };
}

test("a gateway of one's own answers a message, and stops", async (t) => {
  const store = await openStore();
  const { platform, answer } = onePen("good morning");
  const { gate, running } = started(t, store, platform, {
    tools: [],
    step: async (job) => ({ type: "said", text: api.textOf(job.input.body).toUpperCase(), calls: [], final: true }),
    close: async () => undefined,
  });
  await gate.ready;
  assert.equal(await answer, "GOOD MORNING");
  gate.stop(overNow);
  const { intent, clean } = await running;
  assert.deepEqual({ intent, clean }, { intent: overNow, clean: true });
  const [session] = await store.sessions({ limit: 1 });
  assert.equal(session?.title, "good morning");
  assert.equal(await store.cursor("pen", "desk"), "1");
});

/** Rings, then takes so long that only a stop ends it; at its second call it is done at once. */
function bell(effect: api.ToolEffect): { readonly agent: api.Agent; readonly rung: Promise<void>; rings(): number } {
  const rung = Promise.withResolvers<void>();
  let rings = 0;
  const tool: api.Tool = {
    name: "ring",
    description: "Rings a bell.",
    effect,
    input: { type: "object" },
    async run(_input, { signal }) {
      rings += 1;
      rung.resolve();
      if (rings === 1) await sleep(3_600_000, undefined, { signal });
      return { type: "ok", output: "it rang" };
    },
    ...(effect === "checkable" ? { check: async () => ({ type: "ok", output: "it rang" }) as const } : {}),
  };
  const agent: api.Agent = {
    tools: [tool],
    async step({ journal }) {
      const ended = journal.find((entry) => entry.type === "tool-ended");
      if (ended === undefined) {
        return { type: "said", text: "", calls: [{ call: "1", tool: "ring", input: {} }], final: false };
      }
      return { type: "said", text: `the bell: ${ended.result.type}`, calls: [], final: true };
    },
    close: async () => undefined,
  };
  return { agent, rung: rung.promise, rings: () => rings };
}

// The bell did ring, so nobody may be told that it failed; what it is worth after the restart is up to its effect.
for (const { effect, told, rings } of [
  { effect: "pure", told: "the bell: ok", rings: 2 },
  { effect: "keyed", told: "the bell: ok", rings: 2 },
  { effect: "checkable", told: "the bell: ok", rings: 1 },
  { effect: "once", told: "the bell: unknown", rings: 1 },
] as const) {
  test(`a restart in the middle of a ${effect} tool is no failure of the tool: ${told}`, async (t) => {
    const store = await openStore();
    const ringing = bell(effect);
    const before = started(t, store, onePen("ring the bell").platform, ringing.agent);
    await ringing.rung;
    before.gate.stop({ class: "restart", by: "cli", reason: "a new version" });
    await before.running;

    const { platform, answer } = onePen("ring the bell");
    started(t, store, platform, ringing.agent);
    assert.equal(await answer, told);
    assert.equal(ringing.rings(), rings);
  });
}
