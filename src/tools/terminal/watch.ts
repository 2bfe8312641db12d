// Waits for a command on behalf of a call: shows its last line now and then, and decides what becomes of it when the call
// is broken off. A gateway that stops leaves it running, because the next one asks for it; a user who stops the turn ends it.

import type { Job, Jobs, JobState } from "../../ports/jobs.ts";
import { decoded, isBinary, lastLine } from "./clean.ts";

type Ended = Exclude<JobState, { type: "running" }>;

export type Watching = {
  readonly jobs: Jobs;
  readonly signal: AbortSignal;
  readonly tell: (progress: string) => void;
};

/** A short command has nothing to show; a long one a few times a second at most. */
const firstTellMs = 700;
const tellEveryMs = 400;
const tellBytes = 2_000;
const tellMax = 160;

/** Whether a call was broken off in order to go on later; see engine/turns/interruption.ts. */
export function goesOnLater(reason: unknown): boolean {
  return typeof reason === "object" && reason !== null && "why" in reason && reason.why === "shutdown";
}

export async function watched(job: Job, { jobs, signal, tell }: Watching): Promise<Ended> {
  const over = new AbortController();
  const telling = tellOn(job, jobs, tell, over.signal);
  try {
    return await jobs.wait(job.id, signal);
  } catch (error) {
    if (signal.aborted && !goesOnLater(signal.reason)) await jobs.kill(job.id, "its turn was stopped");
    throw error;
  } finally {
    over.abort(done);
    await telling;
  }
}

const done = "done";

async function tellOn(job: Job, jobs: Jobs, tell: (progress: string) => void, signal: AbortSignal): Promise<void> {
  let told: string | null = null;
  let seen = -1;
  for (let ms = firstTellMs; await rested(ms, signal); ms = tellEveryMs) {
    const { bytes, total } = await jobs.read(job.id, -tellBytes, tellBytes);
    if (total === seen || isBinary(bytes)) continue;
    seen = total;
    const line = lastLine(decoded(bytes, { front: true, back: true }), tellMax);
    if (line !== null && line !== told && !signal.aborted) tell(line);
    told = line;
  }
}

/** False when it is over. */
function rested(ms: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve(!signal.aborted);
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
  });
}
