// Albums on Telegram whose parts come late, while the file of somebody else is still being fetched: what comes after a kill
// or a break is stored, and nothing twice.

import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { type TestContext, test } from "node:test";
import { telegram } from "../../src/platforms/telegram/index.ts";
import type { Blobs } from "../../src/ports/blobs.ts";
import type { Accept, Platform } from "../../src/ports/platform.ts";
import { type Kept, kept, live, settle } from "../../src/testing/platform/steps.ts";
import { FakeTelegram } from "../fakes/telegram.ts";
import { hurried } from "../hurried.ts";

const patience = { timeout: 60_000 };

async function until(holds: () => boolean): Promise<void> {
  for (let n = 0; n < 4_000; n++) {
    if (holds()) return;
    await wait(5);
  }
  assert.fail(`waited in vain until ${String(holds)}`);
}

/** Bob's file comes when it is let go; before that, it is being fetched. */
async function stage(t: TestContext) {
  const fake = await FakeTelegram.start();
  const large = Promise.withResolvers<void>();
  let fetching = 0;
  const blobs: Blobs = {
    async put(content, { name, mime }) {
      const bytes = Buffer.concat(content instanceof Uint8Array ? [content] : await Array.fromAsync(content));
      if (bytes.toString() === "large") {
        fetching++;
        await large.promise;
      }
      return { name, mime, blob: bytes.toString(), bytes: bytes.length };
    },
    read: async (blob) => Buffer.from(blob),
    path: (blob) => blob,
  };
  const settings = { token: fake.token, apiRoot: fake.url, streaming: false, receipts: false };
  const begins: (string | null)[] = [];
  const open = (): Platform => {
    const { platform } = telegram(settings, { world: hurried(), blobs });
    return {
      ...platform,
      listen(inlet, from, signal) {
        begins.push(from);
        return platform.listen(inlet, from, signal);
      },
    };
  };
  const store = kept();
  const begin = (accept?: Accept) => {
    const life = live(open(), store, accept);
    t.after(async () => {
      life.stop.abort();
      await life.ended;
    });
    return life;
  };
  t.after(() => fake.close());
  const [ada, bob] = [fake.person("Ada"), fake.person("Bob")];
  const photo = (content: string) =>
    ada.send("photo", { name: "p.jpg", content }, "", { more: { media_group_id: "album" } });
  const held = fake.updateOf(bob.send("document", { name: "a.bin", content: "large" })).update_id;
  return { fake, store, begin, begins, photo, held, letGo: () => large.resolve(), fetching: () => fetching };
}

/** What is in each stored message, and how often anything was handed over that had been before. */
function seen({ stored, taken }: Kept) {
  const files = stored.map(({ body }) => (body.kind === "text" ? body.files.map(({ blob }) => blob).join("+") : ""));
  return { files, repeats: taken.length - stored.length };
}

test("the rest of an album that comes after a kill is a message of its own", patience, async (t) => {
  const { fake, store, begin, photo, held, letGo } = await stage(t);
  const first = begin();
  photo("one");
  photo("two");
  await store.count(1);
  assert.equal(store.cursor, `${held};${held + 1},${held + 2}`);
  first.stop.abort();
  await first.ended;
  photo("three");
  begin();
  await store.count(2);
  letGo();
  await until(() => fake.waiting === 0);
  assert.deepEqual(seen(store), { files: ["one+two", "three", "large"], repeats: 0 });
  assert.equal(store.cursor, String(held + 4));
});

test("the rest of an album that comes after a break is a message of its own", patience, async (t) => {
  const { fake, store, begin, begins, photo, letGo, fetching } = await stage(t);
  begin();
  photo("one");
  photo("two");
  await store.count(1);
  fake.breaks = (method) => (method === "getUpdates" ? { type: "html", when: "before" } : null);
  await until(() => begins.length > 1);
  photo("three");
  fake.breaks = () => null;
  await store.count(2);
  await until(() => fetching() === 2);
  letGo();
  await until(() => fake.waiting === 0);
  await settle();
  assert.deepEqual(seen(store), { files: ["one+two", "three", "large"], repeats: 0 });
});

test("a break waits for what is being stored, so that the next connection knows of it", patience, async (t) => {
  const { fake, store, begin, begins, photo, held, letGo } = await stage(t);
  const slow = Promise.withResolvers<void>();
  let storing = 0;
  begin(async (message, cursor) => {
    storing++;
    await slow.promise;
    return store.accept(message, cursor);
  });
  photo("one");
  photo("two");
  await until(() => storing === 1);
  fake.breaks = (method) => (method === "getUpdates" ? { type: "html", when: "before" } : null);
  const broken = (): number => fake.calls.filter(({ method, code }) => method === "getUpdates" && code === 0).length;
  await until(() => broken() === 3);
  photo("three");
  fake.breaks = () => null;
  await settle();
  slow.resolve();
  await store.count(2);
  letGo();
  await until(() => fake.waiting === 0);
  assert.equal(begins[1], `${held};${held + 1},${held + 2}`);
  assert.deepEqual(seen(store), { files: ["one+two", "three", "large"], repeats: 0 });
});

test("of what is stored at once, the place in the stream tells of all", patience, async (t) => {
  const { fake, store, begin, held } = await stage(t);
  const beyond = ["Cid", "Dan", "Eve"].map((name) => fake.updateOf(fake.person(name).write("hello")).update_id);
  begin(async (message, cursor) => {
    await settle();
    return store.accept(message, cursor);
  });
  await store.count(3);
  assert.equal(store.cursor, `${held};${beyond.join(",")}`);
});
