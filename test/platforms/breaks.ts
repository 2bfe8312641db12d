// A break of the network, from its beginning to the last answer after it, for any number of platforms of one real gateway: a
// part of the answers is under way when it begins, people go on writing, and afterwards the far sides are counted.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { certificates } from "../kit/certificates.ts";
import type { Exchange, NetworkFault } from "../kit/fault-proxy.ts";
import { type LookupError, failingNames } from "../kit/names.ts";
import { client } from "../process/client.ts";
import { type Dice, type Gateway, dice, newHome, patienceMs, runGateway, until } from "../process/stage.ts";
import { type PlatformName, type Side, sides } from "./break-sides.ts";
import { type Said, judge } from "./chaos.ts";

/** What fails: the connections, or the lookup of the name. */
export const faults = {
  "reset before delivery": { type: "reset", when: "before" },
  "reset after delivery": { type: "reset", when: "after" },
  "stall before delivery": { type: "stall", when: "before" },
  "stall in the answer": { type: "stall", when: "after" },
  "half-open": { type: "half-open" },
  "502 without delivery": { type: "answer", status: 502, delivered: false },
  "502 with delivery": { type: "answer", status: 502, delivered: true },
  "captive portal": { type: "answer", status: 200, delivered: false },
  "connection refused": { type: "refuse" },
  "untrusted certificate": { type: "tls", how: "certificate" },
  "no TLS": { type: "tls", how: "plain" },
  "name not found": { type: "name", error: "ENOTFOUND" },
  "name server silent": { type: "name", error: "EAI_AGAIN" },
} as const satisfies Readonly<Record<string, NetworkFault | NameFault>>;

type NameFault = { readonly type: "name"; readonly error: LookupError };

export type FaultName = keyof typeof faults;
export const faultNames = Object.keys(faults) as FaultName[];

export type BreakPlan = {
  readonly fault: FaultName;
  /** The gateway is killed with SIGKILL in the middle of the break. */
  readonly kill: boolean;
  readonly breakMs: number;
  readonly seed: number;
  readonly platforms: readonly PlatformName[];
  /** Where it is not the far side's own. */
  readonly heartbeatMs?: number;
};

/** What was found on one platform; lists name the messages. */
export type BreakResult = {
  readonly platform: PlatformName;
  readonly sent: number;
  readonly lost: readonly string[];
  readonly reordered: readonly string[];
  /** Visible copies beside the first. */
  readonly copies: readonly string[];
  /** Copies that no uncertain attempt explains, or any where repeats are recognized. */
  readonly unexplained: readonly string[];
  /** Answers that were tried more often than once a break and once a kill. */
  readonly insisted: readonly string[];
  /** Notices about held items. */
  readonly held: readonly string[];
  /** From the end of the break to the last missing answer. */
  readonly healedMs: number;
};

/** What must not be found, in words. */
export function problemsOf(result: BreakResult): readonly string[] {
  const { lost, unexplained, reordered, held, insisted } = result;
  return Object.entries({ lost, unexplained, reordered, held, insisted }).flatMap(([what, names]) =>
    names.length === 0 ? [] : [`${result.platform}: ${what}: ${names.join(", ")}`],
  );
}

const people = Array.from({ length: 8 }, (_, n) => `p${n}`);
const noticeWords = "/resend";
/** Storing an answer takes no longer than this, also on a busy machine. */
const aroundKillMs = 5_000;

export async function runBreak(t: TestContext, plan: BreakPlan): Promise<readonly BreakResult[]> {
  const roll = dice(plan.seed);
  const fault: NetworkFault | NameFault = faults[plan.fault];
  const tls = fault.type === "tls" ? certificates(t) : undefined;
  const names = fault.type === "name" ? failingNames(t) : undefined;
  const heartbeat = plan.heartbeatMs === undefined ? {} : { heartbeatMs: plan.heartbeatMs };
  const opening = { t, people, tls, ...heartbeat };
  const all = await Promise.all(plan.platforms.map((name) => sides[name](opening)));
  const home = newHome(t);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const config = `agent: { backend: echo }\nplatforms:\n${all.map((side) => side.config).join("")}`;
  writeFileSync(join(home, "config.yaml"), config, { mode: 0o600 });
  const env = { ...names?.env, ...(tls === undefined ? {} : { NODE_EXTRA_CA_CERTS: tls.file }) };
  const start = async (): Promise<Gateway> => {
    const gateway = await runGateway(t, home, { env });
    for (const side of all) side.served?.(gateway.url);
    return gateway;
  };
  const crowd = crowdAt(all);
  const healed = new Map<Side, number>();

  const first = await start();
  for (const side of all) await until(() => side.isFollowed(), Boolean, `${side.platform} is followed`);
  crowd.everybody(() => "first");
  await crowd.answered(() => `before the break; the gateway said ${first.err().slice(-2_000)}`);

  const underWay = people.map((_, n) => pause(roll.between(0, 3_000)).then(() => crowd.person(n, underWayText(n))));
  await pause(3_000);
  if (fault.type === "name") {
    names?.fail("localhost", fault.error);
    for (const { proxy } of all) proxy.cut();
  } else for (const { proxy } of all) proxy.begin(fault);
  const during = people.map((_, n) =>
    pause(roll.between(0, plan.breakMs)).then(() => crowd.person(n, `during ${plan.seed}`)),
  );
  const { last, killedAt } = await withinBreak(first, start, roll, plan);
  await Promise.all([...underWay, ...during]);
  names?.restore();
  for (const { proxy } of all) proxy.end();
  crowd.everybody(() => "after");
  const endedAt = Date.now();
  const heal = (side: Side): void => void (healed.has(side) || healed.set(side, Date.now() - endedAt));
  await crowd.answered(() => `after the break; the gateway said ${last.err().slice(-2_000)}`, heal);
  await quiet(last);
  const results = await Promise.all(
    all.map(async (side) => ({ ...(await crowd.judged(side, killedAt)), healedMs: healed.get(side) ?? 0 })),
  );
  await last.end("SIGTERM");
  return results;
}

/** Half of them wait for an answer that grows, the others get one at once, at any moment around the break. */
function underWayText(n: number): string {
  return n % 2 === 0 ? "count to 3 slowly" : "under way";
}

type Survivor = { readonly last: Gateway; readonly killedAt: number | null };

/** Until the break is over; who serves then. */
async function withinBreak(
  first: Gateway,
  start: () => Promise<Gateway>,
  roll: Dice,
  { kill, breakMs }: BreakPlan,
): Promise<Survivor> {
  const since = Date.now();
  const at = roll.between(0.2, 0.7) * breakMs;
  let survivor: Survivor = { last: first, killedAt: null };
  if (kill) {
    await pause(at);
    await first.end("SIGKILL");
    const killedAt = Date.now();
    survivor = { last: await start(), killedAt };
  }
  await pause(Math.max(0, since + breakMs - Date.now()));
  return survivor;
}

/** Nothing is left to be done, so nothing can arrive any more. */
async function quiet(gateway: Gateway): Promise<void> {
  const ask = client(gateway);
  await until(
    async () => [
      ...(await ask.get<{ turns: readonly unknown[] }>("/api/turns?state=open&limit=100")).turns,
      ...(await ask.get<{ items: readonly unknown[] }>("/api/outbox?state=open&limit=100")).items,
    ],
    (open) => open.length === 0,
    "nothing is left to do",
    200,
  );
}

/** Everybody who writes on these platforms; one message of a person after the other. */
function crowdAt(all: readonly Side[]) {
  const said = new Map(all.map((side) => [side, new Map(people.map((name): [string, Said[]] => [name, []]))]));
  const writing = new Map<string, Promise<void>>();

  function write(side: Side, name: string, words: string): void {
    const isCount = words.startsWith("count to");
    const text = isCount ? words : `${name} ${words}`;
    const answer = isCount ? "Counted to 3" : `You said: ${text}`;
    said.get(side)?.get(name)?.push({ text, answer });
    const key = `${side.platform} ${name}`;
    const before = writing.get(key) ?? Promise.resolve();
    const next = before.then(() => side.write(name, text));
    next.catch(() => undefined);
    writing.set(key, next);
  }

  function person(n: number, words: string): void {
    for (const side of all) write(side, people[n] ?? "", words);
  }

  async function findings(side: Side) {
    const chats = [...(said.get(side) ?? [])].map(async ([name, mine]) => {
      const seen = await side.seen(name);
      return { name, mine, seen, found: judge(name, mine, seen) };
    });
    return Promise.all(chats);
  }

  return {
    person,
    everybody(words: (name: string) => string): void {
      for (const [n, name] of people.entries()) person(n, words(name));
    },
    /** Everything that was written is answered. Waits as long as answers come, and then for a long time. */
    async answered(when: () => string, onSide: (side: Side) => void = () => undefined): Promise<void> {
      let before = "";
      for (let deadline = Date.now() + patienceMs; ; ) {
        const missing = (await Promise.all(all.map(findings))).map((chats, n) => ({
          platform: all[n]?.platform,
          lost: chats.flatMap(({ found }) => found.lost),
        }));
        for (const [n, side] of all.entries()) if (missing[n]?.lost.length === 0) onSide(side);
        if (missing.every(({ lost }) => lost.length === 0)) break;
        const now = JSON.stringify(missing);
        if (now !== before) deadline = Date.now() + patienceMs;
        before = now;
        if (Date.now() > deadline) assert.fail(`not answered ${when()}: ${now}`);
        await pause(250);
      }
      await Promise.all(writing.values());
    },
    async judged(side: Side, killedAt: number | null): Promise<Omit<BreakResult, "healedMs">> {
      const chats = await findings(side);
      const copiesOf = ({ seen }: (typeof chats)[number], { answer }: Said): number =>
        Math.max(0, seen.filter((text) => text.includes(answer)).length - 1);
      // An answer that came right before a kill may not have been stored.
      const isUncertain = ({ answeredAt }: Exchange): boolean =>
        answeredAt === null || (killedAt !== null && Math.abs(killedAt - answeredAt) < aroundKillMs);
      const uncertainOf = (name: string, { answer }: Said): number =>
        side.proxy.exchanges.filter((one) => isUncertain(one) && side.carries(one.text, name, answer)).length;
      const messages = chats.flatMap((chat) => chat.mine.map((one) => ({ chat, one })));
      const named = (holds: (of: (typeof messages)[number]) => boolean): readonly string[] =>
        messages.flatMap((of) => (holds(of) ? [`${of.chat.name}: ${of.one.text}`] : []));
      return {
        platform: side.platform,
        sent: messages.length,
        lost: chats.flatMap(({ found }) => [...found.lost, ...found.givenUp]),
        reordered: chats.flatMap(({ found }) => found.reordered),
        copies: named(({ chat, one }) => copiesOf(chat, one) > 0),
        unexplained: named(({ chat, one }) => copiesOf(chat, one) > (side.isKeyed ? 0 : uncertainOf(chat.name, one))),
        insisted: named(({ chat, one }) => !side.isKeyed && uncertainOf(chat.name, one) > (killedAt === null ? 2 : 3)),
        held: chats.flatMap(({ name, seen }) => (seen.some((text) => text.includes(noticeWords)) ? [name] : [])),
      };
    },
  };
}
