// Follows one conversation over server-sent events and never gives up: each loss is followed by a new attempt
// with the cursor of what was received. The browser's own retry is not used, because it ends at the first refusal.
// Events are handed over in batches, so that a long catch-up costs a few renders and not thousands.

import { pauseBefore } from "../link.ts";
import type { FeedEvent } from "../state.ts";
import { readDraft, readHello, readMessage } from "./wire.ts";

export type Stream = {
  /** Tries at once when no connection stands. `afresh` replaces also one that seems to stand. */
  nudge(afresh?: boolean): void;
  close(): void;
};

export type StreamParts = {
  /** The address to open, with the cursor of this moment. */
  readonly url: () => string;
  readonly events: (batch: readonly FeedEvent[]) => void;
};

const batchMs = 16;

export function follow(parts: StreamParts): Stream {
  let source: EventSource | null = null;
  let failures = 0;
  let retry: ReturnType<typeof setTimeout> | undefined;
  let flush: ReturnType<typeof setTimeout> | undefined;
  let batch: FeedEvent[] = [];

  function deliver(): void {
    clearTimeout(flush);
    flush = undefined;
    const ready = batch;
    batch = [];
    if (ready.length > 0) parts.events(ready);
  }

  function push(event: FeedEvent | null): void {
    if (event === null) return;
    batch.push(event);
    flush ??= setTimeout(deliver, batchMs);
  }

  function drop(): void {
    source?.close();
    source = null;
    clearTimeout(retry);
    retry = undefined;
    // What arrived belongs to the cursor of the next attempt.
    deliver();
  }

  function open(): void {
    drop();
    const opened = new EventSource(parts.url());
    source = opened;
    for (const type of ["hello", "message", "live", "draft"] as const) {
      opened.addEventListener(type, (event: MessageEvent<string>) => {
        if (type === "live") failures = 0;
        push(readEvent(type, event.data));
      });
    }
    opened.addEventListener("error", () => {
      drop();
      parts.events([{ type: "lost" }]);
      retry = setTimeout(open, pauseBefore(failures++));
    });
  }

  open();
  return {
    nudge(afresh = false) {
      if (source !== null && !afresh) return;
      failures = 0;
      open();
    },
    close: drop,
  };
}

/** Null for what cannot be read: one odd event must not end the conversation. Exported for its table test. */
export function readEvent(type: "hello" | "message" | "live" | "draft", data: string): FeedEvent | null {
  const value = parse(data);
  switch (type) {
    case "hello":
      return { type, ...readHello(value) };
    case "live":
      return { type };
    case "draft": {
      const text = readDraft(value);
      return text === undefined ? null : { type, text };
    }
    case "message": {
      const message = readMessage(value);
      return message === null ? null : { type, message };
    }
  }
}

function parse(data: string): unknown {
  try {
    return JSON.parse(data);
  } catch (error) {
    console.warn("An event that is no JSON was passed over.", error);
    return null;
  }
}
