// How much one file may take: by itself, and together with the others of its turn. Files of the same turn may be written
// at the same time, so each byte is counted when it comes.

import { Fault } from "../../core/fault.ts";

export type Room = {
  /** Throws a Fault when there is no room for so many more bytes. */
  take(bytes: number): void;
  /** Nothing of it is kept after all. */
  giveBack(): void;
};

export type BlobLimits = {
  readonly bytesMax: number;
  /** Of all files that the tools of one turn put in one life of the gateway; what is put again counts again. */
  readonly turnBytesMax: number;
};

/** Turns end, and nobody tells; the oldest is forgotten first. */
const turnsMax = 1_000;

export function roomFor({ bytesMax, turnBytesMax }: BlobLimits): (turn?: string) => Room {
  const turns = new Map<string, { used: number }>();

  function tallyOf(turn: string): { used: number } {
    const tally = turns.get(turn) ?? { used: 0 };
    turns.delete(turn);
    turns.set(turn, tally);
    const [oldest] = turns.keys();
    if (turns.size > turnsMax && oldest !== undefined) turns.delete(oldest);
    return tally;
  }

  return (turn) => {
    const tally = turn === undefined ? null : tallyOf(turn);
    let taken = 0;
    return {
      take(bytes) {
        taken += bytes;
        if (tally !== null) tally.used += bytes;
        if (taken > bytesMax)
          throw new Fault("too-large", `A file may have at most ${bytesMax} bytes, and this one has more.`);
        if (tally !== null && tally.used > turnBytesMax)
          throw new Fault("too-large", `The files of one turn may have at most ${turnBytesMax} bytes together.`);
      },
      giveBack() {
        if (tally !== null) tally.used -= taken;
        taken = 0;
      },
    };
  };
}
