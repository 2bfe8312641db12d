// What the gateway says about itself when it stops and starts, to whom, and what the platform gets back with it. Pure.
// Notices before a stop are courtesy: nothing depends on them. Answers after a start go through the outbox.

import type { Instant } from "./ids.ts";
import type { StopIntent } from "./lifecycle.ts";
import type { Address, Hints, Inbound } from "./message.ts";
import type { StopClass } from "./recovery.ts";
import { type Turn, advanceTurn } from "./turn.ts";

/** What an interrupted agent is told, and how every notice begins. */
export function endingWords(of: StopClass): "Gateway restarting" | "Gateway shutting down" {
  return of === "restart" || of === "take-over" ? "Gateway restarting" : "Gateway shutting down";
}

/** Where a turn runs whose agent has started, and the message it answers. */
export type Busy = { readonly at: Address; readonly input: Inbound };

export type Notice = { readonly to: Address; readonly text: string; readonly hints: Hints };

export type Audience = {
  readonly stop: Pick<StopIntent, "class" | "by">;
  readonly busy: readonly Busy[];
  /** Messages that asked for this restart in a chat. */
  readonly asked: readonly Inbound[];
  readonly homes: readonly Address[];
  /** Whether people on this platform want to hear of it. */
  readonly wanted: (platform: string) => boolean;
};

/**
 * Whoever waits for an answer is told, then the homes, each place once. Homes hear nothing of a restart that somebody
 * asked for inside a chat, and of one that interrupts nobody, nobody hears. A gateway whose work another one has taken says
 * nothing: the other one speaks.
 */
export function noticesBefore({ stop, busy, asked, homes, wanted }: Audience): readonly Notice[] {
  if (stop.class === "take-over" && stop.by === "fault") return [];
  const places = new Set<string>();
  const first = ({ platform, chat, thread }: Address): boolean => {
    const place = JSON.stringify([platform, chat, thread ?? null]);
    if (!wanted(platform) || places.has(place)) return false;
    places.add(place);
    return true;
  };
  const words = endingWords(stop.class);
  const toBusy = busy
    .filter(({ at }) => first(at))
    .map(({ at, input }): Notice => {
      // Where the restart was asked for, the notice answers that message; elsewhere the one that is being worked on.
      const restart = asked.find(({ from }) => samePlace(from, at));
      const hints = hintsFor(at, (restart ?? input).hints, restart?.anchor ?? input.anchor);
      return { to: at, text: `${words}. ${busyText[words]}`, hints };
    });
  if (isAskedInside(stop)) return toBusy;
  const toHomes = homes
    .filter(first)
    .map((to): Notice => ({ to, text: `${words}. ${homeText[words]}`, hints: hintsFor(to) }));
  return [...toBusy, ...toHomes];
}

/** Whoever asked, in a chat or by an agent's tool, is answered there; nobody else needs to hear of it. */
export function isAskedInside({ class: kind, by }: Pick<StopIntent, "class" | "by">): boolean {
  return kind === "restart" && (by === "chat" || by === "tool");
}

const busyText = {
  "Gateway restarting": "I'll try to resume this in a moment.",
  "Gateway shutting down": "I'll pick this up when I'm back.",
} as const;

const homeText = {
  "Gateway restarting": "Back in a moment. I'll try to resume whatever is unfinished.",
  "Gateway shutting down": "Unfinished work continues at the next start.",
} as const;

function samePlace(a: Address, b: Address): boolean {
  return a.platform === b.platform && a.account === b.account && a.chat === b.chat && a.thread === b.thread;
}

/** What goes back to the platform with an answer: its own hints, and where to anchor it. */
export function hintsFor(to: Address, own: Hints = {}, anchor?: string): Hints {
  return { ...topicHints(to, anchor), ...own };
}

/**
 * A topic inside a direct chat of Telegram is reached by its number or, by older clients, only by replying to a message
 * in it. Groups and channels have negative ids; the general topic, 1, has no number of its own.
 */
function topicHints({ platform, chat, thread }: Address, anchor: string | undefined): Hints {
  if (platform !== "telegram" || thread === undefined) return {};
  if (chat.startsWith("-")) return { thread_id: thread };
  return {
    thread_id: thread,
    telegram_dm_topic_reply_fallback: true,
    ...(thread === "1" ? {} : { direct_messages_topic_id: thread }),
    ...(anchor === undefined ? {} : { telegram_reply_to_message_id: anchor }),
  };
}

export type Home = { readonly account: string; readonly chat: string; readonly thread?: string };
export type WithHome = { readonly home: Home | null; readonly restartNotices: boolean };

/** The homes that want to hear of stops and starts; one that was chosen in a chat wins over the configured one. */
export function homesOf(
  platforms: Readonly<Record<string, WithHome>>,
  chosen: Readonly<Record<string, Home>> = {},
): readonly Address[] {
  return Object.entries(platforms).flatMap(([platform, { home: configured, restartNotices }]) => {
    const home = chosen[platform] ?? configured;
    return home === null || !restartNotices ? [] : [{ platform, ...home }];
  });
}

/** For the homes, after a restart that nobody asked for in a chat. `restart` names it, so that it is said once. */
export function onlineNotice(restart: string): { readonly text: string; readonly key: string } {
  return { text: "Restarted and back online.", key: `online:${restart}` };
}

/** A restart asked for in a chat: its turn ends, and this is its answer. */
export type RestartAnswer = { readonly turn: Turn; readonly text: string };

/** Whatever start comes next has obeyed it. */
export function restarted(turn: Turn, at: Instant): RestartAnswer {
  const ended = advanceTurn(turn, { type: "ended", outcome: "replied", at });
  return { turn: ended, text: "Restarted. I'm back." };
}

export function notRestarted(turn: Turn, why: string, at: Instant): RestartAnswer {
  const ended = advanceTurn(turn, { type: "ended", outcome: "failed", why, at });
  return { turn: ended, text: `Not restarted; everything continues as before. ${why}` };
}
