// Turns that kill the real process they run in, among others that do not, over a real store file and under a restarter
// that only ever starts the next life. The culprit is given up at its third strike and its user told; nobody else pays.

import assert from "node:assert/strict";
import { type ChildProcess, fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import type { Letter, News, Order, Setting } from "./mortal.ts";
import { atEnd, until, within } from "./stage.ts";

const sorryWords = "I had to give this up";
const innocents = 20;
/** Far above what any verdict needs; whoever dies more often dies for ever. */
const deathsMax = 12;

type Post = {
  readonly seen: { readonly chat: string; readonly text: string }[];
  readonly lingering: string[];
  readonly deaths: () => number;
  write(chat: string, text: string): void;
  repliesIn(chat: string): readonly string[];
  /** Ends this life as a power cut or an operator would, with no handler in between. */
  cut(): void;
  stop(): Promise<void>;
};

type Nature = { readonly machineOf: (life: number) => string; readonly lingersIn: (life: number) => boolean };

/** The platform, the outside world and the restarter of all lives. */
function openPost(t: TestContext, nature: Nature): Post & { readonly store: string } {
  const folder = mkdtempSync(join(tmpdir(), "everturn-poison-"));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));
  const store = join(folder, "state.db");
  const letters = new Map<string, Letter>();
  const shown = new Set<string>();
  const seen: { chat: string; text: string }[] = [];
  const lingering: string[] = [];
  const over = Promise.withResolvers<void>();
  let isOver = false;
  let lives = 0;
  let deaths = 0;
  let child: ChildProcess | null = null;

  function live(): void {
    lives++;
    const setting: Setting = { store, machine: nature.machineOf(lives), lingers: nature.lingersIn(lives) };
    const one = fork(join(import.meta.dirname, "mortal.ts"), [JSON.stringify(setting)], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    child = one;
    lingering.length = 0;
    one.on("message", (news: News) => hear(one, news));
    one.on("error", () => undefined);
    one.once("exit", () => {
      if (isOver) return over.resolve();
      deaths++;
      if (deaths <= deathsMax) live();
    });
  }

  function say(to: ChildProcess, order: Order): void {
    // It may be dying at this very moment; then the next life is told.
    to.send(order, () => undefined);
  }

  function hear(from: ChildProcess, news: News): void {
    switch (news.type) {
      case "listening":
        for (const letter of letters.values()) say(from, { type: "letter", letter });
        return;
      case "stored":
        letters.delete(news.key);
        return;
      case "lingering":
        lingering.push(news.chat);
        return;
      case "reply":
        if (!shown.has(news.item)) seen.push({ chat: news.chat, text: news.text });
        shown.add(news.item);
        return say(from, { type: "taken", item: news.item });
    }
  }

  atEnd(t, () => {
    isOver = true;
    child?.kill("SIGKILL");
  });
  live();
  return {
    store,
    seen,
    lingering,
    deaths: () => deaths,
    write(chat, text) {
      const letter = { key: `${chat}-${letters.size}-${text}`, chat, text };
      letters.set(letter.key, letter);
      if (child !== null) say(child, { type: "letter", letter });
    },
    repliesIn: (chat) => seen.filter((one) => one.chat === chat).map(({ text }) => text),
    cut: () => void child?.kill("SIGKILL"),
    async stop() {
      isOver = true;
      if (child !== null) say(child, { type: "stop" });
      await within(over.promise, "the last life did not end");
    },
  };
}

/** Outcome and reason of every turn, by chat. */
function endsIn(store: string): readonly { readonly chat: string; readonly now: string; readonly attempt: number }[] {
  const db = new DatabaseSync(store, { readOnly: true });
  try {
    const rows = db.prepare(
      "SELECT s.address AS address, t.now AS now, t.attempt AS attempt FROM turns t JOIN sessions s ON s.id = t.session",
    );
    return rows
      .all()
      .map((row) => ({ chat: String(row["address"]), now: String(row["now"]), attempt: Number(row["attempt"]) }));
  } finally {
    db.close();
  }
}

const sameMachine: Nature = { machineOf: () => "m", lingersIn: () => false };

for (const [name, poison] of [
  ["an agent's step", "die"],
  ["a tool, after its intent was stored", "bomb-once please"],
  ["a tool that may run again", "bomb-pure please"],
] as const) {
  test(`${name} kills the process each time: given up and told, ${innocents} others answered`, async (t) => {
    const post = openPost(t, sameMachine);
    for (let i = 0; i < innocents; i++) {
      if (i === innocents / 2) post.write("poison", poison);
      post.write(`innocent-${i}`, `${i % 2 === 0 ? "work" : "word"} ${i}`);
    }
    await until(
      () => ({ answered: post.seen.length, deaths: post.deaths() }),
      ({ answered, deaths }) => answered > innocents || deaths > deathsMax,
      "everybody has heard something",
    );
    // Its conversation goes on.
    post.write("poison", "and now?");
    await until(
      () => ({ replies: post.repliesIn("poison").length, deaths: post.deaths() }),
      ({ replies, deaths }) => replies > 1 || deaths > deathsMax,
      "the conversation goes on",
    );
    assert.ok(post.deaths() >= 3 && post.deaths() <= 8, `it died ${post.deaths()} times`);
    await post.stop();
    for (let i = 0; i < innocents; i++) {
      const text = `${i % 2 === 0 ? "work" : "word"} ${i}`;
      assert.deepEqual(post.repliesIn(`innocent-${i}`), [`answer to ${text}`]);
    }
    const [sorry = "", ...rest] = post.repliesIn("poison");
    assert.ok(sorry.startsWith(sorryWords), sorry);
    assert.deepEqual(rest, ["answer to and now?"]);
    t.diagnostic(`${post.deaths()} deaths, ${innocents} others answered once each, the culprit told once`);
  });
}

const lingerers = innocents + 1;

/** Waits until every turn is without a result, then cuts; each life of the first `lives`. */
async function cutWhileAllLinger(post: Post, count: number, lives: number): Promise<void> {
  for (let i = 0; i < lives; i++) {
    await until(
      () => new Set(post.lingering).size,
      (lingering) => lingering === count,
      "every turn is under way",
    );
    post.cut();
    await until(
      () => post.deaths(),
      (deaths) => deaths === i + 1,
      "it is gone",
    );
  }
}

test("three power cuts in a row, with every turn without a result, convict nobody", async (t) => {
  const post = openPost(t, { machineOf: (life) => `start ${life} of the machine`, lingersIn: (life) => life <= 3 });
  for (let i = 0; i < lingerers; i++) post.write(`c${i}`, `linger ${i}`);
  await cutWhileAllLinger(post, lingerers, 3);
  await until(
    () => post.seen.length,
    (seen) => seen >= lingerers,
    "everybody is answered",
  );
  await post.stop();
  for (let i = 0; i < lingerers; i++) assert.deepEqual(post.repliesIn(`c${i}`), [`answer to linger ${i}`]);
  assert.deepEqual([...new Set(endsIn(post.store).map(({ attempt }) => attempt))], [4]);
});

test("the same three deaths on one machine do convict: what is asked above can fail", async (t) => {
  const post = openPost(t, { machineOf: () => "m", lingersIn: (life) => life <= 3 });
  post.write("alone", "linger alone");
  await cutWhileAllLinger(post, 1, 3);
  await until(
    () => post.seen.length,
    (seen) => seen >= 1,
    "it is answered",
  );
  await post.stop();
  assert.ok(post.repliesIn("alone")[0]?.startsWith(sorryWords), post.repliesIn("alone").join("; "));
});
