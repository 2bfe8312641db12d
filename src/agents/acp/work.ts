// One prompt that the agent works on, across as many steps as it takes: what it has streamed, what it wants to be allowed,
// and how it ended. It is memory only; whatever of it matters is in the journal by the next step.

import type { ContentBlock, PromptResponse } from "@agentclientprotocol/sdk";
import type { TurnId } from "../../core/ids.ts";
import { type Permission, permissionOf } from "./choices.ts";
import type { Link } from "./link.ts";
import { type Before, type Progress, progress } from "./progress.ts";
import type { Decision } from "./told/record.ts";
import { AcpTrouble } from "./trouble.ts";
import type { Meter } from "./usage.ts";

export type Wanted = {
  readonly permission: Permission;
  /** Its user has decided about something else meanwhile. */
  readonly changed: boolean;
  /** Null is "withdrawn". */
  readonly answer: (option: string | null) => void;
};

export type End = { readonly stop: string } | { readonly trouble: AcpTrouble };

export interface Work {
  readonly turn: TurnId;
  readonly progress: Progress;
  /** What it waits to be allowed, oldest first. */
  readonly wanted: readonly Wanted[];
  /** How many messages that joined the turn it knows of. */
  readonly told: number;
  /** Steps on record when it began, and how many it has given since. */
  readonly stepsBefore: number;
  stepsGiven: number;
  /** What our user was asked last and has not been passed on yet. */
  asked: Wanted | null;
  end(): End | null;
  /** Resolves at the next news, or when the signal aborts. */
  changed(signal: AbortSignal): Promise<void>;
  settle(one: Wanted, option: string | null): void;
  /** Tells the agent to stop; resolves when it has, and false when it did not within that time. */
  stop(patienceMs: number): Promise<boolean>;
}

export type WorkOptions = {
  readonly link: Link;
  readonly session: string;
  /** Of that session. */
  readonly meter: Meter;
  readonly turn: TurnId;
  readonly blocks: ContentBlock[];
  /** What came before it in this turn. */
  readonly before: Before;
  readonly told: number;
  readonly stepsBefore: number;
  /** An answer that was given when nobody was there to take it; good for the same question once. */
  readonly decision: Decision | null;
  readonly choose: (permission: Permission, decision: Decision) => string | null;
};

export function startWork(options: WorkOptions): Work {
  const { link, session, meter } = options;
  const seen = progress(options.before);
  const wanted: Wanted[] = [];
  let { decision } = options;
  let ended: End | null = null;
  let wake = Promise.withResolvers<void>();
  let isStopped = false;

  function poke(): void {
    wake.resolve();
    wake = Promise.withResolvers<void>();
  }

  function take(one: Wanted): void {
    if (wanted.includes(one)) wanted.splice(wanted.indexOf(one), 1);
  }

  function permit(request: unknown, withdrawn: AbortSignal): Promise<string | null> {
    const permission = permissionOf(request);
    if (isStopped) return Promise.resolve(null);
    if (decision?.bound === permission.asking.bound) {
      const option = options.choose(permission, decision);
      decision = null;
      return Promise.resolve(option);
    }
    const { promise, resolve } = Promise.withResolvers<string | null>();
    const one: Wanted = { permission, changed: decision !== null, answer: resolve };
    withdrawn.addEventListener("abort", () => {
      take(one);
      resolve(null);
      poke();
    });
    wanted.push(one);
    poke();
    return promise;
  }

  const unlisten = link.listen(session, {
    update(update) {
      if (isStopped || ended !== null) return;
      meter.update(update);
      seen.take(update);
      poke();
    },
    permit,
  });
  const over = link.prompt(session, options.blocks).then(
    (response: PromptResponse): End => {
      if (!isStopped) meter.ended(response);
      return { stop: response.stopReason };
    },
    (error: unknown): End => ({
      trouble: error instanceof AcpTrouble ? error : new AcpTrouble("later", String(error)),
    }),
  );
  const done = over.then((how) => {
    ended = how;
    unlisten();
    poke();
  });

  return {
    turn: options.turn,
    progress: seen,
    wanted,
    told: options.told,
    stepsBefore: options.stepsBefore,
    stepsGiven: 0,
    asked: null,
    end: () => ended,
    async changed(signal) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const abort = () => resolve();
      if (signal.aborted) return;
      signal.addEventListener("abort", abort, { once: true });
      await Promise.race([wake.promise, promise]);
      signal.removeEventListener("abort", abort);
    },
    settle(one, option) {
      take(one);
      one.answer(option);
    },
    async stop(patienceMs) {
      isStopped = true;
      for (const { answer } of wanted.splice(0)) answer(null);
      if (ended === null) link.cancel(session);
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, patienceMs);
      await Promise.race([done, promise]);
      clearTimeout(timer);
      return ended !== null;
    },
  };
}
