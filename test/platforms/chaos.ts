// Chaos for any platform: people write to it at random moments while the real gateway is killed and stopped under them, and
// whoever holds the far side counts what they see. A test of a platform is its configuration and a driver of its far side.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { TestContext } from "node:test";
import { client } from "../process/client.ts";
import { sorryWords } from "../process/oracle.ts";
import {
  type Dice,
  type Gateway,
  type Started,
  dice,
  newHome,
  patienceMs,
  runGateway,
  seedOfRun,
  spawnGateway,
  whenReady,
} from "../process/stage.ts";

export type Far = {
  /** The whole config.yaml. Those who write must be allowed to. */
  readonly config: string;
  readonly env?: Readonly<Record<string, string>>;
  /** A user writes in this chat; resolves when the far side has it, whether anybody listens or not. */
  say(chat: string, text: string): void | Promise<void>;
  /** Our texts that stand in this chat now, oldest first; an edited one as it is now. */
  seen(chat: string): readonly string[] | Promise<readonly string[]>;
  /** Breaks all connections. */
  drop?(): void | Promise<void>;
  /** The far side goes away and comes back, with all it knew. */
  restart?(): void | Promise<void>;
  /** Called for each life that serves. */
  up?(gateway: Gateway): void;
};

export type Plan = {
  readonly chats: readonly string[];
  readonly messages?: number;
  readonly kills?: number;
  /** Some messages, or all of them, are answered over seconds, so that kills hit answers that grow. */
  readonly slowly?: boolean | "always";
  /** How long nothing may change before what is missing counts as lost. */
  readonly patienceMs?: number;
};

/** Messages by their names. `givenUp`: their turn died three times without progress, and its users were told so. */
export type Findings = {
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  readonly reordered: readonly string[];
  readonly givenUp: readonly string[];
};
export type Outcome = Findings & {
  readonly seed: number;
  readonly kills: number;
  readonly stops: number;
  readonly drops: number;
};

/** What was written, and by which words its answer is known. */
export type Said = { readonly text: string; readonly answer: string };

const nobody: Findings = { lost: [], doubled: [], reordered: [], givenUp: [] };

/** One chat: what was said in it, in that order, and what is seen in it. */
export function judge(chat: string, said: readonly Said[], seen: readonly string[]): Findings {
  const places = said.map(({ answer }) => seen.flatMap((text, at) => (text.includes(answer) ? [at] : [])));
  const names = (holds: (found: readonly number[], n: number) => boolean): readonly string[] =>
    said.flatMap(({ text }, n) => (holds(places[n] ?? [], n) ? [`${chat}: ${text}`] : []));
  const missing = names((found) => found.length === 0);
  const sorry = seen.filter((text) => text.startsWith(sorryWords)).length;
  const latest = (n: number): number => Math.max(-1, ...places.slice(0, n).map(([first = -1]) => first));
  return {
    lost: missing.slice(sorry),
    givenUp: missing.slice(0, sorry),
    doubled: names((found) => found.length > 1),
    reordered: names(([first = Number.POSITIVE_INFINITY], n) => first < latest(n)),
  };
}

export async function chaos(t: TestContext, far: Far, plan: Plan): Promise<Outcome> {
  const seed = seedOfRun();
  const roll = dice(seed);
  t.diagnostic(`seed ${seed}`);
  const home = newHome(t);
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "config.yaml"), far.config);
  const said = new Map(plan.chats.map((chat): readonly [string, Said[]] => [chat, []]));
  const writing = { isOver: false };
  const counts = { kills: 0, stops: 0, drops: 0 };
  const stage: Stage = { t, home, far, plan, writing, counts };
  const first = await runGateway(t, home, settingsOf(far));
  far.up?.(first);
  const everybody = writeAll(far, plan, dice(seed + 1), said).then(() => (writing.isOver = true));
  const breaking = breakAll(stage, dice(seed + 2));
  const last = await killAll(stage, roll, first);
  await Promise.all([everybody, breaking]);
  const found = await whenQuiet(stage, said, last);
  await last.end("SIGTERM");
  const outcome = { ...found, ...counts, seed };
  t.diagnostic(
    `${[...said.values()].flat().length} messages, ${counts.kills} kills, ${counts.stops} stops, ${counts.drops} breaks; lost ` +
      `${found.lost.length}, doubled ${found.doubled.length}, reordered ${found.reordered.length}, given up ${found.givenUp.length}`,
  );
  return outcome;
}

function settingsOf(far: Far): { readonly env?: Readonly<Record<string, string>> } {
  return far.env === undefined ? {} : { env: far.env };
}

type Stage = {
  readonly t: TestContext;
  readonly home: string;
  readonly far: Far;
  readonly plan: Plan;
  readonly writing: { readonly isOver: boolean };
  readonly counts: { kills: number; stops: number; drops: number };
};

/** Each chat has somebody who writes one message after another, at random moments. */
async function writeAll(far: Far, plan: Plan, roll: Dice, said: ReadonlyMap<string, Said[]>): Promise<void> {
  const { chats, messages = 100, slowly = false } = plan;
  const each = Math.ceil(messages / chats.length);
  const people = [...said].map(async ([chat, mine], who) => {
    for (let n = 0; n < each; n++) {
      await pause(roll.between(0, 500));
      const isSlow = slowly === "always" || (slowly && n % 7 === 3);
      const goal = 3 + (slowly === "always" ? n : Math.floor(n / 7));
      const name = `n${who}x${n}n`;
      const one = isSlow
        ? { text: `count to ${goal} slowly`, answer: `Counted to ${goal}` }
        : { text: name, answer: `You said: ${name}` };
      mine.push(one);
      await far.say(chat, one.text);
    }
  });
  await Promise.all(people);
}

async function breakAll({ far, writing, counts }: Stage, roll: Dice): Promise<void> {
  const ways = [far.drop, far.restart].filter((way) => way !== undefined);
  while (ways.length > 0 && !writing.isOver) {
    await pause(roll.between(300, 2_500));
    await ways[Math.floor(roll.between(0, ways.length))]?.call(far);
    counts.drops++;
  }
}

/** Most die while they serve, some on the way up, but not twice in a row: three such deaths are a reason to hold still. */
async function killAll({ t, home, far, plan, writing, counts }: Stage, roll: Dice, first: Gateway): Promise<Gateway> {
  let current: Started = first;
  let ready: Gateway | null = first;
  while (counts.kills < (plan.kills ?? 10) || !writing.isOver) {
    const isEarly: boolean = ready !== null && roll.chance(0.15);
    await pause(roll.between(0, 2_000));
    if (roll.chance(0.2)) {
      counts.stops++;
      await current.end("SIGTERM");
    } else {
      counts.kills++;
      await current.end("SIGKILL");
    }
    current = spawnGateway(t, home, settingsOf(far));
    ready = isEarly ? null : await whenReady(current);
    if (ready !== null) far.up?.(ready);
  }
  if (ready !== null) return ready;
  const last = await whenReady(current);
  far.up?.(last);
  return last;
}

/** Until everybody has an answer and nothing is left to do; or until nothing has changed for a long time. */
async function whenQuiet(stage: Stage, said: ReadonlyMap<string, Said[]>, gateway: Gateway): Promise<Findings> {
  const { t, far, plan } = stage;
  const ask = client(gateway);
  let before = "";
  let changedAt = Date.now();
  for (;;) {
    const { turns } = await ask.get<{ turns: readonly unknown[] }>("/api/turns?state=open&limit=100");
    const { items } = await ask.get<{ items: readonly unknown[] }>("/api/outbox?state=open&limit=100");
    const found = await judgeAll(far, said);
    const now = JSON.stringify([turns, items, found]);
    if (now !== before) changedAt = Date.now();
    before = now;
    if (turns.length + items.length + found.lost.length === 0) return found;
    if (Date.now() - changedAt > (plan.patienceMs ?? patienceMs)) {
      t.diagnostic(`nothing changes any more; open turns and items: ${JSON.stringify([turns, items]).slice(0, 2_000)}`);
      return found;
    }
    await pause(100);
  }
}

async function judgeAll(far: Far, said: ReadonlyMap<string, readonly Said[]>): Promise<Findings> {
  let all = nobody;
  for (const [chat, mine] of said) {
    const found = judge(chat, mine, await far.seen(chat));
    all = {
      lost: [...all.lost, ...found.lost],
      doubled: [...all.doubled, ...found.doubled],
      reordered: [...all.reordered, ...found.reordered],
      givenUp: [...all.givenUp, ...found.givenUp],
    };
  }
  return all;
}
