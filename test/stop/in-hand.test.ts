// What a platform has in hand when the gateway stops: the real Telegram client against the fake of its server, in this
// process, so that nothing ends only because the process does.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { BootId } from "../../src/core/ids.ts";
import { newBoot } from "../../src/core/recovery.ts";
import { gateway } from "../../src/engine/gateway.ts";
import { defaultPlatformSettings } from "../../src/engine/parts.ts";
import { telegram } from "../../src/platforms/telegram/index.ts";
import type { Agent } from "../../src/ports/agent.ts";
import { openBlobs } from "../../src/stores/blobs/index.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { realWorld } from "../../src/world.ts";
import { FakeTelegram } from "../fakes/telegram.ts";
import { whenAborted } from "./stage.ts";

/** Answers `quick` at once and works on anything else until it is interrupted. */
const agent: Agent = {
  tools: [],
  step: async ({ input }, signal) => {
    if (input.body.kind === "text" && input.body.text === "quick")
      return { type: "said", text: "done", calls: [], final: true };
    return new Promise((_, reject) => whenAborted(signal, () => reject(signal.reason)));
  },
  close: async () => undefined,
};

async function serving(t: TestContext, fake: FakeTelegram) {
  const folder = mkdtempSync(join(tmpdir(), "everturn-in-hand-"));
  const store = await openSqliteStore({ file: join(folder, "store"), writer: "inline" });
  t.after(async () => {
    await store.close();
    await fake.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const world = realWorld(() => undefined);
  const settings = { token: fake.token, apiRoot: fake.url, streaming: false, receipts: true };
  const { platform } = telegram(settings, { world, blobs: openBlobs(join(folder, "files")) });
  const self = gateway({
    store,
    agent,
    platforms: [platform],
    world,
    boot: newBoot({
      id: "b1" as BootId,
      pid: 1,
      host: "here",
      machine: "m",
      version: "test",
      config: "c",
      startedAt: world.now(),
    }),
    settings: {
      drainMs: 0,
      lanesMax: 8,
      recovery: { afterCrash: "resume", autoResume: true },
      budget: null,
      platforms: { telegram: defaultPlatformSettings },
    },
  });
  const ended = self.run();
  return { self, ended, store };
}

async function until(isTrue: () => boolean, what: () => string): Promise<void> {
  const patience = performance.now() + 30_000;
  while (!isTrue()) {
    assert.ok(performance.now() < patience, what());
    await pause(5);
  }
}

test("S11 a stop cancels what Telegram has in hand: poll, download, send, typing and receipt; nothing is left of it", async (t) => {
  const held = ["download", "sendMessage", "sendChatAction", "setMessageReaction", "setMyCommands"];
  const fake = await FakeTelegram.start({
    breaks: (method) => (held.includes(method) ? { type: "hold" } : null),
  });
  const { self, ended, store } = await serving(t, fake);
  const [ada, bob] = [fake.person("Ada"), fake.person("Bob")];
  ada.write("quick");
  bob.write("work");
  await until(
    () => fake.inHand.includes("sendMessage") && fake.inHand.includes("sendChatAction"),
    () => `a send and a sign that somebody types are in hand: ${fake.inHand.join()}`,
  );
  bob.send("photo", { name: "a.jpg", content: "a picture" });
  await until(
    () => held.every((method) => fake.inHand.includes(method)) && self.status().running.length === 1,
    () => `all of it is in hand: ${fake.inHand.join()}`,
  );
  self.stop({ class: "planned", by: "cli", reason: "the test says so" });
  await ended;
  // The far side sees connections break off before it answers what is asked after that. Waiting would not do: a call that is
  // not canceled ends by its own limit at some time.
  for (let trips = 0; trips < 200 && fake.inHand.length > 0; trips++)
    await (await fetch(`${fake.url}/bot${fake.token}/getMe`)).text();
  assert.deepEqual(fake.inHand, [], "calls");
  assert.deepEqual(self.status().running, [], "active sessions");
  const { turns } = await store.counts();
  assert.deepEqual([turns.running, turns.parked], [0, 1], "the interrupted turn waits in the store, not in memory");
  assert.equal(fake.waiting, 1, "what was not stored is still Telegram's");
});
