// Turns that were running at two deaths without a result are suspects: they run one at a time, while everything else
// goes on. When a verdict could not be reached, nothing new starts until the suspect has shown itself, for a while.

import { type TurnId, later } from "../../core/ids.ts";
import { type Start, decideStart } from "../../core/lane.ts";
import { limits } from "../../core/limits.ts";
import type { World } from "../../ports/world.ts";

export interface Quarantine<Lane> {
  /** Whether a turn may start; a lane that may not is kept until it may. */
  admit(lane: Lane, turn: TurnId, suspect: boolean): Start;
  /** The turn has a result. While a call of its own is open, it stays for a while: it may be what the process dies of. */
  show(turn: TurnId, isClear: boolean): void;
  /** The turn has ended. */
  leave(turn: TurnId): void;
  hold(): void;
  held(): boolean;
  keeps(lane: Lane): boolean;
}

export function quarantine<Lane>(world: World, closing: AbortSignal, readmit: (lane: Lane) => void): Quarantine<Lane> {
  const waiting = new Set<Lane>();
  let inside: TurnId | null = null;
  let isHeld = false;

  function clear(): void {
    isHeld = false;
    const lanes = [...waiting];
    waiting.clear();
    for (const lane of lanes) readmit(lane);
  }

  function leave(turn: TurnId): void {
    if (inside !== turn) return;
    inside = null;
    clear();
  }

  return {
    admit(lane, turn, suspect) {
      const start = decideStart(suspect, { occupied: inside !== null, held: isHeld });
      if (start === "start-in-quarantine") inside = turn;
      if (start === "after-quarantine") waiting.add(lane);
      return start;
    },
    show(turn, isClear) {
      if (isClear) leave(turn);
      else if (inside === turn) void world.sleep(later(world.now(), limits.holdMs), closing).then(() => leave(turn));
    },
    leave,
    hold() {
      isHeld = true;
      void world.sleep(later(world.now(), limits.holdMs), closing).then(clear);
    },
    held: () => isHeld,
    keeps: (lane) => waiting.has(lane),
  };
}
