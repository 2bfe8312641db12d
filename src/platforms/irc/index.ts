// IRC: channels and queries of one network. What was said while we were away is only known where the server keeps a
// history or a bouncer does; what we say is known to have been taken when the server answers the ping behind it.

import { createHash } from "node:crypto";
import { Fault } from "../../core/fault.ts";
import { type Instant, later } from "../../core/ids.ts";
import type { OutboxItem, SendResult } from "../../core/outbox.ts";
import type { Inlet, Platform, Surroundings } from "../../ports/platform.ts";
import { type Connection, connect } from "./api.ts";
import { type Refused, away, broken, notConnected, plainAgain, resultOf } from "./faults.ts";
import { type Self, toInbound } from "./inbound.ts";
import { type Line, isChannel } from "./lines.ts";
import { partsOf } from "./markup.ts";
import { linesOf, targetOf } from "./outbound.ts";
import { type News, type State, advance, begin, isSame, knowsAccounts, regain } from "./session.ts";

export type IrcSettings = {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly nick: string;
  readonly realName: string;
  /** Of the server itself. */
  readonly password: string | null;
  readonly sasl: { readonly account: string; readonly password: string } | null;
  /** Names, each with its key behind a space where it has one. */
  readonly channels: readonly string[];
  /** Servers cut off who says more: a few lines at once, then one in each such time. */
  readonly lineEveryMs: number;
  /** Where the server does not tell accounts by itself, it is asked for those of people who speak. */
  readonly askAccounts: boolean;
};

const burst = 5;
const registerMs = 30_000;
/** How long a message that cannot be stored is kept in memory, and how often it is tried. */
const storeMs = 30_000;
const storeEveryMs = 200;
/** How long what the server still has for us is read after we said that we go. */
const leaveMs = 500;
/** A server that is silent for this long is asked, and given up after as long again. */
const silenceMs = 60_000;

/** What stands while there is a connection. */
type Standing = {
  readonly connection: Connection;
  state: State;
  /** Whoever waits for the server to come to this token. */
  readonly pings: Map<string, { readonly target: string; readonly refused: Refused[]; readonly done: () => void }>;
  readonly gone: AbortController;
};

export function irc(settings: IrcSettings, around: Surroundings): Platform {
  const account = `${settings.nick}@${settings.host}`;
  const { world } = around;
  let standing: Standing | null = null;
  let sending: Promise<unknown> = Promise.resolve();
  let lines: readonly Instant[] = [];

  /** Waits until one more line may be said. */
  async function turn(signal: AbortSignal): Promise<void> {
    const oldest = lines.length < burst ? undefined : lines.at(-burst);
    if (oldest !== undefined) await world.sleep(later(oldest, burst * settings.lineEveryMs), signal);
    lines = [...lines.slice(1 - burst), world.now()];
  }

  async function say(item: OutboxItem, signal: AbortSignal): Promise<SendResult> {
    const now = standing;
    if (now === null || signal.aborted || !now.state.isReady) return away;
    const ends = AbortSignal.any([signal, now.gone.signal]);
    const target = targetOf(item);
    const lines = linesOf(item);
    const tell = (words: readonly string[]) =>
      utter(now, { target, lines: words, token: tokenOf(item.id, world.id()), turn }, ends);
    let told = await tell(lines);
    const again = told.isAnswered ? plainAgain(told.refused, lines) : [];
    if (again.length > 0) told = { ...(await tell(again)), said: told.said };
    const { isAnswered, said, refused, token } = told;
    if (!isAnswered) return said === 0 ? away : broken;
    const result = resultOf(refused, said, token, target);
    if (result.type === "accepted" && refused.length > 0)
      world.log("warn", `irc: ${target} did not get ${refused.length} of ${said} lines`, { why: refused[0]?.why });
    return result;
  }

  return {
    name: "irc",
    account,
    can: {
      keyedSend: false,
      draftEveryMs: null,
      // One after the other; how fast lines follow each other is counted here, by lines.
      pace: { perSecond: 20, chatEveryMs: 0, atOnce: 1 },
      isFar: true,
      sendsByLink: true,
    },
    parts: partsOf,
    async listen(inlet, from, signal) {
      if (signal.aborted) return;
      const connection = await connect(settings, AbortSignal.any([signal, AbortSignal.timeout(registerMs)]));
      const { state, out } = begin(settings);
      const now: Standing = { connection, state, pings: new Map(), gone: new AbortController() };
      standing = now;
      for (const line of out) connection.write(line);
      const left = new AbortController();
      // Whatever was said before the server heard that we go has reached us: it is read to its end, and stored.
      const leave = async (): Promise<void> => {
        connection.write("QUIT :");
        await world.sleep(later(world.now(), leaveMs), now.gone.signal);
        left.abort();
        connection.close();
      };
      const leaves = (): void => void leave();
      signal.addEventListener("abort", leaves, { once: true });
      try {
        await follow(now, { settings, around, inlet, from, account, leaving: signal }, left.signal);
      } finally {
        signal.removeEventListener("abort", leaves);
        standing = null;
        now.gone.abort();
        connection.close();
      }
    },
    send(item, signal) {
      // One at a time, so that the lines of two answers do not mix.
      const mine = sending.then(() => say(item, signal));
      sending = Promise.allSettled([mine]);
      return mine;
    },
    draft: () => undefined,
    async probe() {
      if (standing?.state.isReady !== true) throw new Fault("not-possible", notConnected);
      return `connected to ${settings.host} as ${standing.state.nick}`;
    },
  };
}

type Words = {
  readonly target: string;
  readonly lines: readonly string[];
  readonly token: string;
  /** Waits until one more line may be said. */
  readonly turn: (signal: AbortSignal) => Promise<void>;
};

type Told = {
  readonly token: string;
  readonly said: number;
  readonly refused: readonly Refused[];
  /** The server has come to the ping behind the lines. */
  readonly isAnswered: boolean;
};

async function utter(now: Standing, { target, lines, token, turn }: Words, ends: AbortSignal): Promise<Told> {
  const refused: Refused[] = [];
  const answered = new Promise<void>((done) => now.pings.set(token, { target, refused, done }));
  let said = 0;
  for (const line of lines) {
    await turn(ends);
    if (ends.aborted) break;
    now.connection.write(`PRIVMSG ${target} :${line}`);
    said++;
  }
  if (!ends.aborted) now.connection.write(`PING :${token}`);
  await Promise.race([answered, aborted(ends)]);
  now.pings.delete(token);
  return { token, said, refused, isAnswered: !ends.aborted };
}

function tokenOf(item: string, id: string): string {
  return createHash("sha256").update(`${item} ${id}`).digest("base64url").slice(0, 20);
}

type Listening = {
  readonly settings: IrcSettings;
  readonly around: Surroundings;
  readonly inlet: Inlet;
  readonly from: string | null;
  readonly account: string;
  /** We go; what is on its way to us is still taken. */
  readonly leaving: AbortSignal;
};

async function follow(now: Standing, listening: Listening, signal: AbortSignal): Promise<void> {
  const { settings, around, leaving } = listening;
  const watch = watchdog(now, listening, signal);
  try {
    for await (const line of now.connection.lines()) {
      watch.heard();
      const next = advance(settings, now.state, line);
      now.state = next.state;
      for (const out of next.out) now.connection.write(out);
      if (next.news !== undefined) await learn(now, next.news, listening, signal);
      if (signal.aborted) return;
    }
  } catch (error) {
    if (leaving.aborted) return;
    throw error;
  } finally {
    watch.end();
  }
  if (!leaving.aborted) throw watch.why() ?? new Error(`${settings.host} closed the connection.`);
  around.world.log("debug", "irc: left");
}

async function learn(now: Standing, news: News, listening: Listening, signal: AbortSignal): Promise<void> {
  const { around, inlet, from, settings } = listening;
  switch (news.type) {
    case "ready":
      for (const line of historyOf(now.state, settings, from, around.world.now())) now.connection.write(line);
      return inlet.up();
    case "missed":
      if (!isChannel(news.target)) now.connection.write(since(news.target, from ?? ""));
      return;
    case "pong":
      return now.pings.get(news.token)?.done();
    case "refused":
      for (const { target, refused } of now.pings.values())
        if (isSame(now.state, target, news.target)) refused.push(news);
      return;
    case "not-joined":
      around.world.log("warn", `irc: ${news.channel} could not be joined`, { why: news.why });
      return;
    case "said":
      for (const line of news.lines) await hand(now, line, listening, signal);
  }
}

async function hand(now: Standing, line: Line, listening: Listening, signal: AbortSignal): Promise<void> {
  const { around, inlet, account, settings } = listening;
  const { nick, people } = now.state;
  const known = knowsAccounts(settings, now.state);
  const self: Self = { account, nick, wished: settings.nick, knowsAccounts: known, mapping: people.mapping };
  const message = toInbound(line, self, { id: around.world.id(), now: around.world.now() });
  if (message === null) return;
  // Nobody sends it again: what cannot be stored now is tried for a while. Who has to end does not wait for that.
  const { world } = around;
  for (const begun = world.now(); !signal.aborted; await world.sleep(later(world.now(), storeEveryMs), signal)) {
    try {
      return void (await Promise.race([inlet.accept(message, line.tags["time"] ?? null), aborted(signal)]));
    } catch (error) {
      if (world.now() - begun > storeMs) throw error;
    }
  }
}

/** Where the server keeps a history, what was said since the last message that we know, and who wrote to us. */
function historyOf({ caps }: State, { channels }: IrcSettings, from: string | null, now: Instant): readonly string[] {
  if (from === null || !caps.includes("draft/chathistory")) return [];
  const names = channels.map((channel) => channel.split(" ", 1)[0] ?? "");
  const until = new Date(now).toISOString();
  return [...names.map((name) => since(name, from)), `CHATHISTORY TARGETS timestamp=${from} timestamp=${until} 50`];
}

function since(target: string, from: string): string {
  return `CHATHISTORY AFTER ${target} timestamp=${from} 100`;
}

/** A server that neither registers us nor answers is left: a socket that nobody serves looks open for hours. */
function watchdog(now: Standing, { settings, around }: Listening, signal: AbortSignal) {
  const { world } = around;
  const over = new AbortController();
  const ends = AbortSignal.any([signal, over.signal]);
  const begun = world.now();
  let heardAt = begun;
  let why: Error | null = null;
  const leave = (sentence: string): void => {
    why = new Error(sentence);
    now.connection.close();
  };
  const watch = async (): Promise<void> => {
    while (!ends.aborted) {
      await world.sleep(later(world.now(), registerMs), ends);
      if (ends.aborted) return;
      if (!now.state.isReady) return leave(`${settings.host} did not let us in within ${registerMs / 1_000} seconds.`);
      const silence = world.now() - heardAt;
      if (silence >= 2 * silenceMs) return leave(`${settings.host} has not answered for ${silence / 1_000} seconds.`);
      if (silence >= silenceMs) now.connection.write("PING :still there");
      // Whoever had our name may be gone without our having seen it: a connection of our own that nobody served any more.
      for (const line of regain(settings, now.state)) now.connection.write(line);
    }
  };
  void watch();
  return { heard: () => void (heardAt = world.now()), end: () => over.abort(), why: () => why };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
