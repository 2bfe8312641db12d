// Our own loop of getUpdates. Telegram keeps an update until a later call names a higher offset, and ours moves only after
// the update is stored; so nothing is forgotten that we do not have. Whoever else takes the updates is named and waited for.

import type { Update } from "grammy/types";
import { sentenceOf } from "../../core/fault.ts";
import { later } from "../../core/ids.ts";
import { orAborted } from "../../core/running/aborted.ts";
import type { Inlet } from "../../ports/platform.ts";
import type { World } from "../../ports/world.ts";
import { chatOf, cursorAfter, gather, offsetAfter, placeAt } from "./albums.ts";
import { type Bot, pollSeconds, theirs, wantedUpdates } from "./api.ts";
import { type PollFault, judgePoll } from "./faults.ts";
import { isOurs } from "./webhook.ts";

/** Puts something into the store together with our place in the stream; null where nothing keeps a place. */
export type Storing = <T>(put: (cursor: string | null) => Promise<T>) => Promise<T>;

export type Polling = {
  readonly bot: Bot;
  readonly world: World;
  readonly inlet: Inlet;
  /** Stores what belongs together, or only our place when there was nothing in it for us; resolves when that is done. */
  readonly take: (updates: readonly Update[], storing: Storing, signal: AbortSignal) => Promise<void>;
};

/** How long an album may take to go on, and how long we wait for files before we look for other people's messages. */
const albumMs = 500;
/** Between two looks for whether the other program is gone; it loses its own poll at each. */
const conflictMs = 15_000;
/** As long as it may still be there, we are not said to be well. */
const conflictMemoryMs = 60_000;
const brokenMax = 3;
const pauseMinMs = 1_000;
const pauseMaxMs = 30_000;
/** A server that does not wait with an empty answer is asked with growing pauses between these. */
const [emptyMinMs, emptyMaxMs, promptMs] = [10, 500, 250];

export async function poll(polling: Polling, from: string | null, signal: AbortSignal): Promise<void> {
  const place = placeAt(from);
  const over = new AbortController();
  const lanes = takeBeside(polling, place.done, AbortSignal.any([signal, over.signal]));
  try {
    await follow(polling, lanes, place.offset, signal);
  } finally {
    // What is on its way is fetched again by the next connection, which must know whether it was stored by this one.
    over.abort(new Error("the connection ended"));
    if (!signal.aborted) await orAborted(lanes.stored(), signal);
  }
}

async function follow(polling: Polling, lanes: Lanes, from: number | undefined, signal: AbortSignal): Promise<void> {
  const { world, inlet } = polling;
  const pause = (ms: number): Promise<void> =>
    world.sleep(later(world.now(), Math.round(ms * (1 - world.chance() / 4))), signal);
  let offset = from;
  let open: ReadonlyMap<string, number> = new Map();
  let [broken, unstored, conflictAt, stood] = [0, 0, Number.NEGATIVE_INFINITY, false];
  let emptyPauseMs = emptyMinMs;

  /** Whether to go on; throws what ends the connection. */
  async function afterFailure(fault: PollFault): Promise<void> {
    if (fault.type === "denied") throw fault.fault;
    if (fault.type === "conflict") {
      conflictAt = world.now();
      const why = fault.with === "poller" ? anotherPoller : await aboutWebhook(polling, signal);
      if (why === null) return;
      inlet.trouble(why);
      return pause(conflictMs);
    }
    if (fault.type === "wait") return pause(fault.afterMs);
    broken += 1;
    if (!stood || broken >= brokenMax) throw new Error(fault.why);
    return pause(pauseMinMs * 2 ** (broken - 1));
  }

  while (!signal.aborted) {
    const isHeld = open.size > 0 || lanes.isBusy();
    if (isHeld) await world.sleep(later(world.now(), albumMs), signal);
    // The first look is short, so that it is soon known whether the connection stands.
    const seconds = stood && !isHeld ? pollSeconds : 0;
    const askedAt = world.now();
    const batch = await look(polling.bot, offset, seconds, signal);
    if (signal.aborted) return;
    if ("type" in batch) {
      await afterFailure(batch);
      continue;
    }
    const isHasty = seconds > 0 && batch.length === 0 && world.now() - askedAt < promptMs;
    if (isHasty) await world.sleep(later(world.now(), emptyPauseMs), signal);
    emptyPauseMs = isHasty ? Math.min(emptyPauseMs * 2, emptyMaxMs) : emptyMinMs;
    broken = 0;
    stood = true;
    if (world.now() - conflictAt > conflictMemoryMs) inlet.up();
    const found = gather(lanes.unknownOf(batch), open);
    open = found.open;
    const result = await lanes.take(batch, found.ready);
    if (batch.length > 0) offset = result.offset;
    unstored = result.failed ? unstored + 1 : 0;
    if (result.failed) await pause(Math.min(pauseMaxMs, pauseMinMs * 2 ** (unstored - 1)));
  }
}

type Lanes = ReturnType<typeof takeBeside>;

/** Each chat in its order, the chats beside each other, so that somebody's large file holds up nobody else. */
function takeBeside({ take, world }: Polling, before: ReadonlySet<number>, signal: AbortSignal) {
  /** Stored, but not confirmed, because something before them is not. */
  let done = before;
  let known: readonly Update[] = [];
  let failed = false;
  const queues = new Map<number, (readonly Update[])[]>();
  const idsOf = (updates: readonly Update[]): readonly number[] => updates.map(({ update_id }) => update_id);
  let last: Promise<unknown> = Promise.resolve();

  /** One after the other: of two that are stored at once, neither place would tell of the other one. */
  function storingOf(updates: readonly Update[]): Storing {
    return (put) => {
      const stored = last.then(async () => {
        signal.throwIfAborted();
        const now = () => new Set([...done, ...idsOf(updates)]);
        const result = await put(cursorAfter(known, now()));
        done = now();
        return result;
      });
      last = Promise.allSettled([stored]);
      return stored;
    };
  }

  async function serve(chat: number, queue: (readonly Update[])[]): Promise<void> {
    for (let next = queue[0]; next !== undefined && !signal.aborted; next = queue[0]) {
      const updates = next;
      try {
        await take(updates, storingOf(updates), signal);
      } catch (error) {
        // What waits behind it in the same chat must not be stored before it.
        failed = true;
        const why = sentenceOf(error);
        if (!signal.aborted)
          world.log("warn", "a message of Telegram could not be stored; it is fetched again", { why });
        break;
      }
      queue.shift();
    }
    queues.delete(chat);
  }

  return {
    isBusy: () => queues.size > 0,
    /** Resolves when nothing is being stored any more. */
    stored: () => last,
    /** Those that are neither stored nor on their way. */
    unknownOf(batch: readonly Update[]): readonly Update[] {
      const busy = new Set([...queues.values()].flat(2).map(({ update_id }) => update_id));
      return batch.filter(({ update_id }) => !done.has(update_id) && !busy.has(update_id));
    },
    /** Waits until all are stored, or for a while. */
    async take(batch: readonly Update[], ready: readonly (readonly Update[])[]) {
      known = batch;
      failed = false;
      const given = new Set(idsOf(batch));
      done = new Set([...done].filter((id) => given.has(id)));
      const begun: Promise<void>[] = [];
      for (const updates of ready) {
        const chat = chatOf(updates[0]) ?? 0;
        const queue = queues.get(chat);
        if (queue !== undefined) {
          queue.push(updates);
          continue;
        }
        const own = [updates];
        queues.set(chat, own);
        begun.push(serve(chat, own));
      }
      const over = new AbortController();
      const patience = world.sleep(later(world.now(), albumMs), AbortSignal.any([signal, over.signal]));
      await Promise.race([Promise.all(begun), patience]);
      over.abort();
      return { offset: offsetAfter(known, done), failed };
    },
  };
}

async function look(
  bot: Bot,
  offset: number | undefined,
  timeout: number,
  signal: AbortSignal,
): Promise<readonly Update[] | PollFault> {
  try {
    const raw = await bot.raw();
    const from = offset === undefined ? {} : { offset };
    return await raw.getUpdates({ ...from, timeout, limit: 100, allowed_updates: wantedUpdates }, theirs(signal));
  } catch (error) {
    return judgePoll(error);
  }
}

/** The same words each time, so that they are told once; they hold for as long as we remember a conflict. */
const anotherPoller =
  "Another program takes this bot's messages, or did within the last two minutes: it polls with the same token. Each message goes to one of the two, and is answered there alone. Stop one of them, or give it a bot of its own (/newbot at @BotFather); trying again.";

/** One that we set ourselves is taken back, with everything that waits there; null then. */
async function aboutWebhook({ bot }: Polling, signal: AbortSignal): Promise<string | null> {
  try {
    const raw = await bot.raw();
    const { url = "" } = await raw.getWebhookInfo(theirs(signal));
    if (isOurs(url)) await raw.deleteWebhook({ drop_pending_updates: false }, theirs(signal));
    if (url === "" || isOurs(url)) return null;
    return `Telegram brings this bot's messages to ${url}, which somebody set as its webhook. If that is not wanted any more, remove it with the Bot API's deleteWebhook; trying again.`;
  } catch (error) {
    return `A webhook is set for this bot, and asking about it failed: ${sentenceOf(error)}`;
  }
}
