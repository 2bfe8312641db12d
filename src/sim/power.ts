// The store as one life of a process sees it: every call takes time, the power may fail before or after the n-th commit,
// the disk may be full for a while. What was committed stays, whoever dies. Also watches that nobody writes after a
// successor has opened the store.

import type { Change, CommitResult } from "../core/change.ts";
import { Fault } from "../core/fault.ts";
import type { BootId } from "../core/ids.ts";
import type { Archive, Store } from "../ports/store.ts";
import type { Life } from "./life.ts";
import type { Held } from "./outbound/held.ts";
import type { Dice } from "./time.ts";

export type FullStore = Store & Archive;

/** `dead`: the process is gone. `frozen`: it goes on, while a successor takes over. */
export type Cut = { readonly commit: number; readonly when: "before" | "after"; readonly end: "dead" | "frozen" };

export type Power = {
  commits: number;
  /** The boot that opened the store last. */
  owner: BootId | null;
  /** Commits fail while this is set. */
  full: boolean;
  readonly cuts: Cut[];
  /** Messages of platforms that were noted with a turn, and with which. */
  readonly noted: Map<string, string>;
  /** Items that are held or were, with their turns; and how often each conversation got a notice about them. */
  readonly held: Held;
  /** Told when the power fails. */
  onCut: (cut: Cut) => void;
  /** Told what must never happen. */
  onBreach: (what: string) => void;
};

export function powered(store: FullStore, life: Life, power: Power, chances: Dice): FullStore {
  async function commit(changes: readonly Change[], by: BootId): Promise<CommitResult> {
    await life.pass(chances.between(0, 2));
    const number = ++power.commits;
    fail(number, "before");
    await stillThere();
    if (power.full) {
      await life.pass(1);
      throw new Fault("store-full", "There is no room left on the disk.");
    }
    const result = await store.commit(changes, by);
    if (result === "committed" && by !== power.owner)
      power.onBreach(`boot ${by} wrote after ${power.owner} had taken over`);
    if (result === "committed") {
      note(changes);
      for (const breach of power.held.see(changes)) power.onBreach(breach);
    }
    fail(number, "after");
    await stillThere();
    await life.pass(chances.between(1, 3));
    return result;
  }

  function note(changes: readonly Change[]): void {
    for (const one of changes)
      if ("put" in one && one.put === "fact" && one.name.startsWith("draft/"))
        power.noted.set(one.value, one.name.slice("draft/".length));
  }

  function fail(number: number, when: Cut["when"]): void {
    const i = power.cuts.findIndex((cut) => cut.commit === number && cut.when === when);
    const [cut] = i === -1 ? [] : power.cuts.splice(i, 1);
    if (cut === undefined) return;
    if (cut.end === "dead") life.kill();
    power.onCut(cut);
  }

  /** A dead process stops here. */
  function stillThere(): Promise<void> {
    return life.alive() ? Promise.resolve() : new Promise<void>(() => undefined);
  }

  const slow =
    <A extends unknown[], R>(read: (...parameters: A) => Promise<R>) =>
    async (...parameters: A): Promise<R> => {
      const found = await read(...parameters);
      await life.pass(chances.between(0, 1));
      return found;
    };

  return {
    ...store,
    commit,
    async openBoot(boot) {
      await life.pass(1);
      power.owner = boot.id;
      const result = await store.openBoot(boot);
      await life.pass(1);
      return result;
    },
    beat: slow(store.beat),
    deadBoots: slow(store.deadBoots),
    sessionOf: slow(store.sessionOf),
    session: slow(store.session),
    activeSince: slow(store.activeSince),
    runnable: slow(store.runnable),
    nextTurn: slow(store.nextTurn),
    queuedTurns: slow(store.queuedTurns),
    readyTurns: slow(store.readyTurns),
    waitingTurns: slow(store.waitingTurns),
    restarting: slow(store.restarting),
    heldTurns: slow(store.heldTurns),
    questionsAt: slow(store.questionsAt),
    waitingFor: slow(store.waitingFor),
    turn: slow(store.turn),
    turnBy: slow(store.turnBy),
    journalOf: slow(store.journalOf),
    journalTail: slow(store.journalTail),
    strikes: slow(store.strikes),
    interruptions: slow(store.interruptions),
    struckOut: slow(store.struckOut),
    sendable: slow(store.sendable),
    nextItem: slow(store.nextItem),
    heldItems: slow(store.heldItems),
    nextTimer: slow(store.nextTimer),
    cursor: slow(store.cursor),
    pairingsAt: slow(store.pairingsAt),
    paired: slow(store.paired),
    rule: slow(store.rule),
    summaryOf: slow(store.summaryOf),
    spentOn: slow(store.spentOn),
    fact: slow(store.fact),
    history: slow(store.history),
  };
}
