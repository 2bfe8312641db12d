// The conversation that is open: its feed, the stream that fills it, and the pages of earlier messages.
// Feeds of conversations visited before stay in memory with their cursor, so that going back costs one catch-up.

import { type ReadonlySignal, signal } from "@preact/signals";
import { type Link, newLink, step } from "./link.ts";
import type { Client } from "./net/client.ts";
import type { Stream } from "./net/stream.ts";
import type { Listed } from "./net/wire.ts";
import { cursorOf, emptyFeed, type Feed, type FeedEvent, fold, windowSize } from "./state.ts";

export type Conversation = {
  readonly chat: ReadonlySignal<string>;
  readonly feed: ReadonlySignal<Feed>;
  readonly link: ReadonlySignal<Link>;
  readonly loadingEarlier: ReadonlySignal<boolean>;
  open(chat: string): void;
  earlier(): Promise<void>;
  /** Forgets the oldest messages of a long feed; for a reader at its end. */
  trim(): void;
  /** Connects at once if no connection stands; `afresh` also if one seems to. */
  nudge(afresh?: boolean): void;
  /** A page that nobody looks at gives its connection back: a browser has only six for all tabs together. */
  rest(): void;
  /** Begins again when the gateway's list shows a history that is behind ours, such as after a restored backup. */
  compare(listed: readonly Listed[], cursor: number | null): void;
};

export type ConversationParts = {
  readonly client: Client;
  /** After each batch, with what was in it. */
  readonly heard: (batch: readonly FeedEvent[]) => void;
  readonly denied: () => void;
};

const feedsKept = 8;
/** How long the good news stays. */
const backMs = 8_000;

export function conversation(parts: ConversationParts): Conversation {
  const chat = signal("");
  const feed = signal<Feed>(emptyFeed);
  const link = signal<Link>(newLink);
  const loadingEarlier = signal(false);
  const visited = new Map<string, Feed>();
  let stream: Stream | null = null;
  let settle: ReturnType<typeof setTimeout> | undefined;

  function take(batch: readonly FeedEvent[]): void {
    feed.value = batch.reduce(fold, feed.value);
    for (const event of batch) {
      if (event.type === "hello" || event.type === "live" || event.type === "lost")
        link.value = step(link.value, event);
    }
    if (link.value.phase !== "back") {
      clearTimeout(settle);
      settle = undefined;
    } else settle ??= setTimeout(() => (link.value = step(link.value, { type: "settled" })), backMs);
    parts.heard(batch);
  }

  function listen(): void {
    stream?.close();
    stream = null;
    if (chat.value === "") return;
    const of = chat.value;
    stream = parts.client.follow(of, () => cursorOf(feed.value), {
      // A stream that is being replaced may hand over its last batch late.
      events: (batch) => chat.value === of && take(batch),
      denied: parts.denied,
    });
  }

  function leave(): void {
    stream?.close();
    stream = null;
    if (chat.value === "") return;
    visited.delete(chat.value);
    // A preview is worth nothing once nobody follows it.
    visited.set(chat.value, { ...feed.value, draft: null });
    const oldest = visited.keys().next().value;
    if (visited.size > feedsKept && oldest !== undefined) visited.delete(oldest);
  }

  return {
    chat,
    feed,
    link,
    loadingEarlier,
    open(next) {
      if (next === chat.value) return;
      leave();
      chat.value = next;
      feed.value = visited.get(next) ?? emptyFeed;
      listen();
    },
    async earlier() {
      const first = feed.value.messages[0];
      if (first === undefined || feed.value.complete || loadingEarlier.value) return;
      const of = chat.value;
      loadingEarlier.value = true;
      const answer = await parts.client.earlier(of, first.n, windowSize);
      loadingEarlier.value = false;
      if (answer.type === "denied") parts.denied();
      if (answer.type === "got" && of === chat.value)
        feed.value = fold(feed.value, { type: "earlier", messages: answer.value });
    },
    trim: () => (feed.value = fold(feed.value, { type: "trim" })),
    nudge(afresh) {
      if (stream === null) listen();
      else stream.nudge(afresh);
    },
    rest() {
      stream?.close();
      stream = null;
    },
    compare(listed, cursor) {
      const here = listed.find((one) => one.chat === chat.value);
      if (cursor === null || here === undefined || here.lastN >= cursor) return;
      feed.value = emptyFeed;
      listen();
    },
  };
}
