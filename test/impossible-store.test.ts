// What cannot happen because the store holds the truth: real gateways over a real store file, one life after another. The
// numbers are rows of docs/checklist.md.

import assert from "node:assert/strict";
import { copyFileSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { formatAddress } from "../src/core/message.ts";
import { sessionKey } from "../src/core/session.ts";
import type { Turn } from "../src/core/turn.ts";
import type { Agent } from "../src/ports/agent.ts";
import { openLives, parrot } from "./lives.ts";

const minute = 60_000;
const day = 24 * 60 * minute;

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pause(1);
}

const attemptsOf = (turns: readonly Turn[]) =>
  Object.fromEntries(turns.map((turn) => [turn.input.body.kind === "text" ? turn.input.body.text : "", turn.attempt]));

test("impossible 2: a start drops nothing that came while nobody listened", async (t) => {
  const lives = openLives(t);
  const { office } = lives;
  const first = await lives.begin({ agent: parrot().agent });
  office.write("a", "before");
  await office.until(() => office.answers().length === 1);
  await first.die();
  for (let i = 0; i < 50; i++) office.write("a", `while down ${i}`);
  await lives.begin({ agent: parrot().agent });
  await office.until(() => office.answers().length === 51);
  assert.deepEqual(office.cursors, [null, "1"], "the next life goes on after the last stored message");
  assert.deepEqual(office.textsIn("a"), ["BEFORE", ...Array.from({ length: 50 }, (_, i) => `WHILE DOWN ${i}`)]);
});

test("impossible 11, 12: open rows say what was in flight, whatever the clock says; nobody else is touched", async (t) => {
  const lives = openLives(t);
  const { office } = lives;
  const slow = parrot();
  const first = await lives.begin({ agent: slow.agent });
  office.write("long", "hang for ten minutes");
  office.write("short", "ended well");
  await until(() => slow.hanging.size === 1 && office.answers().length === 1);
  const before = await lives.look((store) => store.sessions({ limit: 10 }));
  lives.ahead += 10 * minute;
  await first.die();
  lives.ahead += 3 * day;
  const second = parrot();
  const next = await lives.begin({ agent: second.agent });
  await until(() => second.hanging.size === 1);
  const marks = await lives.look((store) => store.sessions({ limit: 10 }));
  const byChat = (list: typeof marks) => new Map(list.map((one) => [one.address.chat, one]));
  assert.equal(byChat(marks).get("long")?.id, byChat(before).get("long")?.id, "it keeps its memory");
  assert.equal(byChat(marks).get("short")?.id, byChat(before).get("short")?.id);
  assert.equal(byChat(marks).get("short")?.resume, null, "who had finished is not marked");
  assert.equal(byChat(marks).get("short")?.standing, "active");
  second.goOn();
  await office.until(() => office.answers().length === 2);
  assert.deepEqual(office.textsIn("long"), ["HANG FOR TEN MINUTES"]);
  assert.deepEqual(office.textsIn("short"), ["ENDED WELL"], "and is not answered again");
  await next.stop();
  const turns = await lives.look((store) => store.turns({ limit: 10 }));
  assert.deepEqual(attemptsOf(turns), { "hang for ten minutes": 2, "ended well": 1 });
});

test("impossible 12: one session that outlasts the drain is marked, and no other", async (t) => {
  const lives = openLives(t);
  const { office } = lives;
  const slow = parrot();
  const first = await lives.begin({ agent: slow.agent });
  for (const chat of ["a", "b", "c"]) office.write(chat, `said in ${chat}`);
  office.write("stuck", "hang");
  await until(() => slow.hanging.size === 1 && office.answers().length === 3);
  await first.stop();
  const sessions = await lives.look((store) => store.sessions({ limit: 10 }));
  for (const { address, resume, standing } of sessions) {
    assert.equal(standing, "active");
    assert.equal(resume?.reason ?? null, address.chat === "stuck" ? "shutdown_timeout" : null, address.chat);
  }
});

test("impossible 14: no start forgets the count of deaths; the third is the last", async (t) => {
  const lives = openLives(t);
  const { office } = lives;
  const { to } = office.write("poison", "hang");
  const counts: number[] = [];
  for (let i = 0; i < 3; i++) {
    const slow = parrot();
    const life = await lives.begin({ agent: slow.agent });
    await until(() => slow.hanging.size === 1);
    counts.push(await lives.look((store) => store.strikes(sessionKey(to))));
    await life.die();
  }
  assert.deepEqual(counts, [0, 1, 2], "each start has counted the death before it, and kept the count");
  await lives.begin({ agent: parrot().agent });
  await office.until(() => office.answers().length === 1);
  assert.match(office.textsIn("poison")[0] ?? "", /^I had to give this up/);
  assert.equal(await lives.look((store) => store.strikes(sessionKey(to))), 0);
});

test("impossible 14: nor the count of planned interruptions", async (t) => {
  const lives = openLives(t);
  const { office } = lives;
  const { to } = office.write("stuck", "hang");
  const counts: number[] = [];
  for (let i = 0; i < 2; i++) {
    const slow = parrot();
    const life = await lives.begin({ agent: slow.agent });
    await until(() => slow.hanging.size === 1);
    await life.stop();
    counts.push(await lives.look((store) => store.strikes(sessionKey(to))));
  }
  assert.deepEqual(counts, [1, 2], "counted in the commit of the mark");
});

test("impossible 15: who finishes inside the drain is neither marked nor counted", async (t) => {
  const lives = openLives(t);
  const { office } = lives;
  const slow = parrot();
  const life = await lives.begin({ agent: slow.agent, settings: { drainMs: 60_000 } });
  const finisher = office.write("finisher", "hang a little");
  await until(() => slow.hanging.size === 1);
  const stopped = life.stop();
  slow.goOn();
  await stopped;
  const [session] = await lives.look((store) => store.sessions({ limit: 1 }));
  assert.deepEqual([session?.resume, session?.standing], [null, "active"]);
  assert.equal(await lives.look((store) => store.strikes(sessionKey(finisher.to))), 0);
  await lives.begin({ agent: parrot().agent });
  await office.until(() => office.seen.some(({ text }) => text === "HANG A LITTLE"));
});

test("impossible 28: a message costs the same rows beside few sessions and beside hundreds", async (t) => {
  const lives = openLives(t);
  const { office } = lives;
  const life = await lives.begin({ agent: parrot().agent });
  const watch = new DatabaseSync(lives.file, { readOnly: true });
  t.after(() => watch.close());
  const tables = ["sessions", "messages", "inbox", "turns", "entries", "items", "cursors", "timers", "strikes"];
  const rowsNow = () =>
    Object.fromEntries(
      tables.map((name) => [name, Number(watch.prepare(`SELECT count(*) AS n FROM ${name}`).get()?.["n"])]),
    );
  const pages = () => watch.prepare("SELECT n, id, active_at, fence FROM sessions ORDER BY n").all();
  const cost = async (text: string) => {
    const rows = rowsNow();
    const sessions = pages();
    const seen = office.answers().length;
    office.write("a", text);
    await office.until(() => office.answers().length > seen);
    const after = rowsNow();
    const added = Object.fromEntries(tables.map((name) => [name, (after[name] ?? 0) - (rows[name] ?? 0)]));
    const changed = pages().filter((row, i) => JSON.stringify(row) !== JSON.stringify(sessions[i])).length;
    return { added, changed };
  };
  office.write("a", "first");
  await office.until(() => office.answers().length === 1);
  const few = await cost("beside few");
  for (let i = 0; i < 400; i++) office.write(`c${i}`, "one of many");
  await office.until(() => office.answers().length === 402);
  const many = await cost("beside many");
  assert.deepEqual(many, few);
  assert.ok(many.changed <= 1, `${many.changed} sessions were written for one message`);
  await life.stop();
});

test("impossible 29: the conversation is whole with nothing but the store file", async (t) => {
  const lives = openLives(t);
  const { office } = lives;
  const first = await lives.begin({ agent: parrot().agent });
  for (let i = 0; i < 5; i++) office.write("a", `line ${i}`);
  await office.until(() => office.answers().length === 5);
  await first.stop();
  // A copy of the one file is all that there is.
  const copy = `${lives.file}.copy`;
  copyFileSync(lives.file, copy);
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${lives.file}${suffix}`, { force: true });
  copyFileSync(copy, lives.file);
  await lives.begin({ agent: parrot().agent });
  office.write("a", "line 5");
  await office.until(() => office.answers().length === 6);
  const { lines, sessions } = await lives.look(async (store) => ({
    lines: await store.messagesAfter({ platform: "office", account: "us", chat: "a" }, 0, 100),
    sessions: await store.sessions({ limit: 10 }),
  }));
  assert.equal(lines.length, 12);
  assert.equal(sessions.length, 1);
});

test("impossible 31: a clock set back by an hour, or ahead by a day, loses and repeats nothing", async (t) => {
  const lives = openLives(t);
  const { office } = lives;
  for (const jump of [-60 * minute, day, -2 * day]) {
    const seen = office.answers().length;
    const slow = parrot();
    const life = await lives.begin({ agent: slow.agent });
    office.write(`chat ${jump}`, `hang over ${jump}`);
    office.write(`chat ${jump}`, `after ${jump}`);
    await until(() => slow.hanging.size === 1);
    await life.die();
    lives.ahead += jump;
    const next = await lives.begin({ agent: parrotThatGoesOn() });
    await office.until(() => office.answers().length === seen + 2);
    assert.deepEqual(office.textsIn(`chat ${jump}`), [`HANG OVER ${jump}`, `AFTER ${jump}`]);
    await next.stop();
  }
});

function parrotThatGoesOn(): Agent {
  const { agent, goOn } = parrot();
  goOn();
  return agent;
}

const odd = ["a:b", "a/b", "a%2Fb", "a b", "c:", ":c", "-100123", "名前", "a\nb", "{}", "\ud800"];

test("impossible 33: whatever characters an address has, it gets its own notice and its own answer", async (t) => {
  const lives = openLives(t);
  const { office } = lives;
  const slow = parrot();
  const first = await lives.begin({ agent: slow.agent });
  for (const [i, chat] of odd.entries()) office.write(chat, `hang ${i}`, i % 2 === 0 ? `topic:${chat}` : undefined);
  await until(() => slow.hanging.size === odd.length);
  assert.equal(new Set(office.letters.map(({ to }) => sessionKey(to))).size, odd.length, "no two share a key");
  assert.equal(new Set(office.letters.map(({ to }) => formatAddress(to))).size, odd.length);
  first.gate.stop({ class: "restart", by: "cli", reason: "a new version" });
  await first.stop();
  const places = () => office.seen.map(({ to }) => JSON.stringify(to)).toSorted();
  const all = office.letters.map(({ to }) => JSON.stringify(to)).toSorted();
  assert.deepEqual(places(), all, "each place heard of the restart, once");
  assert.ok(office.seen.every(({ text }) => text.startsWith("Gateway restarting")));
  office.seen.length = 0;
  await lives.begin({ agent: parrotThatGoesOn() });
  await office.until(() => office.answers().length === odd.length);
  assert.deepEqual(places(), all, "and its own answer");
});

test("impossible 25: whoever has the answer is not told that it is unfinished", async (t) => {
  for (let i = 0; i < 10; i++) {
    const lives = openLives(t);
    const { office } = lives;
    const life = await lives.begin({ agent: parrot().agent });
    office.write("a", "quick");
    await office.until(() => office.answers().length === 1);
    await life.stop();
    assert.deepEqual(
      office.seen.map(({ text }) => text),
      ["QUICK"],
    );
  }
});
