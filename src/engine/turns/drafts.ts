// Previews of a growing answer: best effort, never stored, at most as often as the platform likes. The last one always
// gets through. The end takes the preview away; a turn that is put aside leaves it, because it goes on after the next start.

import { sentenceOf } from "../../core/fault.ts";
import type { Hide } from "../../core/hide.ts";
import { later } from "../../core/ids.ts";
import type { Address } from "../../core/message.ts";
import type { Platform } from "../../ports/platform.ts";
import type { World } from "../../ports/world.ts";
import { over } from "../abort.ts";

export interface Draft {
  show(text: string): void;
  end(): void;
  /** No more comes from here for now; what is shown stays. */
  leave(): void;
}

const none: Draft = { show: () => undefined, end: () => undefined, leave: () => undefined };

export function draft(platform: Platform | null, to: Address, world: World, hide: Hide): Draft {
  const every = platform?.can.draftEveryMs ?? null;
  if (platform === null || every === null) return none;
  const ended = new AbortController();
  let latest: string | null = null;
  let shown = false;
  let resting = false;

  /** A preview that fails is not worth a word to the user. */
  function attempt(text: string | null): void {
    try {
      platform?.draft(to, text === null ? null : hide(text));
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
