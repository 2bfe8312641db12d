// One socket after the other. Slack closes each of them after a while and says so: then the next one is opened at once.
// Whatever else ends a socket ends this call, and whoever called decides when to try again. After every gap the past is read.

import type { SocketModeClient } from "@slack/socket-mode";
import { Fault } from "../../../core/fault.ts";
import { later } from "../../../core/ids.ts";
import type { Inlet } from "../../../ports/platform.ts";
import { raced } from "../api.ts";
import { readPlace, writePlace } from "../cursor.ts";
import type { Desk } from "../desk.ts";
import { failureOf, faultOf } from "../faults.ts";
import type { Self } from "../inbound.ts";
import { type Offered, type Receiver, receiver } from "./receive.ts";

/** A socket that is not greeted within this is given up. */
const helloMs = 30_000;
/** How long a goodbye may take. */
const byeMs = 500;
/** Slack may count a dead socket of ours for a moment; what is still counted after this is somebody else's. */
const recountMs = 60_000;
/** While somebody else listens too. */
const sharedMs = 5 * 60_000;

export async function listenTo(desk: Desk, inlet: Inlet, from: string | null, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const self = await ourselves(desk, signal);
  if (self === null) return;
  const place = readPlace(from, desk.world.now());
  // However this call ends, nothing of it goes on beside the next.
  const over = new AbortController();
  const line = receiver(desk, self, inlet, place, AbortSignal.any([signal, over.signal]));
  try {
    if (from === null) await inlet.moved(writePlace(place));
    else line.gap();
    for (let isRecount = false; !signal.aborted; ) {
      const end = await oneSocket({ desk, inlet, line, signal, isRecount });
      if (end.type === "lost" && !signal.aborted) throw new Fault("not-possible", end.why);
      isRecount = end.type === "recount";
    }
  } finally {
    over.abort();
  }
}

async function ourselves({ api, account }: Desk, signal: AbortSignal): Promise<Self | null> {
  try {
    return { ...(await api.whoAmI(signal)), app: account };
  } catch (error) {
    if (signal.aborted) return null;
    throw faultOf(failureOf(error), "botToken", error);
  }
}

type End = { readonly type: "refresh" | "recount" } | { readonly type: "lost"; readonly why: string };

type Socket = {
  readonly desk: Desk;
  readonly inlet: Inlet;
  readonly line: Receiver;
  readonly signal: AbortSignal;
  /** The one before was closed to see whether somebody else listens. */
  readonly isRecount: boolean;
};

async function oneSocket({ desk, inlet, line, signal, isRecount }: Socket): Promise<End> {
  const { world } = desk;
  const client = await desk.api.socket();
  const over = new AbortController();
  const ended = Promise.withResolvers<End>();
  let hello: Hello = {};
  let goodbye: string | null = null;
  client.on("ws_message", (data: unknown) => {
    const frame = readFrame(data);
    if (frame?.type === "hello") hello = frame;
    if (frame?.type === "disconnect") goodbye = frame.reason ?? "refresh_requested";
  });
  client.on("slack_event", (envelope: Offered) => line.offer(envelope));
  client.on("disconnected", () => ended.resolve(endOf(goodbye)));
  const stop = (): void => ended.resolve({ type: "refresh" });
  signal.addEventListener("abort", stop, { once: true });
  try {
    await greeted(client, signal);
    const others = (hello.num_connections ?? 1) - 1;
    if (others > 0 && isRecount) inlet.trouble(shared(others));
    else inlet.up();
    if (others > 0)
      void world
        .sleep(later(world.now(), isRecount ? sharedMs : recountMs), over.signal)
        .then(() => ended.resolve({ type: "recount" }));
    // Reading the past may take long; a socket that ends meanwhile is not waited for.
    const reading = line.catchUp().then(
      () => ended.promise,
      (error: unknown): End => ({ type: "lost", why: faultOf(failureOf(error), "botToken").message }),
    );
    return await Promise.race([reading, ended.promise]);
  } catch (error) {
    if (signal.aborted) return { type: "refresh" };
    throw error;
  } finally {
    over.abort();
    line.gap();
    signal.removeEventListener("abort", stop);
    await farewell(client);
  }
}

async function greeted(client: SocketModeClient, signal: AbortSignal): Promise<void> {
  const started = client.start().catch((error: unknown) => {
    // The library rejects with nothing when the socket closes before the greeting.
    if (error === undefined) throw new Fault("not-possible", "Slack closed the socket before it greeted us.");
    throw faultOf(failureOf(error), "appToken", error);
  });
  const limit = AbortSignal.any([signal, AbortSignal.timeout(helloMs)]);
  try {
    await raced(started, limit);
  } catch (error) {
    if (limit.aborted && !signal.aborted)
      throw new Fault("not-possible", "Slack opened a socket and did not greet us.", error);
    throw error;
  }
}

/** The library waits half a minute for a peer that is gone, unless it is told twice. */
async function farewell(client: SocketModeClient): Promise<void> {
  const isOver = Promise.withResolvers<void>();
  client.on("disconnected", () => isOver.resolve());
  void client.disconnect();
  try {
    await raced(isOver.promise, AbortSignal.timeout(byeMs));
  } catch {
    void client.disconnect();
  }
}

type Hello = { readonly num_connections?: number };
type Frame = Hello & { readonly type?: string; readonly reason?: string };

function readFrame(data: unknown): Frame | null {
  if (typeof data !== "string" || !/^\{"type":\s*"(?:hello|disconnect)"|"type":\s*"(?:hello|disconnect)"/.test(data))
    return null;
  try {
    return JSON.parse(data) as Frame;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

export function endOf(goodbye: string | null): End {
  if (goodbye === null) return { type: "lost", why: "The socket to Slack was closed without a goodbye." };
  if (goodbye !== "link_disabled") return { type: "refresh" };
  return { type: "lost", why: "Socket Mode was switched off in the settings of the Slack app; switch it on again." };
}

function shared(others: number): string {
  const more = others === 1 ? "Another gateway listens" : `${others} other connections listen`;
  return `${more} with this app token. Slack gives each message to only one of them; give each gateway an app of its own.`;
}
