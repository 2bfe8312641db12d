// An answer that grows inside a message of the platform. The message is placed empty; its id is stored with the turn, and
// only then is it filled, one edit at a time, the newest text each time. Whatever ends the turn with words finishes this
// very message by an edit, which may be repeated; so a kill never doubles what was streamed, and a resumed turn goes on in
// the same place. Where a message can be placed again under the same key, the intent is stored first, so that also one whose id
// was lost in a kill is found. Of a turn that its user stops the words stay, with a last line that says so. Nothing here holds
// up a turn.

import type { Change } from "../../core/change.ts";
import { sentenceOf } from "../../core/fault.ts";
import { later } from "../../core/ids.ts";
import { limits } from "../../core/limits.ts";
import { hintsFor } from "../../core/notice.ts";
import { stoppedIn } from "../../core/running/stopped.ts";
import { over } from "../abort.ts";
import { type DraftLeft, forgetDraft, noteDraft, noteIntent, placeKey } from "../outbox/drafts.ts";
import type { Previews } from "../outbox/previews.ts";
import { type Parts, platformOf } from "../parts.ts";
import type { Draft } from "./drafts.ts";
import type { Running } from "./run.ts";

/** `left` is what an earlier process has left of the turn. */
export function placed(
  parts: Parts,
  previews: Previews,
  running: Running,
  { everyMs, afterMs }: { readonly everyMs: number; readonly afterMs: number },
  left: DraftLeft,
): Draft {
  const { world, ledger } = parts;
  const { turn, session } = running;
  const to = session.address;
  const hints = hintsFor(to, turn.input.hints, turn.input.anchor);
  const stopped = new AbortController();
  const begunAt = world.now();
  const isKeyed = platformOf(parts, to)?.drafts?.isKeyed === true;
  let id = left.id;
  /** One may stand there that is not known to us. */
  let isUncertain = left.key !== null;
  /** Stored before the message is placed under it. */
  let key = left.key;
  let latest: string | null = null;
  /** What stands there by now, as far as we know. */
  let filled: string | null = null;
  /** What its user may have read there last. */
  let read: string | null = null;
  let working: Promise<void> | null = null;
  let placing: Promise<void> | null = null;
  /** The platform would not have it: no further request. */
  let isMute = false;
  /** Nobody will finish what is placed from here on. */
  let isAbandoned = false;
  let isFinished = false;

  async function work(): Promise<void> {
    while (latest !== null && !isMute && !stopped.signal.aborted) {
      if (id === null) {
        // A short answer needs no placeholder, and the phone's notification shows the answer itself.
        const due = isUncertain ? begunAt : later(begunAt, afterMs);
        if (due > world.now()) await world.sleep(due, stopped.signal);
        if (stopped.signal.aborted) break;
        await placeOnce();
      }
      if (id !== null && !stopped.signal.aborted) await fill(id, latest);
      await world.sleep(later(world.now(), everyMs), stopped.signal);
    }
    working = null;
  }

  /** Two at the same time would both look for it, find nothing, and place one each. */
  function placeOnce(): Promise<void> {
    placing ??= place().finally(() => void (placing = null));
    return placing;
  }

  async function place(): Promise<void> {
    const own = key ?? world.id();
    if (isKeyed && key === null && (await keep(noteIntent(turn.id, own))) !== "committed") return;
    key = own;
    const result = await previews.place(to, hints, placeKey(own, isUncertain ? turn.acceptedAt : null));
    if (result === null || result.type === "retry") return;
    // It may stand there all the same. Where there is no key, a second one would not make it better.
    isUncertain = isKeyed && result.type === "unknown";
    if (isUncertain) return;
    if (result.type !== "accepted") return void (isMute = true);
    const kept = isAbandoned ? "conflict" : await keep(noteDraft(turn.id, result.remoteId));
    if (kept === "committed" && !isAbandoned) return void (id = result.remoteId);
    // A later process that owns the turn may use this very message, so it stays; here it is found again by its key.
    if (isKeyed && !isAbandoned) return void (isUncertain = true);
    isMute = true;
    if (kept !== "unsure") previews.remove(to, result.remoteId);
  }

  /** Refused when the turn is not ours to show any more. */
  async function keep(note: Change) {
    const { id: of, version } = running.turn;
    const { id: owner, fence } = running.session;
    try {
      return await ledger.keep([{ check: "turn", turn: of, version, session: owner, fence }, note]);
    } catch (error) {
      world.log("debug", "the place of a preview was not stored", { turn: of, why: sentenceOf(error) });
      return "unsure";
    }
  }

  async function fill(remoteId: string, text: string): Promise<void> {
    filled = null;
    const result = await previews.fill(to, remoteId, parts.hide(text));
    if (result === null || result.type === "retry") return;
    if (result.type === "refused") isMute = true;
    else read = text;
    if (result.type === "accepted") filled = text;
    if (latest === text) latest = null;
  }

  // A message whose id was lost is found at once, so that the answer goes there.
  if (isUncertain) void placeOnce();

  return {
    show(text) {
      if (text === "" || stopped.signal.aborted) return;
      // The same words again would only cost one of the few requests that there are.
      latest = text === filled ? null : text;
      if (latest !== null && !isMute) working ??= work();
    },
    async finish() {
      stopped.abort(over);
      if (placing !== null) {
        const enough = new AbortController();
        await Promise.race([placing, world.sleep(later(world.now(), limits.draftWaitMs), enough.signal)]);
        enough.abort(over);
      }
      if (id === null) isAbandoned = true;
      return { edits: id, changes: forgetDraft(parts, to, turn.id) };
    },
    end(fate) {
      stopped.abort(over);
      if (fate === "unsure" || isFinished) return;
      isFinished = true;
      // Nothing will finish one that is not known: it is found once more, and goes.
      void (placing ?? Promise.resolve()).then(() => {
        if (id !== null || !isUncertain || key === null) return;
        previews.removeLost(to, hints, placeKey(key, turn.acceptedAt));
      });
      if (fate === "finished") return;
      isAbandoned = true;
      if (id === null) return;
      const remoteId = id;
      // A text that lands after the removal would only be refused, but after the last words it would stay: one at a time.
      void (working ?? Promise.resolve()).then(() => {
        if (fate === "dropped" || read === null) previews.remove(to, remoteId);
        else
          previews.close(
            to,
            remoteId,
            stoppedIn(parts.hide(read), (text) => platformOf(parts, to)?.parts(text) ?? [text]),
          );
      });
    },
    leave: () => stopped.abort(over),
  };
}
