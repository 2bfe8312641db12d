// Updates that Telegram brings: taken only with the secret, answered for only after they are stored.

import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { type TestContext, test } from "node:test";
import { FakeTelegram } from "../../../test/fakes/telegram.ts";
import { type Inbound, textOf } from "../../core/message.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { Accept } from "../../ports/platform.ts";
import { realWorld } from "../../world.ts";
import { telegram } from "./index.ts";
import { isOurs } from "./webhook.ts";

const blobs: Blobs = {
  async put(_, { name, mime }) {
    return { name, mime, blob: name, bytes: 1 };
  },
  read: () => assert.fail("nothing is read"),
  path: (blob) => blob,
};

async function opened(t: TestContext, accept: Accept) {
  const fake = await FakeTelegram.start();
  const webhook = { url: "https://bot.example/telegram/updates" };
  const settings = { token: fake.token, apiRoot: fake.url, streaming: false, receipts: false, webhook };
  const { platform, routes } = telegram(settings, { world: realWorld(() => undefined), blobs });
  const up = Promise.withResolvers<void>();
  const stop = new AbortController();
  const inlet = {
    accept,
    hears: async () => true,
    moved: async () => undefined,
    up: up.resolve,
    trouble: () => undefined,
  };
  const ended = platform.listen(inlet, null, stop.signal);
  t.after(async () => {
    stop.abort();
    await ended;
    await fake.close();
  });
  await up.promise;
  const bring = async (body: unknown, secret = String(fake.webhook?.["secret_token"])): Promise<number> => {
    const answer = await routes?.handle(
      new Request("https://bot.example/telegram/updates", {
        method: "POST",
        headers: { "x-telegram-bot-api-secret-token": secret },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    );
    return answer?.status ?? 0;
  };
  return { fake, bring, stop, ended, routes, ada: fake.person("Ada") };
}

test("the secret is asked for, and is not the token", async (t) => {
  const { fake, bring, ada, routes } = await opened(t, async () => "accepted");
  const update = fake.updateOf(ada.write("hello"));
  assert.equal(routes?.auth, "own");
  for (const wrong of ["", "wrong", fake.token]) assert.equal(await bring(update, wrong), 401);
  assert.equal(await bring(update), 200);
  assert.ok(!JSON.stringify(fake.webhook).includes(fake.token));
  assert.notEqual(fake.webhook?.["drop_pending_updates"], true);
});

test("200 comes after it is stored; when it cannot be, it is to come again", async (t) => {
  const storing = Promise.withResolvers<"accepted">();
  let isFull = true;
  const { fake, bring, ada } = await opened(t, async () => {
    if (isFull) throw new Error("the disk is full");
    return storing.promise;
  });
  const update = fake.updateOf(ada.write("hello"));
  assert.equal(await bring(update), 503);
  isFull = false;
  let status = 0;
  const brought = bring(update).then((answered) => (status = answered));
  for (let n = 0; n < 20; n++) await turn();
  assert.equal(status, 0);
  storing.resolve("accepted");
  assert.equal(await brought, 200);
});

test("what comes while we end, or after, is to come again", async (t) => {
  const { fake, bring, ada, stop, ended } = await opened(t, () => new Promise(() => undefined));
  const update = fake.updateOf(ada.write("hello"));
  const brought = bring(update);
  for (let n = 0; n < 20; n++) await turn();
  stop.abort();
  assert.equal(await brought, 503);
  await ended;
  assert.equal(await bring(update), 503);
});

test("the parts of an album are one message, and each has its answer", async (t) => {
  const taken: Inbound[] = [];
  const { fake, bring, ada } = await opened(t, async (message) => {
    taken.push(message);
    return "accepted";
  });
  const parts = ada.album(
    ["a", "b", "c"].map((content) => ({ name: "p.jpg", content })),
    "three",
  );
  const statuses = await Promise.all(parts.toReversed().map((part) => bring(fake.updateOf(part))));
  assert.deepEqual(statuses, [200, 200, 200]);
  assert.deepEqual(
    taken.map(({ body }) => [textOf(body), body.kind === "text" && body.files.length]),
    [["three", 3]],
  );
});

test("what is brought at once is taken in the order of its chat; other chats do not wait", async (t) => {
  const taken: string[] = [];
  const storing = Promise.withResolvers<void>();
  const { fake, bring, ada } = await opened(t, async ({ body }) => {
    if (textOf(body) === "first") await storing.promise;
    taken.push(textOf(body));
    return "accepted";
  });
  const album = ada.album([{ name: "p.jpg", content: "a" }], "album");
  const messages = [ada.write("first"), ...album, ada.write("third")];
  const brought = messages.map((one) => bring(fake.updateOf(one)));
  assert.equal(await bring(fake.updateOf(fake.person("Bob").write("elsewhere"))), 200);
  for (let n = 0; n < 20; n++) await turn();
  assert.deepEqual(taken, ["elsewhere"]);
  storing.resolve();
  assert.deepEqual(await Promise.all(brought), [200, 200, 200]);
  assert.deepEqual(taken, ["elsewhere", "first", "album", "third"]);
});

test("what stands behind one that could not be stored comes again with it", async (t) => {
  const taken: string[] = [];
  let isFull = true;
  const { fake, bring, ada } = await opened(t, async ({ body }) => {
    await turn();
    if (isFull && textOf(body) === "first") throw new Error("the disk is full");
    taken.push(textOf(body));
    return "accepted";
  });
  const album = ada.album([{ name: "p.jpg", content: "a" }], "album");
  const updates = [ada.write("first"), ...album, ada.write("third")].map((one) => fake.updateOf(one));
  assert.deepEqual(await Promise.all(updates.map((one) => bring(one))), [503, 503, 503]);
  assert.deepEqual(taken, []);
  isFull = false;
  assert.deepEqual(await Promise.all(updates.map((one) => bring(one))), [200, 200, 200]);
  assert.deepEqual(taken, ["first", "album", "third"]);
});

test("what is no update is refused", async (t) => {
  const { bring, routes } = await opened(t, async () => "accepted");
  for (const body of ["", "{", "null", "[]", '{"update_id":"1"}', "x".repeat(1_000_001)])
    assert.equal(await bring(body), 400);
  const got = await routes?.handle(new Request("https://bot.example/telegram/updates"));
  assert.equal(got?.status, 405);
});

test("our own address is known again", () => {
  assert.deepEqual(
    ["https://a.example/telegram/updates", "https://a.example/x/telegram/updates", "https://a.example/bot", ""].map(
      isOurs,
    ),
    [true, true, false, false],
  );
});
