// A restart, whoever asks for it: what comes after is prepared first, and only then the gateway stops. Asked twice, it is
// one restart. Whoever asked in a chat has a stored turn that the next start answers; if there will be no next start, it
// is answered here, and the gateway goes on serving.

import { sentenceOf } from "../../core/fault.ts";
import type { StopIntent } from "../../core/lifecycle.ts";
import type { Inbound } from "../../core/message.ts";
import { hintsFor, notRestarted } from "../../core/notice.ts";
import type { Turn } from "../../core/turn.ts";
import type { Gateway, RestartAsk } from "../../ports/gateway.ts";
import type { Outlet } from "../outbox/pump.ts";
import { writeReply } from "../outbox/replies.ts";
import { type Parts, platformOf } from "../parts.ts";

export interface Restarts {
  ask: Gateway["restart"];
  /** Somebody asked in a chat, and the turn is stored. */
  askedBy(turn: Turn): void;
  /** The messages that asked in a chat. */
  messages(): readonly Inbound[];
}

export type Ways = {
  /** Makes sure that somebody will go on; rejects when nobody can. */
  readonly prepare: () => Promise<void>;
  /** Under way already, or null. */
  readonly stopping: () => StopIntent | null;
  readonly stop: (intent: StopIntent) => void;
  /** Something waits to be sent. */
  readonly poke: Outlet["poke"];
};

type Answer = Awaited<ReturnType<Gateway["restart"]>>;

export function restarts(parts: Parts, { prepare, stopping, stop, poke }: Ways): Restarts {
  const { store, world, ledger, events } = parts;
  const messages: Inbound[] = [];
  let preparing: Promise<Answer> | null = null;

  function answerNow(): Answer | null {
    const under = stopping();
    if (under === null) return null;
    return under.class === "restart" ? "restarting" : { refused: `The gateway is stopping already: ${under.reason}.` };
  }

  async function prepareAndStop(ask: RestartAsk): Promise<Answer> {
    try {
      await prepare();
    } catch (error) {
      const refused = sentenceOf(error);
      world.log("warn", "the gateway cannot be restarted and goes on as before", { why: refused, by: ask.by });
      // Whoever asks from here on may not be among those answered now, and gets an attempt of their own.
      preparing = null;
      if (stopping() === null) await answerAll(refused);
      return { refused };
    }
    preparing = null;
    // Another stop may have come first; it stays what it is.
    if (stopping() === null) stop({ class: "restart", ...ask });
    return answerNow() ?? "restarting";
  }

  async function ask(wish: RestartAsk): Promise<Answer> {
    const under = answerNow();
    if (under !== null) return under;
    preparing ??= prepareAndStop(wish);
    return preparing;
  }

  async function answerAll(why: string): Promise<void> {
    messages.length = 0;
    for (const turn of await store.restarting()) await answer(turn, why);
  }

  async function answer(turn: Turn, why: string): Promise<void> {
    const at = world.now();
    const { from: to, hints: own, anchor } = turn.input;
    const { turn: ended, text } = notRestarted(turn, why, at);
    const texts = platformOf(parts, to)?.parts(text) ?? [text];
    const hints = hintsFor(to, own, anchor);
    const { id, session } = turn;
    const reply = { id, session, turn: id, to, role: "assistant", text, parts: texts, hints, at } as const;
    const { changes } = writeReply(reply, null);
    if ((await ledger.keep([{ put: "turn", turn: ended }, ...changes])) !== "committed") return;
    events.emit({ type: "turn-ended", session, turn: id, outcome: "failed", why });
    poke(session, to);
  }

  /** Its turn may have been answered at that very moment, by an attempt that failed. */
  async function obey(turn: Turn): Promise<void> {
    if ((await store.turn(turn.id))?.now.state !== "restarting") return;
    messages.push(turn.input);
    await ask({ by: "chat", reason: `${turn.input.sender} asked for a restart in a chat` });
  }

  return {
    ask,
    askedBy: (turn) => void obey(turn).catch(parts.broken),
    messages: () => messages,
  };
}
