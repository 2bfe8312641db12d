// The way in under bad luck: albums, repeats, other programs, webhooks, files that cannot be had; against the fake.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { type TestContext, test } from "node:test";
import { FakeTelegram } from "../../../test/fakes/telegram.ts";
import { hurried } from "../../../test/hurried.ts";
import { Fault } from "../../core/fault.ts";
import type { Instant } from "../../core/ids.ts";
import { type Inbound, textOf } from "../../core/message.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { Inlet } from "../../ports/platform.ts";
import type { World } from "../../ports/world.ts";
import { telegram } from "./index.ts";

const blobs: Blobs = {
  async put(content, { name, mime }) {
    const bytes = Buffer.concat(content instanceof Uint8Array ? [content] : await Array.fromAsync(content));
    return { name, mime, blob: bytes.toString(), bytes: bytes.length };
  },
  read: async (blob) => Buffer.from(blob),
  path: (blob) => blob,
};

type Taken = { readonly message: Inbound; readonly cursor: string | null };

async function opened(t: TestContext, more: Partial<Inlet> = {}, files: Blobs = blobs) {
  const fake = await FakeTelegram.start();
  const taken: Taken[] = [];
  const troubles: string[] = [];
  let [ups, moved] = [0, ""];
  const settings = { token: fake.token, apiRoot: fake.url, streaming: true, receipts: false };
  const { platform } = telegram(settings, { world: hurried(), blobs: files });
  const stop = new AbortController();
  const inlet: Inlet = {
    async accept(message, cursor) {
      taken.push({ message, cursor });
      return "accepted";
    },
    hears: async () => true,
    moved: async (cursor) => void (moved = cursor),
    up: () => void ups++,
    trouble: (why) => void troubles.push(why),
    ...more,
  };
  const listen = () => platform.listen(inlet, null, stop.signal);
  t.after(async () => {
    stop.abort();
    await fake.close();
  });
  return { fake, taken, troubles, listen, stop, platform, ups: () => ups, moved: () => moved };
}

async function until(holds: () => boolean, what: string): Promise<void> {
  for (let n = 0; n < 2_000; n++) {
    if (holds()) return;
    await wait(5);
  }
  assert.fail(`waited in vain until ${what}`);
}

const photos = ["one", "two", "three"].map((content) => ({ name: "p.jpg", content }));
const words = (taken: readonly Taken[]): readonly string[] => taken.map(({ message }) => textOf(message.body));

test("an album is one message, stored with the offset behind its last part", async (t) => {
  const { fake, taken, listen } = await opened(t);
  const ada = fake.person("Ada");
  const [first] = ada.album(photos, "three");
  const last = fake.newest().update_id;
  void listen();
  await until(() => fake.waiting === 0, "all is confirmed");
  assert.deepEqual(words(taken), ["three"]);
  assert.deepEqual(
    [taken[0]?.cursor, taken[0]?.message.key],
    [String(last + 1), `${ada.id}:${String(first?.["message_id"])}`],
  );
  const body = taken[0]?.message.body;
  assert.deepEqual(body?.kind === "text" && body.files.map(({ blob }) => blob), ["one", "two", "three"]);
});

test("while an album waits, others are served, and no offset confirms a part of it", async (t) => {
  const { fake, taken, listen } = await opened(t);
  const [ada, bob] = [fake.person("Ada"), fake.person("Bob")];
  const [first] = ada.album(photos.slice(0, 2), "two");
  const begin = fake.updateOf(first ?? {}).update_id;
  bob.write("between");
  void listen();
  await until(() => fake.waiting === 0, "all is confirmed");
  assert.deepEqual(words(taken), ["between", "two"]);
  assert.equal(taken[0]?.cursor, `${begin};${begin + 2}`, "the album is not confirmed by what came behind it");
});

test("what cannot be stored is offered again, in its order, and nothing behind it goes first", async (t) => {
  let failures = 3;
  const order: string[] = [];
  const { fake, listen } = await opened(t, {
    async accept(message) {
      const text = textOf(message.body);
      if (text === "two" && failures-- > 0) throw new Error("the disk is full");
      order.push(text);
      return "accepted";
    },
  });
  const ada = fake.person("Ada");
  for (const text of ["one", "two", "three"]) ada.write(text);
  void listen();
  await until(() => fake.waiting === 0, "all is confirmed");
  assert.deepEqual(order, ["one", "two", "three"]);
});

test("what is not for us moves the offset", async (t) => {
  const { fake, taken, listen, moved } = await opened(t);
  const update = fake.push({ message: { message_id: 1, date: 1, chat: { id: -1, type: "channel", title: "News" } } });
  void listen();
  await until(() => moved() !== "", "the offset moved");
  assert.deepEqual([moved(), taken], [String(update.update_id + 1), []]);
});

test("another poller is named and waited for", async (t) => {
  const { fake, troubles, listen, taken } = await opened(t);
  void listen();
  await until(() => fake.isPolled, "it polls");
  const other = fetch(`${fake.url}/bot${fake.token}/getUpdates`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ timeout: 1 }),
  }).then((answer) => answer.text());
  await until(() => troubles.length > 0, "it is named");
  assert.match(
    troubles[0] ?? "",
    /within the last two minutes.*polls with the same token.*Each message goes to one of the two.*Stop one of them/s,
  );
  await other;
  const ada = fake.person("Ada");
  ada.write("afterwards");
  await until(() => taken.length > 0, "the message is taken");
});

test("a webhook of somebody else is named and left alone; nothing is discarded", async (t) => {
  const { fake, troubles, listen, taken } = await opened(t);
  fake.webhook = { url: "https://elsewhere.example/bot" };
  fake.person("Ada").write("waiting");
  void listen();
  await until(() => troubles.length > 1, "it is named");
  assert.match(troubles[0] ?? "", /https:\/\/elsewhere\.example\/bot.*deleteWebhook/);
  assert.deepEqual([fake.webhook["url"], fake.waiting, taken.length], ["https://elsewhere.example/bot", 1, 0]);
  fake.webhook = null;
  await until(() => taken.length === 1, "it is taken");
});

test("a webhook that we set ourselves is taken back with what waits there", async (t) => {
  const { fake, troubles, listen, taken } = await opened(t);
  fake.webhook = { url: "https://my.example/telegram/updates" };
  fake.person("Ada").write("waiting");
  void listen();
  await until(() => taken.length === 1, "it is taken");
  assert.deepEqual([fake.webhook, troubles], [null, []]);
});

test("one broken poll is nothing; several end the connection", async (t) => {
  const { fake, listen, taken } = await opened(t);
  const ended = listen().catch((error: unknown) => error);
  await until(() => fake.isPolled, "it polls");
  fake.cut();
  fake.person("Ada").write("after a break");
  await until(() => taken.length === 1, "it is taken");
  fake.breaks = (method) => (method === "getUpdates" ? { type: "html", when: "before" } : null);
  fake.cut();
  const error = await ended;
  assert.ok(error instanceof Error && /something else than Telegram answered/.test(error.message), String(error));
});

test("a file that takes long holds up its own chat and nobody else", async (t) => {
  const { fake, taken, listen } = await opened(t);
  const [ada, bob] = [fake.person("Ada"), fake.person("Bob")];
  fake.breaks = (method) => (method === "download" ? { type: "slow", ms: 1_000 } : null);
  const first = ada.send("document", { name: "a.txt", content: "x" }, "with a file");
  ada.write("behind it");
  void listen();
  await until(() => fake.calls.some(({ method }) => method === "getFile"), "the file is being fetched");
  bob.write("meanwhile");
  await until(() => fake.waiting === 0, "all is confirmed");
  assert.deepEqual(words(taken), ["meanwhile", "with a file", "behind it"]);
  const held = fake.updateOf(first).update_id;
  assert.equal(taken[0]?.cursor, `${held};${held + 2}`, "nothing before it is confirmed by it");
});

test("a file that cannot be had is said in words", async (t) => {
  const { fake, taken, listen } = await opened(t);
  const ada = fake.person("Ada");
  fake.breaks = (method) => (method === "download" ? { type: "drop", when: "before" } : null);
  ada.send("document", { name: "a/b.txt", content: "x" }, "look");
  ada.send("document", { name: "big.bin", content: Buffer.alloc(20_000_001) });
  void listen();
  await until(() => taken.length === 2, "both are taken");
  assert.match(words(taken)[0] ?? "", /^look\n\[the file a_b\.txt could not be fetched: .+\]$/);
  assert.match(words(taken)[1] ?? "", /^\[the file big\.bin could not be fetched: .*20 MB\]$/);
});

test("a file whose line breaks is fetched again", async (t) => {
  const { fake, taken, listen } = await opened(t);
  let [broken, unknown] = [1, 1];
  fake.breaks = (method) => {
    if (method === "getFile" && unknown-- > 0) return { type: "answer", code: 502, description: "Bad Gateway" };
    return method === "download" && broken-- > 0 ? { type: "drop", when: "before" } : null;
  };
  fake.person("Ada").send("document", { name: "a.txt", content: "x" }, "look");
  void listen();
  await until(() => taken.length === 1, "it is taken");
  const body = taken[0]?.message.body;
  assert.deepEqual(body?.kind === "text" && [body.text, body.files.map(({ name }) => name)], ["look", ["a.txt"]]);
});

test("a message whose file our own disk refuses comes again, with its file", async (t) => {
  let refusals = 2;
  const full: Blobs = {
    ...blobs,
    async put(content, as) {
      if (refusals-- > 0) throw new Fault("store-full", "There is no room left on the disk.");
      return blobs.put(content, as);
    },
  };
  const { fake, taken, listen } = await opened(t, {}, full);
  fake.person("Ada").send("document", { name: "a.txt", content: "x" }, "look");
  void listen();
  await until(() => fake.waiting === 0, "it is confirmed");
  assert.deepEqual(
    taken.map(({ message: { body } }) => body.kind === "text" && [body.text, body.files.length]),
    [["look", 1]],
  );
});

test("a probe says who we are and what waits, or what is wrong", async (t) => {
  const { fake, platform } = await opened(t);
  fake.person("Ada").write("waiting");
  const signal = new AbortController().signal;
  assert.equal(
    await platform.probe?.(signal),
    "Telegram knows this bot as @everturn_bot; 1 update waits to be fetched.",
  );
  fake.breaks = () => ({ type: "answer", code: 401, description: "Unauthorized" });
  await assert.rejects(async () => platform.probe?.(signal), { name: "Fault", code: "denied" });
});

test("a server that answers empty polls at once is asked with growing pauses", async () => {
  let polls = 0;
  const server = createServer((request, response) => {
    const isPoll = request.url?.endsWith("/getUpdates") === true;
    if (isPoll) polls++;
    const result = isPoll ? [] : { id: 777, is_bot: true, first_name: "Bot", username: "bot" };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ ok: true, result }));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const slept: number[] = [];
  const world: World = {
    ...hurried(),
    now: () => 0 as Instant,
    async sleep(until) {
      slept.push(until);
      await wait(1);
    },
  };
  const settings = { token: "777:x", apiRoot: `http://127.0.0.1:${port}`, streaming: true, receipts: false };
  const { platform } = telegram(settings, { world, blobs });
  const stop = new AbortController();
  const inlet: Inlet = {
    accept: async () => "accepted",
    hears: async () => true,
    moved: async () => undefined,
    up: () => undefined,
    trouble: () => undefined,
  };
  const listening = platform.listen(inlet, null, stop.signal);
  await until(() => polls >= 12, "it polled often");
  stop.abort();
  await listening;
  server.closeAllConnections();
  server.close();
  const pauses = slept.filter((ms) => ms < 500);
  assert.deepEqual(pauses.slice(0, 5), [10, 20, 40, 80, 160]);
});
