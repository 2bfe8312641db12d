// An answer that becomes several visible messages, and a kill between them: what has a stored receipt is not sent again, by no
// call at all, and the rest follows.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { Instant } from "../../src/core/ids.ts";
import type { Address, FileRef } from "../../src/core/message.ts";
import type { OutboxItem } from "../../src/core/outbox.ts";
import { matrix } from "../../src/platforms/matrix/index.ts";
import { slack } from "../../src/platforms/slack/index.ts";
import { telegram } from "../../src/platforms/telegram/index.ts";
import type { Platform, Surroundings } from "../../src/ports/platform.ts";
import { openBlobs } from "../../src/stores/blobs/index.ts";
import { anItem, bootId } from "../../src/testing/samples.ts";
import { realWorld } from "../../src/world.ts";
import { fakeMatrix } from "../fakes/matrix.ts";
import { appToken, bot, botToken, openSlack } from "../fakes/slack.ts";
import { FakeTelegram } from "../fakes/telegram.ts";
import { atEnd } from "../process/stage.ts";

type Far = {
  open(around: Surroundings): Platform;
  readonly to: Address;
  /** Visible messages, by what identifies each: its text, or the names of its files. */
  seen(): readonly string[];
  /** How often a message was posted, also one that the server recognized as a repeat. */
  posts(): number;
  /** What is seen in the end, and after the first receipt. */
  readonly whole: readonly string[];
};

async function telegramSide(t: TestContext): Promise<Far> {
  const fake = await FakeTelegram.start();
  atEnd(t, () => fake.close());
  const { chat } = fake.person("Ann");
  const settings = { token: fake.token, apiRoot: fake.url, streaming: true, receipts: false };
  return {
    open: (around) => telegram(settings, around).platform,
    to: { platform: "telegram", account: "777", chat: String(chat.id) },
    seen: () => fake.shown(chat).map(({ text, file }) => text || (file?.name ?? "")),
    posts: () => fake.calls.filter(({ method }) => method.startsWith("send")).length,
    whole: ["words", "a.txt", "b.txt"],
  };
}

async function slackSide(t: TestContext): Promise<Far> {
  const fake = await openSlack();
  atEnd(t, () => fake.close());
  fake.workspace.direct("U1");
  const settings = { botToken, appToken, apiRoot: fake.apiRoot, streaming: true };
  return {
    open(around) {
      // By its metadata the message would be found without a receipt.
      for (const message of fake.written("DU1")) delete message.metadata;
      return slack(settings, around);
    },
    to: { platform: "slack", account: bot.app, chat: "DU1" },
    seen: () => fake.written("DU1").map(({ text, files = [] }) => text || files.map(({ name }) => name).join()),
    posts: () =>
      fake.calls.filter(({ method }) => ["chat.postMessage", "files.completeUploadExternal"].includes(method)).length,
    whole: ["words", "a.txt,b.txt"],
  };
}

async function matrixSide(t: TestContext): Promise<Far> {
  const fake = await fakeMatrix();
  atEnd(t, () => fake.close());
  fake.makeRoom("!r:fake.test", ["@ann:fake.test"]);
  const settings = { homeserver: fake.url, user: fake.user, token: fake.token, streaming: true };
  return {
    open: (around) => matrix(settings, around),
    to: { platform: "matrix", account: fake.user, chat: "!r:fake.test" },
    seen: () => fake.shown("!r:fake.test").map(({ text }) => text),
    posts: () => fake.sends,
    whole: ["words", "a.txt", "b.txt"],
  };
}

for (const [name, openSide] of [
  ["telegram", telegramSide],
  ["slack", slackSide],
  ["matrix", matrixSide],
] as const)
  test(`${name}: a kill after each receipt repeats no confirmed message`, { timeout: 120_000 }, async (t) => {
    const far = await openSide(t);
    const folder = mkdtempSync(join(tmpdir(), "everturn-receipts-"));
    atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
    const around = { world: realWorld(() => undefined), blobs: openBlobs(folder) };
    const files = await Promise.all(["a.txt", "b.txt"].map((file) => stored(around, file)));
    const sent: string[] = [];
    for (let boot = 1; boot <= far.whole.length; boot++) {
      const item = itemOf(far.to, files, boot, sent);
      // The process ends right after a receipt is stored.
      const killed = new AbortController();
      const confirm = async (remoteId: string): Promise<void> => {
        sent.push(remoteId);
        killed.abort(new Error("killed"));
        throw new Error("killed");
      };
      const result = await far
        .open(around)
        .send(item, killed.signal, confirm)
        .catch(() => null);
      assert.deepEqual(far.seen(), far.whole.slice(0, boot));
      assert.equal(far.posts(), boot);
      assert.equal(result?.type === "accepted", boot === far.whole.length);
    }
    assert.equal(new Set(sent).size, far.whole.length - 1);
  });

async function stored({ blobs }: Surroundings, name: string): Promise<FileRef> {
  return blobs.put(Buffer.from(`content of ${name}`), { name, mime: "text/plain" });
}

function itemOf(to: Address, files: readonly FileRef[], boot: number, sent: readonly string[]): OutboxItem {
  const tries = boot === 1 ? { attempts: 1 } : { attempts: boot, doubts: boot - 1, sent: [...sent] };
  return anItem("i1", { to, text: "words", files, now: { state: "sending", boot: bootId(`b${boot}`), ...tries } });
}

test("matrix: an old uncertain send is found although the homeserver has forgotten its transaction id", async (t) => {
  const fake = await fakeMatrix();
  atEnd(t, () => fake.close());
  const room = "!r:fake.test";
  fake.makeRoom(room, ["@ann:fake.test"]);
  const folder = mkdtempSync(join(tmpdir(), "everturn-receipts-"));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  const world = realWorld(() => undefined);
  const settings = { homeserver: fake.url, user: fake.user, token: fake.token, streaming: true };
  const platform = matrix(settings, { world, blobs: openBlobs(folder) });
  const { signal } = new AbortController();
  const to = { platform: "matrix", account: fake.user, chat: room };
  const createdAt = (world.now() - 3_600_000) as Instant;
  const item = (id: string, tries: object): OutboxItem =>
    anItem(id, { to, text: "words", createdAt, now: { state: "sending", boot: bootId("b1"), attempts: 1, ...tries } });
  const first = await platform.send(item("i1", {}), signal);
  for (let n = 0; n < 10; n++) fake.write(room, "@ann:fake.test", `later ${n}`);
  fake.forgetTransactions();
  // The break cut the send off, and later another one was in doubt.
  for (const tries of [{ cuts: 1 }, { doubts: 1 }]) {
    assert.deepEqual(await platform.send(item("i1", { attempts: 2, ...tries }), signal), first);
    assert.equal(fake.shown(room).length, 1);
  }
  // Another item with the same words is another message.
  assert.notDeepEqual(await platform.send(item("i2", { attempts: 2, cuts: 1 }), signal), first);
  assert.equal(fake.shown(room).length, 2);
  // The same holds for the placeholder of an answer.
  const place = async (id: string, placedSince: Instant | null) =>
    platform.drafts?.place(to, {}, signal, { id, placedSince });
  const placed = await place("draft-1", null);
  fake.forgetTransactions();
  assert.deepEqual(await place("draft-1", createdAt), placed);
  assert.equal(fake.shown(room).length, 3);
  assert.notDeepEqual(await place("draft-2", createdAt), placed);
  assert.equal(fake.shown(room).length, 4);
});
