// How Discord is listened to, in the library's own words against the fake: sessions that are resumed, forgotten and begun,
// connections that go deaf, and what is refused for good.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, describe, test } from "node:test";
import { Fault } from "../../src/core/fault.ts";
import type { Instant } from "../../src/core/ids.ts";
import { textOf } from "../../src/core/message.ts";
import { discord } from "../../src/platforms/discord/index.ts";
import { type Connection, connect } from "../../src/platforms/discord/stream/connection.ts";
import { openBlobs } from "../../src/stores/blobs/index.ts";
import { anItem, bootId } from "../../src/testing/samples.ts";
import { type Kept, inletOf, kept, live } from "../../src/testing/platform/steps.ts";
import { realWorld } from "../../src/world.ts";
import {
  type DiscordFake as Fake,
  bob,
  bot,
  direct,
  discordFake,
  forum,
  general,
  thread,
  token,
} from "../fakes/discord.ts";
import { until } from "../process/stage.ts";

async function stage(t: TestContext) {
  const fake = await discordFake();
  const folder = mkdtempSync(join(tmpdir(), "everturn-discord-"));
  t.after(async () => {
    await fake.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const logged: string[] = [];
  const blobs = openBlobs(folder);
  const world = realWorld((_, what) => void logged.push(what));
  const open = () => discord({ token, apiRoot: fake.url, streaming: true }, { world, blobs });
  /** A life until it is cut off. */
  const begin = async (store: Kept, platform = open()) => {
    const life = live(platform, store);
    const end = async (): Promise<void> => {
      life.stop.abort();
      await life.ended;
    };
    t.after(end);
    await life.up;
    return { platform, end };
  };
  const settled = (): Promise<unknown> =>
    until(
      () => fake.gateway.ask(),
      (has) => has !== null && has >= (fake.gateway.session()?.seq ?? 0),
      "all is settled",
    );
  return { fake, open, begin, settled, logged, blobs };
}

const words = (store: Kept): readonly string[] => store.stored.map(({ body }) => textOf(body));

describe("sessions", { timeout: 120_000 }, () => {
  test("history of before the first start is left alone", async (t) => {
    const { fake, begin, settled } = await stage(t);
    for (const channel of [general, thread, direct]) fake.write(channel, `old <@${bot.id}>`);
    const store = kept();
    await begin(store);
    fake.say(general, "new");
    await settled();
    assert.deepEqual(words(store), ["new"]);
  });

  test("one that was cut is resumed, and nothing comes twice", async (t) => {
    const { fake, begin, settled } = await stage(t);
    const store = kept();
    const first = await begin(store);
    fake.say(direct, "a");
    await settled();
    await first.end();
    fake.say(direct, "b");
    await begin(store);
    await settled();
    assert.deepEqual(words(store), ["a", "b"]);
    assert.deepEqual(fake.gateway.counts, { identified: 1, resumed: 1, invalid: 0 });
    assert.equal(store.taken.length, 2);
  });

  test("one that Discord has forgotten: what was missed is read, oldest first, before what is new", async (t) => {
    const { fake, begin, settled } = await stage(t);
    const store = kept();
    const first = await begin(store);
    for (const channel of [direct, general, thread]) fake.say(channel, "known");
    await settled();
    await first.end();
    fake.gateway.forget();
    for (let n = 0; n < 120; n++) fake.write(direct, `missed ${n}`);
    fake.write(general, "missed in a channel");
    const opened = fake.openThread(forum, "a post nobody has told us of");
    fake.write(opened, "missed in a new thread");
    await begin(store);
    await until(() => fake.gateway.isConnected(), Boolean, "it is connected");
    fake.say(direct, "live");
    await settled();
    const expected = Array.from({ length: 120 }, (_, n) => `missed ${n}`);
    assert.deepEqual(
      store.stored.filter(({ from }) => from.chat === direct).map(({ body }) => textOf(body)),
      ["known", ...expected, "live"],
    );
    assert.deepEqual(
      store.stored
        .slice(3)
        .filter(({ from }) => from.chat !== direct)
        .map(({ from, body }) => [from.thread, textOf(body)]),
      [
        [undefined, "missed in a channel"],
        [opened, "missed in a new thread"],
      ],
    );
    assert.deepEqual(fake.gateway.counts, { identified: 2, resumed: 0, invalid: 1 });
  });

  test("killed while it reads what was missed, the next life reads the rest", async (t) => {
    const { fake, begin, settled, open } = await stage(t);
    const store = kept();
    const first = await begin(store);
    fake.say(direct, "known");
    await settled();
    await first.end();
    fake.gateway.forget();
    for (let n = 0; n < 5; n++) fake.write(direct, `missed ${n}`);
    const second = live(open(), store, (message, cursor) =>
      words(store).length < 3 ? store.accept(message, cursor) : new Promise(() => undefined),
    );
    await until(
      () => words(store).length,
      (count) => count >= 3,
      "two are read",
    );
    second.stop.abort();
    await second.ended;
    await begin(store);
    await settled();
    assert.deepEqual(words(store), ["known", ...Array.from({ length: 5 }, (_, n) => `missed ${n}`)]);
  });
});

describe("connections", { timeout: 120_000 }, () => {
  for (const [what, breaking] of [
    ["closed with 4000", (fake: Fake) => fake.gateway.close(4000)],
    ["broken without a word", (fake: Fake) => fake.gateway.drop()],
    ["told to come back", (fake: Fake) => fake.gateway.reconnect()],
    ["deaf", (fake: Fake) => fake.gateway.deafen()],
  ] as const) {
    test(`one that is ${what} is made anew and resumed`, async (t) => {
      const { fake, begin, settled } = await stage(t);
      fake.gateway.heartbeatMs = 200;
      const store = kept();
      await begin(store);
      fake.say(direct, "a");
      await settled();
      breaking(fake);
      fake.say(direct, "b");
      await store.count(2);
      assert.deepEqual(words(store), ["a", "b"]);
      assert.equal(fake.gateway.counts.identified, 1);
      assert.ok(fake.gateway.counts.resumed >= 1);
    });
  }

  test("a stop leaves the session to be resumed", async (t) => {
    const { fake, begin } = await stage(t);
    const { end } = await begin(kept());
    await end();
    await until(
      () => fake.gateway.isConnected(),
      (is) => !is,
      "it is gone",
    );
    assert.notEqual(fake.gateway.session(), null);
    fake.say(direct, "meanwhile");
    assert.ok((fake.gateway.session()?.events.length ?? 0) > 2);
  });

  const refusals: readonly (readonly [code: number, words: RegExp])[] = [
    [4014, /MESSAGE CONTENT INTENT/],
    [4004, /token/],
    [4011, /servers/],
  ];
  for (const [code, said] of refusals) {
    test(`closed with ${code}, it is not tried again`, async (t) => {
      const { fake, open } = await stage(t);
      fake.gateway.refuseWith = code;
      const life = live(open(), kept());
      await assert.rejects(
        life.ended,
        (error) => error instanceof Fault && error.code === "denied" && said.test(error.message),
      );
      assert.equal(fake.gateway.counts.identified, 1);
    });
  }

  test("the last sessions of a day are not used", async (t) => {
    const { fake, open } = await stage(t);
    fake.sessionsLeft = 3;
    const inlet = inletOf(async () => "accepted");
    await assert.rejects(open().listen(inlet, null, new AbortController().signal), /too often today/);
    assert.equal(fake.gateway.counts.identified, 0);
  });
});

test("a connection that ends during a heartbeat leaves no timer behind", { timeout: 300_000 }, async (t) => {
  const { fake } = await stage(t);
  fake.gateway.heartbeatMs = 500;
  const timers = (): number => process.getActiveResourcesInfo().filter((one) => one === "Timeout").length;
  const before = timers();
  let isReady = false;
  const connection: Connection = await connect({
    token,
    url: fake.url.replace("http", "ws"),
    resume: null,
    // After READY only heartbeats ask for it.
    settled() {
      if (isReady) connection.cut("in the middle of a heartbeat");
      return 1;
    },
  });
  for (let event = await connection.next(); !("why" in event); event = await connection.next()) isReady = true;
  await until(timers, (count) => count <= before, "nothing beats any more");
});

describe("what people do", { timeout: 120_000 }, () => {
  test("slash commands are registered once, and answered after they are stored", async (t) => {
    const { fake, begin, settled } = await stage(t);
    const store = kept();
    const first = await begin(store);
    const puts = (): number => fake.calls.filter(({ method }) => method === "PUT").length;
    await until(puts, (count) => count === 1, "they are registered");
    const id = fake.slash(general, "stop", undefined, bob);
    await until(() => fake.receipt(id), Boolean, "it is answered");
    assert.deepEqual(
      store.stored.map(({ body, sender }) => [body, sender]),
      [[{ kind: "command", name: "stop", rest: "" }, bob.id]],
    );
    await first.end();
    await begin(store);
    await settled();
    await until(
      () => fake.calls.filter(({ path }) => path.endsWith("/commands")).length,
      (count) => count >= 3,
      "they are compared",
    );
    assert.equal(puts(), 1);
  });

  test("a file that was sent along is kept, and one that cannot be had is told", async (t) => {
    const { fake, begin, blobs } = await stage(t);
    const store = kept();
    const { platform } = await begin(store);
    const to = { platform: "discord", account: bot.id, chat: direct };
    const file = await blobs.put(Buffer.from("content"), { name: "a.txt", mime: "text/plain" });
    const item = anItem("i1", {
      to,
      text: "here",
      files: [file],
      now: { state: "sending", boot: bootId("b1"), attempts: 1 },
    });
    assert.equal((await platform.send(item, new AbortController().signal)).type, "accepted");
    const [sent] = fake.seen(direct);
    assert.deepEqual(
      sent?.attachments.map((one) => [one.filename, fake.contentOf(one)]),
      [["a.txt", "content"]],
    );
    const gone = { id: "1", filename: "b.txt", size: 5, url: `${fake.url}/nothing` };
    const large = { id: "2", filename: "c.iso", size: 900_000_000, url: `${fake.url}/large` };
    fake.say(direct, "look", { attachments: [...(sent?.attachments ?? []), gone, large] });
    await store.count(1);
    const body = store.stored[0]?.body;
    assert.ok(body?.kind === "text");
    assert.equal(String(await blobs.read(body.files[0]?.blob ?? "")), "content");
    assert.match(
      body.text,
      /^look\n\[The file b\.txt could not be had: .*\]\n\[The file c\.iso could not be had: it is larger than 50 MB\.\]$/,
    );
  });

  test("files of a forwarded message are fetched like its own", async (t) => {
    const { fake, begin, blobs } = await stage(t);
    const store = kept();
    const { platform } = await begin(store);
    const file = await blobs.put(Buffer.from("contract"), { name: "contract.pdf", mime: "application/pdf" });
    const item = anItem("i1", {
      to: { platform: "discord", account: bot.id, chat: direct },
      text: "here",
      files: [file],
      now: { state: "sending", boot: bootId("b1"), attempts: 1 },
    });
    await platform.send(item, new AbortController().signal);
    const attachments = fake.seen(direct)[0]?.attachments ?? [];
    fake.say(direct, "", { message_snapshots: [{ message: { content: "see this", attachments, embeds: [] } }] });
    await store.count(1);
    const body = store.stored[0]?.body;
    assert.ok(body?.kind === "text");
    assert.equal(body.text, "[forwarded]\nsee this");
    assert.deepEqual(
      body.files.map(({ name, bytes }) => [name, bytes]),
      [["contract.pdf", 8]],
    );
  });

  test("files that Discord finds too large do not hold the words back", async (t) => {
    const { fake, begin, blobs } = await stage(t);
    const { platform } = await begin(kept());
    const to = { platform: "discord", account: bot.id, chat: direct };
    const file = await blobs.put(Buffer.from("content"), { name: "a.txt", mime: "text/plain" });
    fake.mishap(({ method, path }) => method === "POST" && path.endsWith("/messages"), { status: 413 });
    const item = anItem("i1", {
      to,
      text: "here",
      files: [file],
      now: { state: "sending", boot: bootId("b1"), attempts: 1 },
    });
    assert.equal((await platform.send(item, new AbortController().signal)).type, "accepted");
    assert.deepEqual(
      fake.seen(direct).map(({ content }) => content),
      ["here\n\n(could not be sent: a.txt)"],
    );
  });

  test("what may have arrived long ago is looked for before it is sent again", async (t) => {
    const { fake, begin } = await stage(t);
    const { platform } = await begin(kept());
    const to = { platform: "discord", account: bot.id, chat: direct };
    fake.nonceMs = 0;
    const first = anItem("i1", {
      to,
      text: "hello **you**",
      createdAt: (Date.now() - 600_000) as Instant,
      now: { state: "sending", boot: bootId("b1"), attempts: 1 },
    });
    await platform.send(first, new AbortController().signal);
    const again = { ...first, now: { state: "sending", boot: bootId("b2"), attempts: 2, doubts: 1 } } as const;
    const result = await platform.send(again, new AbortController().signal);
    assert.deepEqual([result.type, fake.seen(direct).length], ["accepted", 1]);
    const other = { ...again, text: "other words" };
    await platform.send(other, new AbortController().signal);
    assert.equal(fake.seen(direct).length, 2);
  });

  test("a placeholder whose key Discord has forgotten is looked for before it is placed again", async (t) => {
    const { fake, begin } = await stage(t);
    const { drafts } = (await begin(kept())).platform;
    assert.ok(drafts);
    const to = { platform: "discord", account: bot.id, chat: direct };
    const { signal } = new AbortController();
    const asked = fake.say(direct, "hello");
    fake.nonceMs = 0;
    const placed = await drafts.place(to, { reply: asked.id }, signal, { id: "draft-1", placedSince: null });
    const again = { id: "draft-1", placedSince: (Date.now() - 600_000) as Instant };
    assert.deepEqual(await drafts.place(to, { reply: asked.id }, signal, again), placed);
    assert.equal(fake.seen(direct).length, 1);
    // One that answers another message is not it.
    assert.notDeepEqual(await drafts.place(to, { reply: "1" }, signal, { ...again, id: "draft-2" }), placed);
    assert.equal(fake.seen(direct).length, 2);
  });

  test("a file that was lost is not taken for one that stands there", async (t) => {
    const { fake, begin, blobs } = await stage(t);
    const { platform } = await begin(kept());
    const { platform: next } = await begin(kept());
    const never = new AbortController().signal;
    fake.nonceMs = 0;
    const item = async (id: string, name: string, content: string) =>
      anItem(id, {
        to: { platform: "discord", account: bot.id, chat: direct },
        text: "",
        files: [await blobs.put(Buffer.from(content), { name, mime: "application/pdf" })],
        createdAt: (Date.now() - 600_000) as Instant,
        now: { state: "sending", boot: bootId("b2"), attempts: 2, doubts: 1 },
      });
    const sent = () => fake.seen(direct).map(({ attachments }) => attachments.map((one) => fake.contentOf(one)));
    await platform.send(await item("i1", "plan (old).pdf", "one"), never);
    await next.send(await item("i2", "b.pdf", "two"), never);
    await next.send(await item("i3", "plan (old).pdf", "three"), never);
    assert.deepEqual(sent(), [["one"], ["two"], ["three"]], "others, which nobody has sent");
    await next.send(await item("i1", "plan (old).pdf", "one"), never);
    await next.send(await item("i2", "b.pdf", "two"), never);
    assert.deepEqual(sent(), [["one"], ["two"], ["three"]], "those that stand there");
    await next.send(await item("i4", "b.pdf", "two"), never);
    assert.deepEqual(sent(), [["one"], ["two"], ["three"], ["two"]], "a twin of what this process has sent");
  });

  test("limits of a channel pause that channel, limits of all pause all", async (t) => {
    const { fake, begin } = await stage(t);
    const { platform } = await begin(kept());
    const to = { platform: "discord", account: bot.id, chat: direct };
    const item = anItem("i1", { to, text: "x", now: { state: "sending", boot: bootId("b1"), attempts: 1 } });
    const isSend = ({ method }: { readonly method: string }): boolean => method === "POST";
    fake.mishap(isSend, { limitedMs: 1_200, scope: "user" });
    const here = await platform.send(item, new AbortController().signal);
    assert.ok(here.type === "retry" && here.afterMs === 1_200 && here.all === undefined, JSON.stringify(here));
    const elsewhere = { ...item, to: { ...to, chat: general } };
    fake.mishap(isSend, { limitedMs: 1_200, scope: "global" });
    const all = await platform.send(elsewhere, new AbortController().signal);
    assert.ok(all.type === "retry" && all.all === true, JSON.stringify(all));
    assert.equal(fake.seen(direct).length + fake.seen(general).length, 0);
  });
});
