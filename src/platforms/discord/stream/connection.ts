// One connection to Discord's gateway, from its beginning to its end, by the library. What the library would do afterwards
// by itself is taken from it: whoever listens decides from the stored place whether and when to connect again. Events come
// in order, which the library does not promise; the end is the last of them.

import type { WebSocketShard } from "@discordjs/ws";
import type { GatewayDispatchPayload } from "discord-api-types/v10";
import type { Session } from "./cursor.ts";

/** `isLost`: Discord has forgotten the session. `code`: how the socket was closed, where it was. */
export type End = {
  readonly why: string;
  readonly code: number | null;
  readonly isLost: boolean;
  readonly hadHello: boolean;
};

export type Opening = {
  readonly token: string;
  readonly url: string;
  /** What to resume; null begins a new session. */
  readonly resume: Session | null;
  /** The number of the last event that is safe with us. It is resumed behind that one, and heartbeats say no later one. */
  readonly settled: () => number;
};

export interface Connection {
  /** The next event; the end comes after the last one, and stays. */
  next(): Promise<GatewayDispatchPayload | End>;
  /** At once, and so that the session can be resumed. */
  cut(why: string): void;
  /** Between a heartbeat and its answer; null before the first. */
  latencyMs(): number | null;
}

/** Servers, their messages, direct messages, and what is written in them. */
const intents = (1 << 0) | (1 << 9) | (1 << 12) | (1 << 15);
/** More than this waits only when storing stands still; Discord keeps it for us. */
const waitingMax = 20_000;
const handshakeMs = 20_000;
const readyMs = 30_000;

type Socket = { on(event: "error", listener: () => void): void; terminate(): void };

export async function connect(opening: Opening): Promise<Connection> {
  const { WebSocketShard: Shard, WebSocketShardEvents: Events, Encoding } = await import("@discordjs/ws");
  const waiting: GatewayDispatchPayload[] = [];
  let ended: End | null = null;
  let hadHello = false;
  let latency: number | null = null;
  let wake: (() => void) | null = null;
  let session: { sessionId: string; resumeURL: string; shardId: number; shardCount: number } | null =
    opening.resume === null
      ? null
      : { sessionId: opening.resume.id, resumeURL: opening.url, shardId: 0, shardCount: 1 };

  function end(why: string, code: number | null, isLost: boolean): void {
    ended ??= { why, code, isLost, hadHello };
    wake?.();
  }

  /** Every end goes through `destroy`, which is asked for to connect again as well; here it only ends. */
  class Once extends Shard {
    override async destroy({ code, reason }: Parameters<WebSocketShard["destroy"]>[0] = {}): Promise<void> {
      end(reason ?? `Discord closed the connection (${code ?? "no code"})`, null, reason === "Invalid session");
      const { connection } = this as unknown as { readonly connection: Socket | null };
      const closing = super.destroy({ code: 4200, reason: "over" });
      // Without a farewell: a deaf peer would not answer it, and the session stays for whoever resumes it.
      connection?.on("error", () => wake?.());
      connection?.terminate();
      return closing;
    }
  }

  const shard = new Once(
    {
      options: {
        token: opening.token,
        intents,
        version: "10",
        encoding: Encoding.JSON,
        compression: null,
        useIdentifyCompression: false,
        identifyProperties: { os: process.platform, browser: "everturn", device: "everturn" },
        initialPresence: null,
        largeThreshold: null,
        handshakeTimeout: handshakeMs,
        helloTimeout: handshakeMs,
        readyTimeout: readyMs,
        shardCount: 1,
        gatewayInformation: {
          url: opening.url,
          shards: 1,
          session_start_limit: { total: 1, remaining: 1, reset_after: 0, max_concurrency: 1 },
        },
      },
      // One that was cut before it had a socket asks in vain, and never gets one.
      retrieveSessionInfo: () =>
        ended !== null
          ? new Promise(() => undefined)
          : session === null
            ? null
            : { ...session, sequence: opening.settled() },
      updateSessionInfo: (_, info) => void (session = info ?? session),
      waitForIdentify: async () => undefined,
    },
    0,
  );

  endTimersWith(shard, () => ended !== null);

  shard.on(Events.Dispatch, (event) => {
    if (ended !== null) return;
    const behind = waiting.findLastIndex(({ s }) => s <= event.s);
    waiting.splice(behind + 1, 0, event);
    if (waiting.length > waitingMax) return void shard.destroy({ reason: "more came in than could be stored" });
    wake?.();
  });
  shard.on(Events.Hello, () => void (hadHello = true));
  shard.on(Events.HeartbeatComplete, (stats) => void (latency = stats.latency));
  shard.on(Events.Closed, (code) => end(`Discord closed the connection (${code})`, code, false));
  shard.on(Events.SocketError, (error) => end(`no connection to Discord's gateway: ${error.message}`, null, false));
  shard.on(Events.Error, (error) => end(error.message, null, false));
  shard.connect().catch((error: unknown) => end(String(error), null, false));

  return {
    async next() {
      for (;;) {
        // The library lets an event that follows a READY overtake it, within the same turn of the event loop.
        await new Promise((resolve) => setImmediate(resolve));
        const event = waiting.shift();
        if (event !== undefined) return event;
        if (ended !== null) return ended;
        await new Promise<void>((resolve) => (wake = resolve));
      }
    },
    cut(why) {
      end(why, null, false);
      void shard.destroy({ reason: why });
    },
    latencyMs: () => latency,
  };
}

/** Fields in which the library keeps what beats, and how each is stopped. */
const timers: Readonly<Record<string, (timer: unknown) => void>> = {
  heartbeatInterval: (timer) => clearInterval(timer as NodeJS.Timeout),
  initialHeartbeatTimeoutController: (timer) => (timer as AbortController).abort(),
};

/** A heartbeat that is under way at the end makes the library set a timer afterwards, which would beat for ever. */
function endTimersWith(shard: object, isOver: () => boolean): void {
  for (const [name, stop] of Object.entries(timers)) {
    let held: unknown = null;
    Object.defineProperty(shard, name, {
      get: () => held,
      set(timer: unknown) {
        held = timer;
        if (timer !== null && isOver()) stop(timer);
      },
    });
  }
}
