// The engine's way to the store's commits: names the boot, knows whether the disk is well, and keeps trying where the
// result of finished work would otherwise be lost. A refused fence ends the gateway: another boot owns the work.

import type { Change, CommitResult } from "../core/change.ts";
import { Fault, sentenceOf } from "../core/fault.ts";
import { type BootId, later } from "../core/ids.ts";
import { limits } from "../core/limits.ts";
import type { Store } from "../ports/store.ts";
import type { World } from "../ports/world.ts";

export interface Ledger {
  /** Once; rejects when the disk refuses. For acceptance: who sent it still has it. */
  commit(changes: readonly Change[]): Promise<CommitResult>;
  /** Until it is stored, however long the disk refuses; rejects only after `close`. For results of finished work. */
  keep(changes: readonly Change[]): Promise<CommitResult>;
  /** Writes a sign of life; also finds out whether the disk is well again. */
  beat(): Promise<void>;
  /** Why commits fail at present, or null. */
  trouble(): string | null;
  close(): void;
}

export type LedgerNews = {
  readonly onTrouble: (why: string | null) => void;
  readonly onFenced: () => void;
  /** The store can never be written again in this life. */
  readonly onBroken: (error: unknown) => void;
};

export function ledger(store: Pick<Store, "commit" | "beat">, world: World, boot: BootId, news: LedgerNews): Ledger {
  const closing = new AbortController();
  let why: string | null = null;

  function report(found: string | null): void {
    if (found === why) return;
    why = found;
    news.onTrouble(found);
  }

  async function watched<T>(work: () => Promise<T>): Promise<T> {
    try {
      const result = await work();
      report(null);
      if (result === "fenced") news.onFenced();
      return result;
    } catch (error) {
      if (!closing.signal.aborted) report(sentenceOf(error));
      if (error instanceof Fault && error.code === "store-broken") news.onBroken(error);
      throw error;
    }
  }

  const commit = (changes: readonly Change[]) => watched(() => store.commit(changes, boot));

  return {
    commit,
    async keep(changes) {
      for (let pause: number = limits.storeRetryMinMs; ; pause = Math.min(pause * 2, limits.storeRetryMaxMs)) {
        try {
          return await commit(changes);
        } catch (error) {
          if (closing.signal.aborted || !mayRecover(error)) throw error;
        }
        await world.sleep(later(world.now(), pause), closing.signal);
      }
    },
    async beat() {
      await watched(() => store.beat(boot, world.now()));
    },
    trouble: () => why,
    close: () => closing.abort(),
  };
}

function mayRecover(error: unknown): boolean {
  return error instanceof Fault && (error.code === "store-full" || error.code === "store-failed");
}
