// Previews of a growing answer: best effort, at most as often as the platform likes. Where they are messages of the platform
// they are in `placed.ts`; here are those that are never stored. The last one always gets through. The end takes the
// preview away; a turn that is put aside leaves it, because it goes on after the next start.

import type { Change } from "../../core/change.ts";
import { sentenceOf } from "../../core/fault.ts";
import { later } from "../../core/ids.ts";
import type { Address } from "../../core/message.ts";
import type { Platform } from "../../ports/platform.ts";
import type { World } from "../../ports/world.ts";
import { over } from "../abort.ts";
import { leftBy } from "../outbox/drafts.ts";
import type { Previews } from "../outbox/previews.ts";
import { type Parts, platformOf } from "../parts.ts";
import type { Running } from "./run.ts";

/**
 * What becomes of a preview: words took its place, nobody needs it any more, its user stopped it and keeps what was shown,
 * or nobody knows yet.
 */
export type Fate = "finished" | "dropped" | "stopped" | "unsure";

export interface Draft {
  show(text: string): void;
  /** Nothing is shown any more. Answers which message the words that follow finish, and what is stored with them. */
  finish(): Promise<{ readonly edits: string | null; readonly changes: readonly Change[] }>;
  end(fate: Fate): void;
  /** No more comes from here for now; what is shown stays. */
  leave(): void;
}

const nothingPlaced = { edits: null, changes: [] };

/** The preview of a turn that begins to run. What only some platforms need is loaded when one of them does. */
export async function previewOf(parts: Parts, previews: Previews, running: Running): Promise<Draft> {
  const { address } = running.session;
  const platform = platformOf(parts, address);
  const shown =
    platform?.drafts === undefined || platform.can.draftEveryMs === null
      ? streamed(platform, address, parts.world)
      : await inMessage(parts, previews, running, platform.can.draftEveryMs, platform.can.previewAfterMs ?? 0);
  if (platform?.typing === undefined) return shown;
  const { typing } = await import("./typing.ts");
  return typing(parts, previews, running, platform, shown);
}

async function inMessage(
  parts: Parts,
  previews: Previews,
  running: Running,
  everyMs: number,
  afterMs: number,
): Promise<Draft> {
  const { placed } = await import("./placed.ts");
  const { turn, session } = running;
  const left = turn.attempt > 1 ? await leftBy(parts, session.address, turn.id) : { id: null, key: null };
  return placed(parts, previews, running, { everyMs, afterMs }, left);
}

export function streamed(platform: Platform | null, to: Address, world: World): Draft {
  const every = platform?.can.draftEveryMs ?? null;
  const finish = () => Promise.resolve(nothingPlaced);
  if (platform === null || every === null)
    return { show: () => undefined, finish, end: () => undefined, leave: () => undefined };
  const ended = new AbortController();
  let latest: string | null = null;
  let shown = false;
  let resting = false;

  /** A preview that fails is not worth a word to the user. */
  function attempt(text: string | null): void {
    try {
      platform?.draft(to, text);
    } catch (error) {
      world.log("debug", "a preview failed", { platform: to.platform, why: sentenceOf(error) });
    }
  }

  function push(): void {
    if (latest === null || ended.signal.aborted) return;
    attempt(latest);
    shown = true;
    latest = null;
    resting = true;
    void world.sleep(later(world.now(), every ?? 0), ended.signal).then(() => {
      resting = false;
      push();
    });
  }

  return {
    show(text) {
      latest = text;
      if (!resting) push();
    },
    finish,
    end() {
      ended.abort(over);
      if (shown) attempt(null);
    },
    leave() {
      if (latest !== null && !ended.signal.aborted) attempt(latest);
      ended.abort(over);
    },
  };
}
