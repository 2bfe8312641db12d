// The real program, killed with -9 at random instants while people write to it. Others count: an oracle in a process of
// its own, the program's own record of a turn, and the traces that tools leave in a folder.

import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { type Client, type Message, client } from "./client.ts";
import { keptPromise, reportOf, startOracle } from "./witness.ts";
import {
  type Gateway,
  dice,
  median,
  newHome,
  run,
  runGateway,
  seedOfRun,
  spawnGateway,
  until,
  whenReady,
} from "./stage.ts";

const asked = "What shall it be? Choose one, or say it in your own words.";

const killsWanted = 64;
const toolKills = 5;
const seed = seedOfRun();

type Entry = {
  readonly type: string;
  readonly text?: string;
  readonly call?: string;
  readonly calls?: readonly { readonly call: string; readonly tool: string }[];
  readonly result?: { readonly type: string };
};
type TurnFacts = {
  readonly turn: {
    readonly id: string;
    readonly state: string;
    readonly outcome: string | null;
    readonly attempt: number;
  };
  readonly entries: readonly { readonly entry: Entry }[];
};

test("killed at random instants under load: nothing lost, nothing doubled, order kept", async (t) => {
  const roll = dice(seed);
  const home = newHome(t);
  const first = await runGateway(t, home);
  const { port } = first;
  const oracle = startOracle(t, first, seed);
  const deaths: number[] = [];
  const starts: number[] = [];
  let kills = 0;
  let stops = 0;
  let current: { readonly started: Omit<Gateway, "url" | "token" | "port">; ready: boolean } = {
    started: first,
    ready: true,
  };
  while (kills < killsWanted) {
    // Some die on the way up, most while they serve; some are asked politely.
    const dying = current;
    const early = roll.chance(0.2);
    if (!dying.ready && !early) {
      await whenReady(dying.started);
      dying.ready = true;
    }
    await pause(early ? roll.between(0, 400) : roll.between(0, 500));
    if (roll.chance(0.2)) {
      stops++;
      const exit = await dying.started.end("SIGTERM");
      // Nobody announced it. Before it has begun to listen to signals, one ends it as it ends any program.
      assert.ok(exit === 1 || (exit === "SIGTERM" && !dying.ready), `${exit}: ${dying.started.err()}`);
    } else {
      kills++;
      assert.equal(await dying.started.end("SIGKILL"), "SIGKILL", dying.started.err());
    }
    const begun = Date.now();
    deaths.push(begun);
    const started = spawnGateway(t, home, { port });
    const next = { started, ready: false };
    const note = () => {
      next.ready = true;
      starts.push(Date.now() - begun);
    };
    whenReady(started).then(note, () => undefined);
    current = next;
  }
  const last = await whenReady(current.started);
  const report = await reportOf(oracle);
  assert.ok(report.messages >= killsWanted, `only ${report.messages} messages were sent`);
  await keptPromise(client(last), report, seed);
  const gaps = deaths.flatMap((at) =>
    report.answersAt
      .filter((one) => one > at)
      .slice(0, 1)
      .map((one) => one - at),
  );
  assert.equal(await last.end("SIGINT"), 0);
  const resumed = resumedIn(home);
  assert.ok(resumed > 0, "no kill has hit a turn, so nothing was shown");
  t.diagnostic(
    `seed ${seed}: ${kills + stops} rounds, ${report.messages} messages, ${kills} kills, ${stops} stops, ${resumed} turns resumed, ` +
      `${report.repeats} repeated requests, ${report.reconnects} reconnects, lost ${report.lost.length}, doubled ${report.doubled.length}, ` +
      `out of order ${report.disordered.length}, given up ${report.givenUp.length}, ` +
      `start to ready ${median(starts)} ms median, death to next answer ${median(gaps)} ms median`,
  );
});

/** Turns that were running at a death or a stop. */
function resumedIn(home: string): number {
  const db = new DatabaseSync(join(home, "state.db"), { readOnly: true });
  const { count } = db.prepare("SELECT count(*) AS count FROM turns WHERE attempt > 1").get() ?? {};
  db.close();
  return Number(count);
}

test("killed anywhere in the very first start of a home, the next start makes it whole", async (t) => {
  const roll = dice(seed + 3);
  const homes = 12;
  const left: number[] = [];
  for (let i = 0; i < homes; i++) {
    const home = newHome(t);
    for (let kills = 0; kills < 2; kills++) {
      const started = spawnGateway(t, home);
      await pause(roll.between(30, 500));
      await started.end("SIGKILL");
    }
    left.push(existsSync(home) ? readdirSync(home).length : 0);
    const gateway = await runGateway(t, home);
    await client(gateway).send("c1", "m1", "hello");
    await answerIn(client(gateway), "c1");
    assert.equal(await gateway.end("SIGINT"), 0);
  }
  t.diagnostic(`seed ${seed}: ${homes} new homes, ${2 * homes} kills, with ${left.join(", ")} files in them`);
});

/** The one turn of a conversation, as the program itself tells it. */
async function turnIn(ask: Client, chat: string): Promise<TurnFacts> {
  const [first] = await ask.transcript(chat);
  return ask.get<TurnFacts>(`/api/turns/${first?.turn}`);
}

const said = ({ entries }: TurnFacts) => entries.flatMap(({ entry }) => (entry.type === "said" ? [entry.text] : []));
const resumes = ({ entries }: TurnFacts) => entries.filter(({ entry }) => entry.type === "resumed").length;

/** Results since the last start; a death without any counts against a turn. */
function progressOf({ entries }: TurnFacts): number {
  const types = entries.map(({ entry }) => entry.type);
  const since = types.slice(types.lastIndexOf("resumed") + 1);
  return since.filter((type) => type === "said" || type === "tool-ended").length;
}

async function answerIn(ask: Client, chat: string): Promise<Message> {
  const seen = await until(
    () => ask.transcript(chat),
    (all) => all.some((one) => one.role === "assistant"),
    `${chat} is answered`,
  );
  return seen.find((one) => one.role === "assistant") ?? assert.fail();
}

test("a turn of thirty steps, killed again and again, repeats no finished step", async (t) => {
  const roll = dice(seed + 1);
  const home = newHome(t);
  let gateway = await runGateway(t, home);
  const { port } = gateway;
  const ask = client(gateway);
  await ask.send("long", "m1", "count to 30 slowly");
  let kills = 0;
  let steps = 0;
  while (steps < 27 && kills < 12) {
    const facts = await until(
      () => turnIn(ask, "long"),
      (found) => progressOf(found) > 0 && resumes(found) === kills,
      "the turn has made progress in this life",
    );
    await pause(roll.between(0, 700));
    await gateway.end("SIGKILL");
    kills++;
    steps = said(facts).length;
    gateway = await runGateway(t, home, { port });
  }
  assert.ok(kills >= 10, `only ${kills} kills hit the turn`);
  const answer = await answerIn(ask, "long");
  const shown = await run(t, home, ["turns", "show", answer.turn ?? "", "--json"]);
  assert.equal(shown.code, 0, shown.err);
  const facts = JSON.parse(shown.out) as TurnFacts;
  const numbers = Array.from({ length: 30 }, (_, i) => String(i + 1));
  assert.deepEqual(said(facts), [...numbers, answer.text], `seed ${seed}`);
  assert.equal(resumes(facts), kills);
  assert.equal(facts.turn.attempt, kills + 1);
  assert.equal(
    answer.text,
    `${numbers.join(", ")}\n\nCounted to 30. I was interrupted ${kills} times and went on where I was.`,
  );
  const all = await ask.transcript("long");
  assert.deepEqual(
    all.map((one) => one.role),
    ["user", "assistant"],
  );
  t.diagnostic(`seed ${seed}: 30 steps, ${kills} kills, ${resumes(facts)} resumes, every step once, one reply`);
  await gateway.end();
});

test("tools cut off in the middle: a tool with effect `once` runs at most once and is told honestly", async (t) => {
  const roll = dice(seed + 2);
  const home = newHome(t);
  let gateway = await runGateway(t, home);
  const { port } = gateway;
  const ask = client(gateway);
  const chats: string[] = [];
  const open = async () => {
    const facts = await Promise.all(chats.map((chat) => turnIn(ask, chat)));
    return facts.filter((one) => one.turn.state !== "done");
  };
  // Each life begins two more, so that a death finds them in different tools and the last ones get through.
  for (let kills = 0; kills < toolKills; kills++) {
    for (const chat of [`tools${2 * kills}`, `tools${2 * kills + 1}`]) {
      chats.push(chat);
      await ask.send(chat, "m1", "run a slow tool");
      await pause(roll.between(0, 700));
    }
    await until(open, (all) => all.every((one) => progressOf(one) > 0), "every turn has made progress in this life");
    await pause(roll.between(0, 2_000));
    await gateway.end("SIGKILL");
    gateway = await runGateway(t, home, { port });
  }
  const rung = () =>
    readFileSync(join(home, "workspace", "bell.log"), "utf8")
      .trim()
      .split("\n");
  const told = { ok: 0, unknown: 0 };
  for (const chat of chats) {
    const answer = await answerIn(ask, chat);
    const { entries, turn } = await turnIn(ask, chat);
    assert.equal(turn.outcome, "replied");
    const calls = entries.flatMap(({ entry }) => entry.calls ?? []);
    const call = calls.find((one) => one.tool === "ring_bell")?.call;
    const ends = entries.flatMap(({ entry }) =>
      entry.type === "tool-ended" && entry.call === call ? [entry.result?.type] : [],
    );
    assert.equal(ends.length, 1, "a call ends once");
    const lines = rung().filter((line) => line.startsWith(`${turn.id}:`)).length;
    const [result] = ends;
    assert.ok(result === "ok" || result === "unknown", `seed ${seed}: ${result}`);
    assert.ok(result === "ok" ? lines === 1 : lines <= 1, `seed ${seed}: ${result}, but the bell rang ${lines} times`);
    assert.match(
      answer.text,
      result === "ok" ? /`ring_bell`: the bell rang/ : /`ring_bell`: unknown: the gateway died while this ran/,
    );
    assert.match(answer.text, /`look_at_clock`: it is [\s\S]*`stamp`: stamped [\s\S]*`write_note`: wrote /);
    assert.equal((await ask.transcript(chat)).length, 2);
    told[result]++;
  }
  t.diagnostic(
    `seed ${seed}: ${chats.length} turns with 4 tools each, ${toolKills} kills, bell told ok ${told.ok}, unknown ${told.unknown}, rung twice 0`,
  );
  await gateway.end();
});

test("a question open at the kill is answered after it, once", async (t) => {
  const home = newHome(t);
  let gateway = await runGateway(t, home);
  const { port } = gateway;
  const ask = client(gateway);
  const again = async () => {
    await gateway.end("SIGKILL");
    gateway = await runGateway(t, home, { port });
  };
  for (const [chat, answer] of [
    ["pressed", (question: string) => ({ answer: { question, choice: "tea" } })],
    ["typed", () => ({ text: "tea" })],
  ] as const) {
    await ask.send(chat, "m1", "ask me");
    const { question, text } = await answerIn(ask, chat);
    assert.equal(text, asked);
    await again();
    assert.equal((await turnIn(ask, chat)).turn.state, "waiting");
    assert.equal(await ask.send(chat, "m2", answer(question?.id ?? "")), "accepted");
    await again();
    assert.equal(await ask.send(chat, "m2", answer(question?.id ?? "")), "duplicate");
    await until(
      () => ask.transcript(chat),
      (all) => all.length >= 4,
      "the choice is confirmed",
    );
    await again();
    await ask.send(chat, "m3", "still there");
    const all = await until(
      () => ask.transcript(chat),
      (seen) => seen.length >= 6,
      "the next message is answered",
    );
    assert.deepEqual(
      all.map((one) => `${one.role}: ${one.text}`),
      [
        "user: ask me",
        `assistant: ${asked}`,
        "user: tea",
        "assistant: You chose **tea**. I would have waited for days, through any restart.",
        "user: still there",
        "assistant: You said: still there",
      ],
    );
  }
  await gateway.end();
});

test("a reminder set before the kill comes after it, once", async (t) => {
  const home = newHome(t);
  const first = await runGateway(t, home);
  const { port } = first;
  const ask = client(first);
  const setAt = Date.now();
  await ask.send("overdue", "m1", "remind me in 2 seconds to breathe");
  await ask.send("later", "m1", "remind me in 8 seconds to stretch");
  await answerIn(ask, "overdue");
  await answerIn(ask, "later");
  await first.end("SIGKILL");
  // Its moment passes while nothing runs.
  await until(
    () => Date.now() - setAt,
    (passed) => passed > 2_500,
    "the reminder is overdue",
  );
  const second = await runGateway(t, home, { port });
  const came = (chat: string, what: string) =>
    until(
      () => ask.transcript(chat),
      (all) => all.at(-1)?.text === `Reminder: ${what}`,
      `the reminder to ${what} came`,
    );
  await came("overdue", "breathe");
  await came("later", "stretch");
  assert.ok(Date.now() - setAt >= 8_000, "it came too early");
  await second.end("SIGKILL");
  const third = await runGateway(t, home, { port });
  for (const chat of ["overdue", "later"]) {
    await ask.send(chat, "m2", "anything");
    const all = await until(
      () => ask.transcript(chat),
      (seen) => seen.at(-1)?.text === "You said: anything",
      "it goes on",
    );
    assert.equal(all.filter((one) => one.text.startsWith("Reminder: ")).length, 1);
  }
  await third.end();
});
