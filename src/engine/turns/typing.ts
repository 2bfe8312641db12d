// Shows that an answer is on its way for as long as a turn runs. The platform forgets it by itself after a few seconds.

import { sentenceOf } from "../../core/fault.ts";
import { later } from "../../core/ids.ts";
import { limits } from "../../core/limits.ts";
import { hintsFor } from "../../core/notice.ts";
import type { Platform } from "../../ports/platform.ts";
import { over } from "../abort.ts";
import type { Previews } from "../outbox/previews.ts";
import type { Parts } from "../parts.ts";
import type { Draft } from "./drafts.ts";
import type { Running } from "./run.ts";

/** The same preview; whatever ends it ends the typing. */
export function typing(parts: Parts, previews: Previews, running: Running, platform: Platform, shown: Draft): Draft {
  const { world } = parts;
  const { address: to } = running.session;
  const { hints, anchor } = running.turn.input;
  const ended = new AbortController();

  async function keepTyping(): Promise<void> {
    while (!ended.signal.aborted) {
      try {
        if (previews.mayShow(to)) platform.typing?.(to, hintsFor(to, hints, anchor));
      } catch (error) {
        world.log("debug", "typing could not be shown", { platform: to.platform, why: sentenceOf(error) });
      }
      await world.sleep(later(world.now(), limits.typingEveryMs), ended.signal);
    }
  }

  void keepTyping();
  return {
    show: shown.show,
    finish() {
      ended.abort(over);
      return shown.finish();
    },
    end(fate) {
      ended.abort(over);
      shown.end(fate);
    },
    leave() {
      ended.abort(over);
      shown.leave();
    },
  };
}
