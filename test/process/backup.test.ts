// `everturn backup` of the real program: beside a gateway that works, and without one. The copy is opened as a home of
// its own, so that what counts is what a gateway finds in it.

import assert from "node:assert/strict";
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { type Client, type Message, client } from "./client.ts";
import { newHome, run, runGateway, until } from "./stage.ts";

const chats = ["c0", "c1", "c2"] as const;

type Flow = {
  /** Words whose storing was confirmed, per conversation. */
  readonly confirmed: ReadonlyMap<string, readonly string[]>;
  stop(): Promise<void>;
};

/** People who write all the time. */
function flow(ask: Client): Flow {
  const confirmed = new Map<string, string[]>(chats.map((chat) => [chat, []]));
  let isOver = false;
  const writing = chats.map(async (chat) => {
    for (let i = 0; !isOver; i++) {
      await ask.send(chat, `m${i}`, `word ${i}`);
      confirmed.get(chat)?.push(`word ${i}`);
    }
  });
  return {
    confirmed,
    async stop() {
      isOver = true;
      await Promise.all(writing);
    },
  };
}

const countOf = ({ confirmed }: Flow) => [...confirmed.values()].reduce((sum, words) => sum + words.length, 0);

/** A home that holds nothing but the copy. */
function restore(t: TestContext, copy: string): string {
  const home = newHome(t);
  mkdirSync(home, { mode: 0o700 });
  copyFileSync(copy, join(home, "state.db"));
  return home;
}

test("a backup while messages flow holds everything confirmed before the call, and is whole", async (t) => {
  const home = newHome(t);
  const gateway = await runGateway(t, home);
  const ask = client(gateway);
  await ask.send("slow", "m0", "count to 8 slowly");
  const writers = flow(ask);
  const copies: { readonly file: string; readonly held: ReadonlyMap<string, number> }[] = [];
  for (let i = 0; i < 3; i++) {
    const before = countOf(writers);
    await until(
      () => countOf(writers),
      (count) => count >= before + 30,
      "messages flow",
    );
    const held = new Map(chats.map((chat) => [chat, writers.confirmed.get(chat)?.length ?? 0]));
    const file = join(dirname(home), `copy-${i}.db`);
    const made = await run(t, home, ["backup", file, "--json"]);
    assert.equal(made.code, 0, made.err);
    assert.equal((JSON.parse(made.out) as { file: string }).file, file);
    copies.push({ file, held });
  }
  await writers.stop();
  const total = countOf(writers);
  assert.equal(await gateway.end(), 0);

  for (const { file, held } of copies) {
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.ok(!existsSync(`${file}-wal`) && !existsSync(`${file}-shm`), "a copy is one file");
    const db = new DatabaseSync(file, { readOnly: true });
    assert.deepEqual(Object.values(db.prepare("PRAGMA integrity_check").get() ?? {}), ["ok"]);
    db.close();
    const second = await runGateway(t, restore(t, file));
    const look = client(second);
    for (const chat of chats) {
      const least = held.get(chat) ?? 0;
      const count = (all: readonly Message[], role: string) => all.filter((one) => one.role === role).length;
      const all = await until(
        () => look.transcript(chat),
        (seen) => count(seen, "user") >= least && count(seen, "assistant") === count(seen, "user"),
        `the copy holds ${least} messages of ${chat} and all in it are answered`,
      );
      const texts = (role: string) => all.filter((one) => one.role === role).map((one) => one.text);
      const words = Array.from({ length: all.length / 2 }, (_, i) => `word ${i}`);
      assert.deepEqual(texts("user"), words);
      assert.deepEqual(
        texts("assistant"),
        words.map((word) => `You said: ${word}`),
      );
    }
    // A turn that was under way when the copy was made goes on in the copy.
    const slow = await until(
      () => look.transcript("slow"),
      (all) => all.length >= 2,
      "the slow one is answered",
    );
    assert.match(slow[1]?.text ?? "", /^1, 2, 3, 4, 5, 6, 7, 8\n\nCounted to 8/);
    assert.equal(await second.end(), 0);
  }
  t.diagnostic(`${copies.length} backups while ${total} messages flowed, all whole`);
});

test("a backup never overwrites, and leaves nothing behind when it is refused", async (t) => {
  const home = newHome(t);
  const folder = dirname(home);
  const none = await run(t, home, ["backup", join(folder, "none.db")]);
  assert.equal(none.code, 1);
  assert.match(none.err, /no store in .* nothing to copy/);
  const gateway = await runGateway(t, home);
  await client(gateway).send("c0", "m0", "word 0");
  const taken = join(folder, "taken.db");
  writeFileSync(taken, "somebody's only copy");
  const refused = await run(t, home, ["backup", taken]);
  assert.equal(refused.code, 1);
  assert.match(refused.err, /taken\.db already exists; a backup never overwrites\. Choose another name\./);
  assert.equal(readFileSync(taken, "utf8"), "somebody's only copy");
  const nowhere = await run(t, home, ["backup", join(folder, "no", "where.db")]);
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.err, /does not exist\. Make it first/);
  const itself = await run(t, home, ["backup", join(home, "state.db")]);
  assert.equal(itself.code, 1);
  assert.match(itself.err, /already exists/);
  const missing = await run(t, home, ["backup"]);
  assert.equal(missing.code, 64);
  assert.deepEqual(readdirSync(folder).toSorted(), ["home", "taken.db"]);
  assert.equal(await gateway.end(), 0);
});

test("a backup works without a running gateway, also after a kill", async (t) => {
  const home = newHome(t);
  const gateway = await runGateway(t, home);
  const ask = client(gateway);
  await ask.send("c0", "m0", "word 0");
  await ask.send("slow", "m0", "count to 3 slowly");
  await gateway.end("SIGKILL");
  const file = join(dirname(home), "copy.db");
  const made = await run(t, home, ["backup", file]);
  assert.equal(made.code, 0, made.err);
  assert.match(made.out, /copy\.db: .*read back and whole; 1 unfinished turns? /);
  // The home itself goes on as if nothing had been.
  for (const place of [home, restore(t, file)]) {
    const next = await runGateway(t, place);
    const look = client(next);
    const slow = await until(
      () => look.transcript("slow"),
      (all) => all.length >= 2,
      "the slow one is answered",
    );
    assert.match(slow[1]?.text ?? "", /^1, 2, 3\n\nCounted to 3\. I was interrupted once/);
    await until(
      () => look.transcript("c0"),
      (all) => all.length === 2,
      "the other one is answered",
    );
    assert.equal(await next.end(), 0);
  }
});
