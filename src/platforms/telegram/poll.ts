// Our own loop of getUpdates. Telegram keeps an update until a later call names a higher offset, and ours moves only after
// the update is stored; so nothing is forgotten that we do not have. Whoever else takes the updates is named and waited for.

import type { Update } from "grammy/types";
import { sentenceOf } from "../../core/fault.ts";
import { later } from "../../core/ids.ts";
import type { Inlet } from "../../ports/platform.ts";
import type { World } from "../../ports/world.ts";
import { gather, offsetAfter } from "./albums.ts";
import { type Bot, pollSeconds, theirs, wantedUpdates } from "./api.ts";
import { type PollFault, judgePoll } from "./faults.ts";
import { isOurs } from "./webhook.ts";

export type Polling = {
  readonly bot: Bot;
  readonly world: World;
  readonly inlet: Inlet;
  /** Stores what belongs together; resolves when it is stored, or when there was nothing in it for us. */
  readonly take: (updates: readonly Update[], cursor: string) => Promise<void>;
};

/** How long an album may take to go on. */
const albumMs = 500;
/** Between two looks for whether the other program is gone; it loses its own poll at each. */
const conflictMs = 15_000;
/** As long as it may still be there, we are not said to be well. */
const conflictMemoryMs = 60_000;
const brokenMax = 3;
const pauseMinMs = 1_000;
const pauseMaxMs = 30_000;

export async function poll(polling: Polling, from: string | null, signal: AbortSignal): Promise<void> {
  const { world, inlet } = polling;
  const pause = (ms: number): Promise<void> =>
    world.sleep(later(world.now(), Math.round(ms * (1 - world.chance() / 4))), signal);
  let offset = from === null ? undefined : Number(from);
  let done: ReadonlySet<number> = new Set();
  let open: ReadonlyMap<string, number> = new Map();
  let [broken, unstored, conflictAt, stood] = [0, 0, Number.NEGATIVE_INFINITY, false];

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
    if (open.size > 0) await world.sleep(later(world.now(), albumMs), signal);
    // The first look is short, so that it is soon known whether the connection stands.
    const batch = await look(polling.bot, offset, stood && open.size === 0 ? pollSeconds : 0, signal);
    if (signal.aborted) return;
    if ("type" in batch) {
      await afterFailure(batch);
      continue;
    }
    broken = 0;
    stood = true;
    if (world.now() - conflictAt > conflictMemoryMs) inlet.up();
    const found = gather(
      batch.filter(({ update_id }) => !done.has(update_id)),
      open,
    );
    const taken = await takeAll(polling, batch, found.ready, done, signal);
    if (signal.aborted) return;
    open = found.open;
    offset = taken.offset ?? offset;
    done = taken.done;
    unstored = taken.failed ? unstored + 1 : 0;
    if (taken.failed) await pause(Math.min(pauseMaxMs, pauseMinMs * 2 ** (unstored - 1)));
  }
}

type Taken = { readonly offset: number | undefined; readonly done: ReadonlySet<number>; readonly failed: boolean };

/** In order, each stored before the next: what comes later must not confirm what came before. */
async function takeAll(
  { take, world }: Polling,
  batch: readonly Update[],
  ready: readonly (readonly Update[])[],
  before: ReadonlySet<number>,
  signal: AbortSignal,
): Promise<Taken> {
  let done = before;
  let offset: number | undefined;
  for (const updates of ready) {
    const next = new Set([...done, ...updates.map(({ update_id }) => update_id)]);
    const after = offsetAfter(batch, next);
    try {
      await take(updates, String(after));
    } catch (error) {
      if (!signal.aborted)
        world.log("warn", "a message of Telegram could not be stored; it is fetched again", { why: sentenceOf(error) });
      return { offset, done, failed: true };
    }
    if (signal.aborted) break;
    [done, offset] = [next, after];
  }
  const known = new Set(batch.map(({ update_id }) => update_id));
  return { offset, done: new Set([...done].filter((id) => known.has(id))), failed: false };
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

const anotherPoller =
  "Another program takes this bot's messages: it polls with the same token. Stop it, or give one of the two a bot of its own (/newbot at @BotFather). Nothing is lost meanwhile; trying again.";

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
