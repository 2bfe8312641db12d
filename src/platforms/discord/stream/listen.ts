// Listening: one connection after the other, each from the place where everything before is settled. A session is resumed
// as long as Discord knows it; new ones are counted by Discord, so they are begun slowly.

import { later } from "../../../core/ids.ts";
import { orAborted } from "../../../core/running/aborted.ts";
import type { Inlet, Surroundings } from "../../../ports/platform.ts";
import type { Api } from "../api.ts";
import { asFault, deniedBy, endsSession } from "../faults.ts";
import { type Connection, type End, connect } from "./connection.ts";
import { isGatewayUrl, readCursor } from "./cursor.ts";
import type { Places } from "./places.ts";
import { type Reader, reader } from "./reader.ts";

export type Listening = Surroundings & {
  readonly token: string;
  readonly account: string;
  readonly api: Api;
  readonly places: Places;
  /** Told of each connection that stands, and of none. */
  readonly onConnection: (connection: Connection | null) => void;
};

/** What outlives a connection: when sessions were begun, and whether the address to resume at answers. */
type Memory = { begun: readonly number[]; isResumeUrlDead: boolean };

/** Discord counts new sessions of a day, and takes the token away from who begins too many; the last ones are never used. */
const sessionsReserve = 20;
const betweenSessionsMs = 5_500;
const slowestMs = 10 * 60_000;
/** A connection that lasted this long was a good one: the next is made at once. */
const goodMs = 30_000;

export function listener(around: Listening): (inlet: Inlet, from: string | null, signal: AbortSignal) => Promise<void> {
  const memory: Memory = { begun: [], isResumeUrlDead: false };
  return async (inlet, from, signal) => {
    if (signal.aborted) return;
    const reading = reader({ ...around, inlet, signal }, readCursor(from));
    try {
      for (;;) {
        const since = around.world.now();
        const wasResumed = reading.cursor.session !== null;
        const end = await oneConnection(around, memory, reading, signal);
        const denied = end.code === null ? null : deniedBy(end.code);
        if (denied !== null) throw denied;
        const isLost = end.isLost || (end.code !== null && endsSession(end.code));
        if (isLost) reading.forget();
        memory.isResumeUrlDead = wasResumed && !end.hadHello;
        if (isLost && wasResumed) await afterLoss(around, signal);
        else if (around.world.now() - since < goodMs) throw new Error(end.why);
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      around.onConnection(null);
    }
  };
}

/** Discord wants one to five seconds between a session it has forgotten and the next. */
async function afterLoss({ world }: Listening, signal: AbortSignal): Promise<void> {
  await world.sleep(later(world.now(), 1_000 + world.chance() * 4_000), signal);
  signal.throwIfAborted();
}

async function oneConnection(around: Listening, memory: Memory, reading: Reader, signal: AbortSignal): Promise<End> {
  const { session } = reading.cursor;
  const url =
    session === null || memory.isResumeUrlDead
      ? await gatewayUrl(around, memory, session === null, signal)
      : session.resumeUrl;
  signal.throwIfAborted();
  const connection = await connect({
    token: around.token,
    url,
    resume: session,
    settled: () => reading.cursor.seq,
  });
  try {
    for (;;) {
      const event = await orAborted(connection.next(), signal);
      if ("why" in event) return event;
      around.onConnection(connection);
      await orAborted(reading.take(event), signal);
    }
  } catch (error) {
    connection.cut(signal.aborted ? "the gateway stops" : "it could not be handed over");
    throw error;
  }
}

/** Where to connect; where a session is to be begun, also when. */
async function gatewayUrl(
  { api, world }: Listening,
  memory: Memory,
  isNew: boolean,
  signal: AbortSignal,
): Promise<string> {
  if (isNew) {
    const pause = pauseBefore(memory.begun, world.now());
    if (pause > 0) await world.sleep(later(world.now(), pause), signal);
    signal.throwIfAborted();
  }
  const { url, session_start_limit: limit } = await api.gateway(signal).catch((error: unknown) => {
    throw asFault(error);
  });
  if (!isGatewayUrl(url)) throw new Error(`Discord names no address of its gateway but ${url}`);
  if (!isNew) return url;
  if (limit.remaining <= sessionsReserve) {
    const hours = Math.ceil(limit.reset_after / 3_600_000);
    throw new Error(`this bot has connected too often today; Discord takes new sessions again in ${hours} h`);
  }
  memory.begun = [...memory.begun.slice(-19), world.now()];
  return url;
}

/** Twice as long after each session of the last hour; never two within Discord's five seconds. */
export function pauseBefore(begun: readonly number[], now: number): number {
  const recent = begun.filter((at) => now - at < 3_600_000);
  const last = recent.at(-1);
  if (last === undefined) return 0;
  const between = Math.min(slowestMs, betweenSessionsMs * 2 ** (recent.length - 1));
  return Math.max(0, last + between - now);
}
