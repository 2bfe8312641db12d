// What the gateway adds to the latency of one turn of one user, beside one flush of the disk measured in the same
// minutes: the turn waits for four commits one after another before its answer leaves, so it cannot be below four.

import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median, openBench } from "./load.ts";

const rounds = 10;
const perRound = 100;

function flushes(file: number): readonly number[] {
  const block = Buffer.alloc(4_096, 7);
  return Array.from({ length: perRound }, () => {
    const from = performance.now();
    writeSync(file, block);
    fsyncSync(file);
    return performance.now() - from;
  });
}

export type LatencyFigures = {
  readonly turnMs: number;
  readonly flushMs: number;
  readonly ratio: number;
  readonly ratios: readonly number[];
};

export async function measureLatency(): Promise<LatencyFigures> {
  const bench = await openBench(false);
  const folder = mkdtempSync(join(tmpdir(), "everturn-fsync-"));
  const file = openSync(join(folder, "block"), "a");
  const turns: number[] = [];
  const flushed: number[] = [];
  const ratios: number[] = [];
  let next = 0;
  for (let round = 0; round < rounds; round++) {
    const disk = flushes(file);
    const own: number[] = [];
    for (let i = 0; i < perRound; i++) {
      const from = performance.now();
      await bench.users.ask("one", `k${next++}`);
      own.push(performance.now() - from);
    }
    flushed.push(...disk);
    turns.push(...own);
    ratios.push(median(own) / median(disk));
  }
  closeSync(file);
  rmSync(folder, { recursive: true, force: true });
  await bench.stop();
  return { turnMs: median(turns), flushMs: median(flushed), ratio: median(ratios), ratios };
}

if (import.meta.main) console.log(await measureLatency());
