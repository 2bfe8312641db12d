// Slack's ways that other platforms have not: sockets that are shared, events that are told twice, pasts that are read. The
// real libraries against the fake; long waits of the platform itself pass at once.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type TestContext, describe, test } from "node:test";
import { Fault } from "../../src/core/fault.ts";
import type { Inbound } from "../../src/core/message.ts";
import { slack } from "../../src/platforms/slack/index.ts";
import type { Inlet, Receipt } from "../../src/ports/platform.ts";
import { openBlobs } from "../../src/stores/blobs/index.ts";
import { realWorld } from "../../src/world.ts";
import { type SlackFake, appToken, bot, botToken, openSlack } from "../fakes/slack.ts";

const dm = "DU1";
const mention = `<@${bot.user}>`;

type Line = {
  readonly fake: SlackFake;
  readonly stored: Inbound[];
  readonly words: () => readonly string[];
  readonly notes: string[];
  readonly log: string[];
  cursor: string | null;
  /** What storing does instead, when it is set. */
  storing: ((message: Inbound) => Promise<Receipt>) | null;
  /** Who may speak. */
  hears: (message: Inbound) => boolean;
  /** Ends this life and begins the next. */
  readonly again: () => Promise<void>;
  readonly stop: () => Promise<void>;
};

async function line(t: TestContext, token = appToken): Promise<Line> {
  const fake = await openSlack();
  fake.workspace.direct("U1");
  fake.workspace.open("C1", "public_channel", "general");
  const folder = mkdtempSync(join(tmpdir(), "everturn-slack-"));
  const log: string[] = [];
  const real = realWorld((_, what) => void log.push(what));
  const world: typeof real = {
    ...real,
    sleep: (_, signal) => real.sleep((Date.now() + 300) as ReturnType<typeof real.now>, signal),
  };
  const stored: Inbound[] = [];
  const notes: string[] = [];
  let life = new AbortController();
  let ended: Promise<unknown> = Promise.resolve();
  const self: Line = {
    fake,
    stored,
    words: () => stored.map(({ body }) => (body.kind === "text" ? body.text : body.kind)),
    notes,
    log,
    cursor: null,
    storing: null,
    hears: () => true,
    async again() {
      await self.stop();
      life = new AbortController();
      const platform = slack(
        { botToken, appToken: token, apiRoot: fake.apiRoot, streaming: true },
        { world, blobs: openBlobs(folder) },
      );
      const up = Promise.withResolvers<void>();
      const inlet: Inlet = {
        async accept(message, cursor) {
          if (self.storing !== null) return self.storing(message);
          if (cursor !== null) self.cursor = cursor;
          if (stored.some(({ key }) => key === message.key)) return "duplicate";
          stored.push(message);
          return "accepted";
        },
        hears: async (message) => self.hears(message),
        moved: async (cursor) => void (self.cursor = cursor),
        up() {
          notes.push("up");
          up.resolve();
        },
        trouble: (why) => void notes.push(why),
      };
      const { signal } = life;
      ended = platform.listen(inlet, self.cursor, signal).catch((error: unknown) => {
        up.reject(error);
        if (!signal.aborted) notes.push(String(error));
      });
      await up.promise;
    },
    async stop() {
      life.abort();
      await ended;
    },
  };
  t.after(async () => {
    await self.stop();
    await fake.close();
    rmSync(folder, { recursive: true, force: true });
  });
  await self.again();
  return self;
}

async function until(holds: () => boolean, what: string): Promise<void> {
  for (const end = Date.now() + 60_000; !holds(); await pause(10)) if (Date.now() > end) assert.fail(`never: ${what}`);
}

describe("the socket", () => {
  test("a token that two gateways use is found out, and so is the end of it", async (t) => {
    const { fake, notes, again } = await line(t);
    fake.setStrangers(1);
    await again();
    await until(() => notes.some((one) => /Another gateway listens/.test(one)), "trouble");
    fake.setStrangers(0);
    await until(() => notes.at(-1) === "up", "up again");
    assert.equal(await fake.say(dm, "hello").receipts.then(([one]) => one), "acknowledged");
  });

  test("a wrong app token is a denial that says what to do", async (t) => {
    await assert.rejects(line(t, "xapp-1-A0FAKE-1-wrong"), (error) => {
      assert.ok(error instanceof Fault && error.code === "denied");
      assert.match(error.message, /appToken[\s\S]*connections:write/);
      return true;
    });
  });

  test("Socket Mode switched off is told in words", async (t) => {
    const { fake, notes } = await line(t);
    fake.refresh("link_disabled");
    await until(() => notes.some((one) => /switched off/.test(one)), "the reason");
  });

  test("a mention in a channel is told twice and is one message; what follows in its thread is meant for us", async (t) => {
    const { fake, stored, words } = await line(t);
    const root = fake.say("C1", `${mention} begin`, { raw: true });
    assert.deepEqual(await root.receipts, ["acknowledged", "acknowledged"]);
    await fake.say("C1", "go on", { thread: root.ts }).receipts;
    await fake.say("C1", "not for you").receipts;
    const middle = fake.say("C1", "a talk of others");
    await middle.receipts;
    await fake.say("C1", `${mention} what do you think?`, { raw: true, thread: middle.ts }).receipts;
    await fake.say("C1", "not for you either", { thread: middle.ts }).receipts;
    assert.deepEqual(
      stored.map(({ group }, n) => [words()[n], group?.called]),
      [
        ["begin", true],
        ["go on", true],
        ["not for you", false],
        ["a talk of others", false],
        ["what do you think?", true],
        ["not for you either", false],
      ],
    );
    assert.equal(stored[0]?.name, "alice");
  });
});

describe("what was missed", () => {
  test("what could not be stored holds back the place, and is looked for again", async (t) => {
    const self = await line(t);
    const { fake, words } = self;
    let refused = 0;
    self.storing = async () => {
      refused += 1;
      throw new Fault("store-full", "There is no room left on the disk.");
    };
    const failed = fake.say(dm, "first");
    await until(() => refused > 0, "it was offered");
    self.storing = null;
    await fake.say("C1", "elsewhere", { raw: true }).receipts;
    const { at } = JSON.parse(self.cursor ?? "{}") as { at: string };
    assert.ok(at <= failed.ts, "the place is past what is not stored");
    await until(() => words().includes("first"), "it was looked for");
    await fake.say(dm, "second").receipts;
    assert.deepEqual(words(), ["elsewhere", "first", "second"]);
    assert.ok((JSON.parse(self.cursor ?? "{}") as { at: string }).at > failed.ts);
  });

  test("what follows in the same conversation is stored behind it", async (t) => {
    const self = await line(t);
    const { fake, words } = self;
    let refused = 0;
    self.storing = async () => {
      refused += 1;
      throw new Fault("store-full", "There is no room left on the disk.");
    };
    fake.say(dm, "first");
    await until(() => refused > 0, "it was offered");
    self.storing = null;
    await fake.say(dm, "second").receipts;
    assert.deepEqual(words(), ["first", "second"]);
  });

  test("a reading that the end of its socket has ended does nothing more", async (t) => {
    const self = await line(t);
    const { fake, words, notes } = self;
    await self.stop();
    fake.say(dm, "missed");
    fake.fail("conversations.history", { retryAfter: 1 }, Number.POSITIVE_INFINITY);
    await self.again();
    const reads = (): number => fake.calls.filter(({ method }) => method === "conversations.history").length;
    await until(() => reads() > 1, "the past is asked for");
    fake.dropSockets();
    await until(() => notes.some((one) => /without a goodbye/.test(one)), "the end");
    fake.mend();
    // Time enough for one that goes on all the same.
    await pause(1_000);
    assert.deepEqual(words(), []);
    await self.again();
    await until(() => words().length > 0, "it is caught up");
  });

  test("nothing from before the first start is taken up", async (t) => {
    const self = await line(t);
    const { fake, words } = self;
    await self.stop();
    const [first] = fake.workspace.channelOf(dm).messages;
    assert.equal(first, undefined);
    fake.workspace.add(fake.workspace.channelOf(dm), { user: "U1", text: "long ago", ts: "1500000000.000100" });
    fake.say(dm, "while nobody listened");
    await self.again();
    await until(() => words().length > 0, "it is caught up");
    await fake.say(dm, "now").receipts;
    assert.deepEqual(words(), ["while nobody listened", "now"]);
  });

  test("Slack may ask to wait meanwhile; live messages wait for what was missed before them", async (t) => {
    const self = await line(t);
    const { fake, words } = self;
    await self.stop();
    for (const text of ["a", "b"]) fake.say(dm, text);
    fake.fail("conversations.history", { retryAfter: 1 }, 3);
    fake.fail("users.conversations", { retryAfter: 1 }, 1);
    await self.again();
    assert.deepEqual(await fake.say(dm, "c").receipts, ["acknowledged"]);
    assert.deepEqual(words(), ["a", "b", "c"]);
  });

  test("a permission that is missing hides only what it is for", async (t) => {
    const self = await line(t);
    const { fake, words, log } = self;
    await self.stop();
    fake.workspace.lacking.add("groups:read");
    fake.say(dm, "a");
    await self.again();
    await until(() => words().includes("a"), "the rest is caught up");
    await until(() => log.some((one) => /groups:read/.test(one)), "the permission is named");
  });

  test("long gaps are read page by page, and old threads are found by their first message", async (t) => {
    const self = await line(t);
    const { fake, words } = self;
    const old = fake.say("C1", "an old talk");
    await old.receipts;
    await self.stop();
    for (let n = 0; n < 450; n++) fake.say(dm, `m${n}`);
    fake.say("C1", `${mention} are you there?`, { raw: true, thread: old.ts });
    await self.again();
    await until(() => words().length === 452, "everything is caught up");
    const direct = words().filter((one) => /^m\d+$/.test(one));
    assert.deepEqual(
      direct,
      Array.from({ length: 450 }, (_, n) => `m${n}`),
    );
    assert.ok(words().includes("are you there?"));
  });
});

describe("files", () => {
  test("are fetched for people who are known by their names", async (t) => {
    const self = await line(t);
    const { fake, stored } = self;
    self.hears = ({ name }) => name === "alice";
    const file = fake.workspace.store("notes.txt", "text/plain", Buffer.from("some notes"));
    await fake.say(dm, "", { files: [file] }).receipts;
    assert.deepEqual(
      stored.map(({ body }) => body.kind === "text" && body.files.map(({ name }) => name)),
      [["notes.txt"]],
    );
  });

  test("are there with their message; one that cannot be had is a line in it", async (t) => {
    const { fake, stored } = await line(t);
    const { workspace } = fake;
    const file = workspace.store("notes.txt", "text/plain", Buffer.from("some notes"));
    await fake.say(dm, "look", { files: [file] }).receipts;
    workspace.lacking.add("files:read");
    await fake.say(dm, "look again", { files: [file] }).receipts;
    const [got, lost] = stored.map(({ body }) => (body.kind === "text" ? body : assert.fail()));
    assert.deepEqual([got?.text, got?.files.map(({ name, bytes }) => [name, bytes])], ["look", [["notes.txt", 10]]]);
    assert.deepEqual(lost?.files, []);
    assert.match(lost?.text ?? "", /^look again\n\[The file notes\.txt could not be had: .*files:read\.\]$/);
  });

  test("are there with a message that is forwarded, live and from the past", async (t) => {
    const self = await line(t);
    const { fake, stored } = self;
    const file = fake.workspace.store("plan.pdf", "application/pdf", Buffer.from("plan"));
    const share = { is_share: true, is_msg_unfurl: true, from_url: "https://x", author_name: "Bob", text: "on Friday" };
    await fake.say(dm, "", { attachments: [{ ...share, files: [file] }] }).receipts;
    await self.stop();
    fake.say(dm, "look", { attachments: [{ ...share, files: [file] }], silent: true });
    await self.again();
    await until(() => stored.length > 1, "what was missed");
    assert.deepEqual(
      stored.map(({ body }) => body.kind === "text" && [body.text, body.files.map(({ name, bytes }) => [name, bytes])]),
      [
        ["[forwarded from Bob]\non Friday", [["plan.pdf", 4]]],
        ["look\n[forwarded from Bob]\non Friday", [["plan.pdf", 4]]],
      ],
    );
  });
});
