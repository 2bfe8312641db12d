// Follows one conversation over server-sent events and never gives up: each loss is followed by a new attempt
// with the cursor of what was received. Read by `fetch`, because an EventSource sends no headers.
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
  /** Asks for the stream, with the cursor of this moment. */
  readonly open: (signal: AbortSignal) => Promise<Response>;
  readonly events: (batch: readonly FeedEvent[]) => void;
  readonly denied: () => void;
};

const batchMs = 16;

export function follow(parts: StreamParts): Stream {
  let source: AbortController | null = null;
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
    source?.abort();
    source = null;
    clearTimeout(retry);
    retry = undefined;
    // What arrived belongs to the cursor of the next attempt.
    deliver();
  }

  function open(): void {
    drop();
    const opened = new AbortController();
    source = opened;
    void receive(opened.signal).then((end) => {
      if (source !== opened) return;
      drop();
      parts.events([{ type: "lost" }]);
      if (end === "denied") parts.denied();
      else retry = setTimeout(open, pauseBefore(failures++));
    });
  }

  /** Resolves when the stream has ended, whatever ended it. */
  async function receive(signal: AbortSignal): Promise<"lost" | "denied"> {
    try {
      const response = await parts.open(signal);
      if (response.status === 401) return "denied";
      if (!response.ok || response.body === null) return "lost";
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const split = splitter();
      for (;;) {
        const { done, value } = await reader.read();
        if (done || signal.aborted) return "lost";
        for (const { type, data } of split(value)) {
          if (type === "live") failures = 0;
          if (isKnown(type)) push(readEvent(type, data));
        }
      }
    } catch (error) {
      if (!signal.aborted) console.debug("The stream broke off; it is opened again.", error);
      return "lost";
    }
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

const types = ["hello", "message", "live", "draft"] as const;
type Known = (typeof types)[number];

function isKnown(type: string): type is Known {
  return types.some((one) => one === type);
}

/** Cuts the text of a stream into events; what has no end yet waits for the next piece. Exported for its table test. */
export function splitter(): (text: string) => readonly { readonly type: string; readonly data: string }[] {
  let rest = "";
  return (text) => {
    rest += text;
    const blocks = rest.split("\n\n");
    rest = blocks.pop() ?? "";
    return blocks.flatMap((block) => {
      const lines = block.split("\n");
      const of = (field: string) =>
        lines
          .filter((line) => line.startsWith(`${field}:`))
          .map((line) => line.slice(field.length + 1).replace(/^ /, ""));
      const data = of("data");
      return data.length === 0 ? [] : [{ type: of("event")[0] ?? "message", data: data.join("\n") }];
    });
  };
}

/** Null for what cannot be read: one odd event must not end the conversation. Exported for its table test. */
export function readEvent(type: Known, data: string): FeedEvent | null {
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
