// What the worker adds to reading a file: the same read in this process, and through a warm worker in the sandbox with all
// that a call has, the look at the path included.

import { makeRoom, aVet } from "../test/fakes/room.ts";
import { aToolContext } from "../src/testing/samples.ts";
import { readFileTool } from "../src/tools/files/read.ts";
import { readLines } from "../src/tools/files/worker/read.ts";
import { median } from "./load.ts";

const rounds = 300;

export type ReadFigures = {
  readonly sandbox: string;
  readonly directMs: number;
  readonly workerMs: number;
  readonly moreMs: number;
  /** The first call of a person, which starts the worker. */
  readonly coldMs: number;
};

export async function measureReads(): Promise<ReadFigures> {
  const room = makeRoom({ sandbox: "auto" });
  try {
    room.put("f", "a line of some length, as files have them\n".repeat(200));
    const tool = readFileTool(room);
    const input = { path: "f" };
    const { workspace } = room;
    const scope = { workspace, readable: [], writable: [], closed: [], only: null, isWalled: false };
    const { signal } = new AbortController();
    const direct = () => readLines(scope, { op: "read", path: "f", offset: 1, limit: 2_000 }, signal);
    const through = async () => {
      await tool.vet?.(input, aVet());
      return tool.run(input, aToolContext());
    };
    // The state of the sandbox is looked for once.
    const state = await room.sandbox.state();
    const coldMs = await timed(through);
    const [directly, worker]: [number[], number[]] = [[], []];
    for (let n = 0; n < rounds; n++) {
      directly.push(await timed(direct));
      worker.push(await timed(through));
    }
    const [directMs, workerMs] = [median(directly), median(worker)];
    const sandbox = state.type === "on" ? state.kind : "no sandbox";
    return { sandbox, directMs, workerMs, moreMs: workerMs - directMs, coldMs };
  } finally {
    room.remove();
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}
