// The oracle: a process of its own that is several people at once. Each writes into a conversation, repeats what was
// not confirmed, sometimes repeats what was, drops its event stream now and then, and keeps what it saw. At the end it
// compares what was sent, what was seen live and what is stored, and reports. It knows nothing of kills.

import { setTimeout as pause } from "node:timers/promises";
import { type Client, type Message, type Place, client } from "./client.ts";
import { type Dice, dice } from "./stage.ts";

export type Order =
  | { readonly type: "begin"; readonly place: Place; readonly seed: number }
  | { readonly type: "finish"; readonly waitMs: number };

export type Report = {
  readonly messages: number;
  readonly answered: number;
  /** POSTs of ids that were sent before, on purpose or because nothing was heard. */
  readonly repeats: number;
  readonly reconnects: number;
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  readonly disordered: readonly string[];
  readonly wrong: readonly string[];
  /** Turns that ended with the words of a turn that was given up. */
  readonly givenUp: readonly string[];
  /** When answers were seen. */
  readonly answersAt: readonly number[];
};

type Sent = { readonly id: string; readonly text: string; accepted: number };

type Person = {
  readonly chat: string;
  /** How many questions it has open at once. */
  readonly window: number;
  readonly sent: Sent[];
  readonly seen: Message[];
  readonly doubled: string[];
  readonly answersAt: number[];
  repeats: number;
  reconnects: number;
};

const windows = [1, 1, 2, 3, 5, 8] as const;
const hurryMs = 50;
export const sorryWords = "I had to give this up";

async function write(me: Person, to: Client, roll: Dice, over: AbortSignal): Promise<void> {
  const answered = () => me.seen.filter((one) => one.role === "assistant").length;
  for (let i = 0; !over.aborted; i++) {
    while (me.sent.length - answered() >= me.window && !over.aborted) await pause(5);
    if (over.aborted) return;
    const text = roll.chance(0.3) ? `count to ${Math.floor(roll.between(2, 9))}` : `word ${i} of ${me.chat}`;
    const one: Sent = { id: `${me.chat}-${i}`, text, accepted: 0 };
    me.sent.push(one);
    const twins = roll.chance(0.05) ? 2 : 1;
    await Promise.all(Array.from({ length: twins }, () => deliver(me, to, one, roll)));
    if (roll.chance(0.1)) await deliver(me, to, one, roll);
    await pause(roll.between(0, 25));
  }
}

/** Until the gateway has said that it is stored; now and then it hangs up before the answer and asks again. */
async function deliver(me: Person, to: Client, one: Sent, roll: Dice): Promise<void> {
  for (let tries = 0; ; tries++) {
    if (tries > 0) me.repeats++;
    const signal = roll.chance(0.03)
      ? AbortSignal.timeout(Math.ceil(roll.between(1, 10)))
      : AbortSignal.timeout(30_000);
    const answer = await to.post(me.chat, one.id, { text: one.text }, { signal }).catch((error: Error) => error);
    if (!(answer instanceof Error)) {
      const status = (answer.body as { readonly status?: string }).status;
      if (answer.status === 200 && status === "accepted") one.accepted++;
      if (answer.status === 200) return;
      if (answer.status !== 503 && answer.status !== 429)
        throw new Error(`${one.id} was refused with ${answer.status}: ${JSON.stringify(answer.body)}`);
    }
    await pause(hurryMs);
  }
}

async function read(me: Person, from: Client, roll: Dice, over: AbortSignal): Promise<void> {
  for (; !over.aborted; me.reconnects++) {
    const own = new AbortController();
    over.addEventListener("abort", () => own.abort(), { once: true, signal: own.signal });
    try {
      const cursor = me.seen.at(-1)?.n ?? 0;
      for await (const { type, data } of from.events(me.chat, cursor, own.signal)) {
        if (type !== "message") continue;
        const message = data as Message;
        const last = me.seen.at(-1)?.n ?? 0;
        if (message.n <= last) me.doubled.push(`${me.chat}: n ${message.n} after ${last} in the stream`);
        me.seen.push(message);
        if (message.role === "assistant") me.answersAt.push(Date.now());
        if (roll.chance(0.01)) break;
      }
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
    own.abort();
    await pause(hurryMs);
  }
}

type Findings = Record<"lost" | "doubled" | "disordered" | "wrong" | "givenUp", string[]>;

/** What was sent, what was seen live and what is stored, side by side. */
function audit(me: Person, stored: readonly Message[], found: Findings): void {
  const users = stored.filter((one) => one.role === "user");
  const answers = stored.filter((one) => one.role === "assistant");
  for (const { id, text, accepted } of me.sent) {
    const mine = users.filter((one) => one.key === id);
    if (mine.length === 0) found.lost.push(`${id} is not stored`);
    if (mine.length > 1 || accepted > 1)
      found.doubled.push(`${id} is stored ${mine.length} times, accepted ${accepted} times`);
    const replies = answers.filter((one) => one.turn !== null && one.turn === mine[0]?.turn);
    if (replies.length === 0) found.lost.push(`${id} is not answered`);
    if (replies.length > 1) found.doubled.push(`${id} is answered ${replies.length} times`);
    const [reply] = replies;
    if (reply?.text.startsWith(sorryWords)) found.givenUp.push(reply.turn ?? "");
    else if (reply !== undefined && !fits(text, reply.text)) found.wrong.push(`${id}: ${text} → ${reply.text}`);
    if (reply !== undefined && reply.n <= (mine[0]?.n ?? 0)) found.disordered.push(`${id} was answered before`);
  }
  if (users.length !== me.sent.length || answers.length !== me.sent.length)
    found.wrong.push(`${me.chat}: ${me.sent.length} sent, ${users.length} stored, ${answers.length} answers`);
  const inOrder = (a: readonly unknown[], b: readonly unknown[]) => JSON.stringify(a) === JSON.stringify(b);
  if (
    !inOrder(
      me.sent.map((one) => one.id),
      users.map((one) => one.key),
    )
  )
    found.disordered.push(`${me.chat}: messages are not stored in the order they were sent`);
  if (
    !inOrder(
      users.map((one) => one.turn),
      answers.map((one) => one.turn),
    )
  )
    found.disordered.push(`${me.chat}: answers are not in the order of their messages`);
  const live = me.seen.map((one) => `${one.n} ${one.role} ${one.key} ${one.text}`);
  if (
    !inOrder(
      live,
      stored.map((one) => `${one.n} ${one.role} ${one.key} ${one.text}`),
    )
  )
    found.wrong.push(`${me.chat}: the stream showed ${live.length} messages, ${stored.length} are stored`);
}

function fits(said: string, answer: string): boolean {
  const goal = Number(/^count to (\d+)$/.exec(said)?.[1] ?? 0);
  if (goal === 0) return answer === `You said: ${said}`;
  const numbers = Array.from({ length: goal }, (_, i) => i + 1).join(", ");
  return answer.startsWith(`${numbers}\n\nCounted to ${goal}`);
}

function begin(place: Place, seed: number): (waitMs: number) => Promise<Report> {
  const to = client(place);
  const quiet = new AbortController();
  const gone = new AbortController();
  const people = windows.map((window, i): Person => {
    const empty = { sent: [], seen: [], doubled: [], answersAt: [], repeats: 0, reconnects: 0 };
    return { chat: `person${i}`, window, ...empty };
  });
  const writing = people.map((me, i) => write(me, to, dice(seed + i), quiet.signal));
  const reading = people.map((me, i) => read(me, to, dice(seed + 100 + i), gone.signal));
  const seenAll = (me: Person) => me.seen.length >= 2 * me.sent.length;

  return async (waitMs) => {
    quiet.abort();
    await Promise.all(writing);
    for (const deadline = Date.now() + waitMs; Date.now() < deadline && !people.every(seenAll); ) await pause(20);
    const found: Findings = {
      lost: [],
      doubled: people.flatMap((me) => me.doubled),
      disordered: [],
      wrong: [],
      givenUp: [],
    };
    for (const me of people) audit(me, await to.transcript(me.chat), found);
    gone.abort();
    await Promise.all(reading);
    const sum = (count: (me: Person) => number) => people.reduce((total, me) => total + count(me), 0);
    return {
      ...found,
      messages: sum((me) => me.sent.length),
      answered: sum((me) => me.answersAt.length),
      repeats: sum((me) => me.repeats),
      reconnects: sum((me) => me.reconnects),
      answersAt: people.flatMap((me) => me.answersAt).toSorted((a, b) => a - b),
    };
  };
}

/** The other end of this process: whoever started it tells it where to write, and when to stop. */
function serve(): void {
  let finish: ((waitMs: number) => Promise<Report>) | null = null;
  process.on("disconnect", () => process.exit(0));
  process.on("message", (order: Order) => {
    if (order.type === "begin") finish = begin(order.place, order.seed);
    else void finish?.(order.waitMs).then((report) => process.send?.(report));
  });
}

if (process.send !== undefined && import.meta.main) serve();
