// One conversation as the page holds it: a pure fold of what the gateway sent. No DOM, no clock, no network.
// Whatever is repeated, late or out of order leaves the same view: messages sorted by `n`, each once.

import type { Message } from "./net/wire.ts";

/** How many messages the gateway sends to a reader without a cursor, and how many a page of earlier ones has. */
export const windowSize = 50;
/** A conversation that is followed at its end keeps at most this many messages in the page. */
const keptMax = 500;
const keptAfterTrim = 300;

export type Feed = {
  readonly messages: readonly Message[];
  /** The answer so far. `stale` while the connection it came over is gone. */
  readonly draft: { readonly text: string; readonly stale: boolean } | null;
  readonly boot: string | null;
  /** The agent answers by rule. */
  readonly offline: boolean;
  /** Caught up at least once. */
  readonly live: boolean;
  /** Nothing earlier is stored. */
  readonly complete: boolean;
  /** Behind which messages the gateway was found to be a new process. */
  readonly restarts: readonly number[];
};

export type FeedEvent =
  | { readonly type: "hello"; readonly boot: string | null; readonly offline?: boolean }
  | { readonly type: "message"; readonly message: Message }
  | { readonly type: "live" }
  | { readonly type: "draft"; readonly text: string | null }
  | { readonly type: "earlier"; readonly messages: readonly Message[] }
  | { readonly type: "lost" }
  | { readonly type: "trim" };

export const emptyFeed: Feed = {
  messages: [],
  draft: null,
  boot: null,
  offline: false,
  live: false,
  complete: false,
  restarts: [],
};

export function fold(feed: Feed, event: FeedEvent): Feed {
  switch (event.type) {
    case "hello":
      return { ...greet(feed, event.boot), offline: event.offline === true };
    case "message":
      return add(feed, event.message);
    case "live":
      return { ...feed, live: true, complete: feed.complete || feed.messages.length < windowSize };
    case "draft":
      return { ...feed, draft: grown(feed.draft, event.text) };
    case "earlier":
      return prepend(feed, event.messages);
    case "lost":
      return feed.draft === null ? feed : { ...feed, draft: { ...feed.draft, stale: true } };
    case "trim":
      if (feed.messages.length <= keptMax) return feed;
      return { ...feed, messages: feed.messages.slice(-keptAfterTrim), complete: false };
  }
}

/** Where a reader goes on; null asks for the newest window. */
export function cursorOf(feed: Feed): number | null {
  return feed.messages.at(-1)?.n ?? null;
}

/** The question that still wants an answer: the newest one, unless the user has said something since. */
export function openQuestion(messages: readonly Message[]): string | null {
  for (const message of messages.toReversed()) {
    if (message.question !== undefined) return message.question.id;
    if (message.role === "user" && !message.text.startsWith("/")) return null;
  }
  return null;
}

/** Something the user said is being worked on. */
export function isWorking(feed: Feed): boolean {
  return feed.draft !== null || feed.messages.at(-1)?.role === "user";
}

/** A turn that is taken up again says so before it has words: until they come, the ones from before stay. */
function grown(draft: Feed["draft"], text: string | null): Feed["draft"] {
  if (text === null) return null;
  return text === "" && draft?.stale === true ? draft : { text, stale: false };
}

/** A stale draft stays: the turn goes on and will replace it. A new process leaves a mark behind the last message. */
function greet(feed: Feed, boot: string | null): Feed {
  const restarted = feed.boot !== null && boot !== null && boot !== feed.boot;
  const last = cursorOf(feed) ?? 0;
  const restarts = restarted && !feed.restarts.includes(last) ? [...feed.restarts, last] : feed.restarts;
  return { ...feed, boot: boot ?? feed.boot, restarts };
}

function add(feed: Feed, message: Message): Feed {
  const draft = message.role === "user" ? feed.draft : null;
  const last = feed.messages.at(-1);
  if (last === undefined || message.n > last.n) return { ...feed, draft, messages: [...feed.messages, message] };
  const at = feed.messages.findIndex((one) => one.n >= message.n);
  if (feed.messages[at]?.n === message.n) return feed;
  return { ...feed, draft, messages: feed.messages.toSpliced(at, 0, message) };
}

function prepend(feed: Feed, messages: readonly Message[]): Feed {
  const first = feed.messages[0]?.n ?? Number.POSITIVE_INFINITY;
  const older = messages.filter((one) => one.n < first);
  return { ...feed, messages: [...older, ...feed.messages], complete: messages.length < windowSize };
}
