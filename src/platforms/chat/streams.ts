// The event streams of one chat platform. A stream holds a cursor and reads the transcript after it, so nothing is
// pushed and nothing can be missed or doubled: waking a stream only says "look again". A chunk is made when the client
// takes it (the reader's pull), so a slow client costs one chunk and a cursor, whatever happens meanwhile; drafts in
// between are skipped. Nothing here is durable.

import { Fault } from "../../core/fault.ts";
import type { Message } from "../../core/message.ts";
import type { Archive } from "../../ports/store.ts";
import { type Hello, chatLimits } from "./api.ts";
import { addressOf } from "./place.ts";
import { draftFrame, helloFrame, liveFrame, messageFrame, pingFrame, remarkFrame } from "./outbound.ts";

export type Transcript = Pick<Archive, "messagesAfter" | "messagesBefore" | "sessions">;

export type Streams = {
  /** A new stream of a conversation, from a cursor or with the newest messages; null when there are too many. */
  open(chat: string, after: number | undefined): ReadableStream<Uint8Array> | null;
  /** Something new is in the transcript. */
  wake(chat: string): void;
  draft(chat: string, text: string | null): void;
  closeAll(): void;
  readonly size: number;
};

/** What is being said in one conversation, while somebody listens or an answer grows. */
type Room = { readonly streams: Set<Stream>; draft: string | null };

type Stream = {
  /** Look again: at the transcript, at the draft, or at the clock. */
  nudge(why: "news" | "draft" | "ping"): void;
  close(): void;
};

/** Messages read at once; small, because each may be large. */
const batchMax = 20;

export function streams(platform: string, transcript: Transcript, hello: Hello, pingMs: number): Streams {
  const rooms = new Map<string, Room>();
  let size = 0;
  let timer: NodeJS.Timeout | null = null;

  function roomOf(chat: string): Room {
    const known = rooms.get(chat);
    if (known !== undefined) return known;
    const room: Room = { streams: new Set(), draft: null };
    rooms.set(chat, room);
    return room;
  }

  function tidy(chat: string, room: Room): void {
    if (room.streams.size === 0 && room.draft === null) rooms.delete(chat);
    if (size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  }

  function pingAll(): void {
    for (const room of rooms.values()) for (const stream of room.streams) stream.nudge("ping");
  }

  return {
    open(chat, after) {
      if (size >= chatLimits.streamsMax) return null;
      const room = roomOf(chat);
      const { body, stream } = openStream({ platform, chat, transcript, hello, after, draft: () => room.draft }, () => {
        if (!room.streams.delete(stream)) return;
        size--;
        tidy(chat, room);
      });
      room.streams.add(stream);
      size++;
      timer ??= setInterval(pingAll, pingMs).unref();
      return body;
    },
    wake(chat) {
      for (const stream of rooms.get(chat)?.streams ?? []) stream.nudge("news");
    },
    draft(chat, text) {
      if (text === null && !rooms.has(chat)) return;
      const room = roomOf(chat);
      // The first sign of an answer is also a sign that its question is in the transcript.
      const why = room.draft === null ? "news" : "draft";
      room.draft = text;
      for (const stream of room.streams) stream.nudge(why);
      tidy(chat, room);
    },
    closeAll() {
      for (const room of rooms.values()) {
        room.draft = null;
        for (const stream of room.streams) stream.close();
      }
      rooms.clear();
    },
    get size() {
      return size;
    },
  };
}

type Source = {
  readonly platform: string;
  readonly chat: string;
  readonly transcript: Transcript;
  readonly hello: Hello;
  readonly after: number | undefined;
  readonly draft: () => string | null;
};

function openStream(source: Source, closed: () => void): { body: ReadableStream<Uint8Array>; stream: Stream } {
  const encoder = new TextEncoder();
  const reader = transcriptReader(source);
  let started = false;
  let live = false;
  let ended = false;
  let ping = false;
  let shown: string | null = null;
  let controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  let wakeUp: (() => void) | null = null;

  function nudged(): Promise<void> {
    return new Promise((resolve) => {
      wakeUp = resolve;
    });
  }

  function nudge(why: "news" | "draft" | "ping"): void {
    if (why === "news") reader.stale();
    if (why === "ping") ping = true;
    wakeUp?.();
    wakeUp = null;
  }

  function end(): void {
    if (ended) return;
    ended = true;
    nudge("draft");
    closed();
  }

  /** What the client has not seen yet, or null when that is nothing. Messages go before the draft they replace. */
  async function next(): Promise<string | null> {
    if (!started) {
      started = true;
      return helloFrame(source.hello);
    }
    const message = await reader.next();
    if (message !== null) return messageFrame(source.chat, message);
    if (!live) {
      live = true;
      return liveFrame;
    }
    const draft = source.draft();
    if (draft !== shown) {
      shown = draft;
      return draftFrame({ text: draft });
    }
    if (!ping) return null;
    ping = false;
    return pingFrame;
  }

  async function pull(to: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    while (!ended) {
      const news = nudged();
      try {
        const frame = await next();
        if (ended) return;
        if (frame !== null) return to.enqueue(encoder.encode(frame));
      } catch (error) {
        if (!(error instanceof Fault) || ended) throw error;
        // The client comes back with its cursor and finds everything when the store answers again.
        to.enqueue(encoder.encode(remarkFrame(error.message)));
        return stream.close();
      }
      await news;
    }
  }

  const stream: Stream = {
    nudge,
    close() {
      if (ended) return;
      end();
      controller?.close();
    },
  };
  const body = new ReadableStream<Uint8Array>(
    { start: (to) => void (controller = to), pull, cancel: end },
    { highWaterMark: 0 },
  );
  return { body, stream };
}

/** Messages one after another from the cursor on; null when the transcript has no more for now. */
function transcriptReader(source: Source): { next(): Promise<Message | null>; stale(): void } {
  const { transcript } = source;
  const address = addressOf(source.platform, source.chat);
  let cursor = source.after;
  let stale = true;
  let batch: readonly Message[] = [];

  async function read(): Promise<readonly Message[]> {
    if (cursor === undefined) return transcript.messagesBefore(address, null, chatLimits.newestMax);
    const found = await transcript.messagesAfter(address, cursor, batchMax);
    if (found.length > 0 || cursor !== source.after || cursor === 0) return found;
    // A cursor beyond the end comes from another store, say before a backup was put back: begin again.
    const [newest] = await transcript.messagesBefore(address, null, 1);
    if (newest !== undefined && newest.n >= cursor) return found;
    return transcript.messagesBefore(address, null, chatLimits.newestMax);
  }

  return {
    async next() {
      if (batch.length === 0 && stale) {
        stale = false;
        batch = await read();
        if (batch.length > 0) stale = true;
        else cursor ??= 0;
      }
      const [first, ...rest] = batch;
      if (first === undefined) return null;
      batch = rest;
      cursor = first.n;
      return first;
    },
    stale() {
      stale = true;
    },
  };
}
