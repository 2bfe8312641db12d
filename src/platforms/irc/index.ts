// IRC: channels and queries of one network. What was said while we were away is only known where the server keeps a
// history or a bouncer does; what we say is known to have been taken when the server answers the ping behind it.

import { Fault } from "../../core/fault.ts";
import { type Instant, later } from "../../core/ids.ts";
import type { OutboxItem, SendResult } from "../../core/outbox.ts";
import { orAborted } from "../../core/running/aborted.ts";
import type { Confirm, Inlet, Platform, Surroundings } from "../../ports/platform.ts";
import type { World } from "../../ports/world.ts";
import { type Connection, type Skipped, connect } from "./api.ts";
import { away, notConnected } from "./faults.ts";
import { type Self, toInbound } from "./inbound.ts";
import { type Page, type Playback, isOver, noted, replay, turned } from "./history.ts";
import type { Line } from "./lines.ts";
import { partsOf } from "./markup.ts";
import { linesOf, targetOf } from "./outbound.ts";
import { type Pings, ask, sayLines, tokenOf } from "./saying.ts";
import { type News, type State, advance, begin, isSame, knowsAccounts, regain } from "./session.ts";

export type IrcLogin =
  | { readonly account: string; readonly password: string }
  /** PEM files; without an account the certificate itself says which one it is. */
  | { readonly account: string | null; readonly certificate: string; readonly key: string };

export type IrcSettings = {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  readonly nick: string;
  readonly realName: string;
  /** Of the server itself. */
  readonly password: string | null;
  readonly sasl: IrcLogin | null;
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
  readonly pings: Pings;
  readonly gone: AbortController;
  /** While the server tells what we missed. */
  playback: Playback | null;
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

  async function say(item: OutboxItem, signal: AbortSignal, confirm: Confirm): Promise<SendResult> {
    const now = standing;
    if (now === null || signal.aborted || !now.state.isReady) return away;
    const receipts = item.now.state === "sending" ? (item.now.sent ?? []) : [];
    const words = { item: item.id, target: targetOf(item), lines: linesOf(item), receipts, turn, confirm, world };
    return sayLines(now, words, signal);
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
      const skipped = skipLog(world);
      const limit = AbortSignal.any([signal, AbortSignal.timeout(registerMs)]);
      const connection = await connect(settings, skipped, limit);
      const { state, out } = begin(settings);
      const now: Standing = { connection, state, pings: new Map(), gone: new AbortController(), playback: null };
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
        await follow(now, { settings, around, inlet, from, account, skipped, leaving: signal }, left.signal);
      } finally {
        signal.removeEventListener("abort", leaves);
        standing = null;
        now.gone.abort();
        connection.close();
      }
    },
    send(item, signal, confirm = async () => undefined) {
      // One at a time, so that the lines of two answers do not mix.
      const mine = sending.then(() => say(item, signal, confirm));
      sending = Promise.allSettled([mine]);
      return mine;
    },
    draft: () => undefined,
    async ping(signal) {
      if (standing?.state.isReady !== true) throw new Fault("not-possible", notConnected);
      await ask(standing, tokenOf("ping", world.id()), signal);
    },
    async probe() {
      if (standing?.state.isReady !== true) throw new Fault("not-possible", notConnected);
      return `connected to ${settings.host} as ${standing.state.nick}`;
    },
  };
}

/** So many are logged one by one for each connection; a server can send any number of them. */
const skipsMax = 50;

/** Logs why a line of the server was not taken, never what it said. */
function skipLog(world: World): Skipped {
  let count = 0;
  return (reason) => {
    count++;
    if (count <= skipsMax) world.log("info", "Skipped a line of the IRC server", { event: "irc.line_skipped", reason });
    if (count === skipsMax) world.log("info", "Further skipped lines are not logged", { event: "irc.skips_muted" });
  };
}

type Listening = {
  readonly settings: IrcSettings;
  readonly around: Surroundings;
  readonly inlet: Inlet;
  readonly from: string | null;
  readonly account: string;
  readonly skipped: Skipped;
  /** We go; what is on its way to us is still taken. */
  readonly leaving: AbortSignal;
};

async function follow(now: Standing, listening: Listening, signal: AbortSignal): Promise<void> {
  const { settings, around, inlet, leaving } = listening;
  const watch = watchdog(now, listening, signal);
  try {
    for await (const line of now.connection.lines()) {
      watch.heard();
      if (now.playback !== null) now.playback = noted(now.playback, line);
      const next = advance(settings, now.state, line);
      now.state = next.state;
      for (const out of next.out) now.connection.write(out);
      if (next.news !== undefined) await learn(now, next.news, listening, signal);
      if (signal.aborted) return;
      await settle(now, inlet);
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

/** Our place in the stream moves when all was told, and nothing of it still waits to be handed over. */
async function settle(now: Standing, inlet: Inlet): Promise<void> {
  const { playback, state } = now;
  if (playback === null || !isOver(playback) || state.people.held.length > 0) return;
  now.playback = null;
  await inlet.moved(playback.latest);
}

async function learn(now: Standing, news: News, listening: Listening, signal: AbortSignal): Promise<void> {
  const { around, inlet, from, settings } = listening;
  switch (news.type) {
    case "ready":
      turnTo(now, historyOf(now.state, settings, from, around.world.now()));
      return inlet.up();
    case "pong":
      if (now.playback !== null) turnTo(now, turned(now.playback, news.token));
      return now.pings.get(news.token)?.done();
    case "refused":
      for (const { target, refused } of now.pings.values())
        if (isSame(now.state, target, news.target)) refused.push(news);
      return;
    case "echoed":
      for (const { target, echoed } of now.pings.values())
        if (isSame(now.state, target, news.target)) echoed?.(news.text);
      return;
    case "not-joined":
      around.world.log("warn", `irc: ${news.channel} could not be joined`, { why: news.why });
      return;
    case "said":
      for (const line of news.lines) await hand(now, line, listening, signal);
  }
}

function turnTo(now: Standing, page: Page | null): void {
  if (page === null) return;
  now.playback = page.playback;
  for (const line of page.out) now.connection.write(line);
}

async function hand(now: Standing, line: Line, listening: Listening, signal: AbortSignal): Promise<void> {
  const { around, inlet, account, settings, skipped } = listening;
  const { nick, people } = now.state;
  const known = knowsAccounts(settings, now.state);
  const self: Self = { account, nick, wished: settings.nick, knowsAccounts: known, mapping: people.mapping };
  const message = toInbound(line, self, { id: around.world.id(), now: around.world.now() });
  if (typeof message === "string") return skipped(message);
  // Nobody sends it again: what cannot be stored now is tried for a while. Who has to end does not wait for that.
  const { world } = around;
  const cursor = now.playback === null ? (line.tags["time"] ?? null) : null;
  for (const begun = world.now(); !signal.aborted; await world.sleep(later(world.now(), storeEveryMs), signal)) {
    try {
      return void (await orAborted(inlet.accept(message, cursor), signal));
    } catch (error) {
      if (world.now() - begun > storeMs && !signal.aborted) throw error;
    }
  }
}

/** Where the server keeps a history, what was said since the last message that we know. */
function historyOf({ caps }: State, { channels }: IrcSettings, from: string | null, now: Instant): Page | null {
  if (from === null || !caps.includes("draft/chathistory")) return null;
  const names = channels.map((channel) => channel.split(" ", 1)[0] ?? "");
  return replay(names, from, new Date(now).toISOString());
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
