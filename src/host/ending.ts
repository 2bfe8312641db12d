// How anybody outside ends a running gateway, the same way on every system: the marker first, because it says that the
// end is wanted; then the request; then patience until exactly this process is gone; force only after that.
// Time, the look at the process and the request come in from outside. Nothing that fails on the way ends the waiting.

import { setTimeout as pause } from "node:timers/promises";
import { sentenceOf } from "../core/fault.ts";
import { type Run, run as runProgram } from "./command.ts";
import { type ProcessIdentity, isAlive } from "./identity.ts";

/** The outside world of an ending. */
export type Lookout = {
  isAlive(target: ProcessIdentity): boolean;
  /** Milliseconds of a clock that never goes back. */
  now(): number;
  sleep(ms: number): Promise<void>;
};

export type EndRequest = {
  readonly target: ProcessIdentity;
  /** How long it may take to end by itself; see `patienceFor`. */
  readonly patienceMs: number;
  /** Says that the end is wanted, before anything else is done. */
  writeMarker(): Promise<void>;
  /** Asked after the marker: false when another process serves by now, whom the marker does not name. */
  isStill?(): Promise<boolean>;
  /** A signal, or a supervisor's command, which may last as long as the stop; null where the marker alone asks. */
  readonly ask: (() => void | Promise<void>) | null;
  /** Ends it without its consent; null when that is not wanted. */
  readonly force: (() => void | Promise<void>) | null;
  /** After each look at it. */
  onTick?(waitedMs: number): void;
  /** What went wrong without ending the attempt, as a sentence. */
  onTrouble?(what: string): void;
};

export type Ended =
  /** There is no such process; nothing was written or asked. */
  | { readonly type: "absent" }
  /** It has handed over meanwhile: the marker is in vain, and whatever else was asked of it would reach another. */
  | { readonly type: "moved" }
  | { readonly type: "ended"; readonly waitedMs: number }
  | { readonly type: "forced"; readonly waitedMs: number }
  /** It still lives. */
  | { readonly type: "survived"; readonly waitedMs: number };

/** How long a gateway may take to end by itself before it is forced, in milliseconds. */
export function patienceFor(drainSeconds: number): number {
  return Math.max(30_000, (drainSeconds + 10) * 1_000);
}

/** Between two looks: the end must be noticed long before a person does. */
const lookAgainMs = 10;
/** After force, for the system to take the process away. */
const afterForceMs = 5_000;
/** After the end, for a supervisor's command to return. */
const lastWordMs = 1_000;

export const systemLookout: Lookout = {
  isAlive,
  now: () => performance.now(),
  sleep: (ms) => pause(ms),
};

function isProcessNumber(pid: number): boolean {
  // 0 and negative numbers are groups of processes to the system, our own among them.
  return Number.isSafeInteger(pid) && pid > 0;
}

/** True as soon as the process is gone; false when it outlives the patience, or when its number is none. */
export async function waitForEnd(
  target: ProcessIdentity,
  patienceMs: number,
  lookout: Lookout = systemLookout,
  onTick: (waitedMs: number) => void = () => undefined,
): Promise<boolean> {
  if (!isProcessNumber(target.pid)) return false;
  const begun = lookout.now();
  for (;;) {
    if (!lookout.isAlive(target)) return true;
    const waitedMs = lookout.now() - begun;
    if (waitedMs >= patienceMs) return false;
    onTick(waitedMs);
    await lookout.sleep(Math.min(lookAgainMs, patienceMs - waitedMs));
  }
}

export async function endGateway(request: EndRequest, lookout: Lookout = systemLookout): Promise<Ended> {
  const { target, patienceMs, force } = request;
  if (!isProcessNumber(target.pid) || !lookout.isAlive(target)) return { type: "absent" };
  const begun = lookout.now();
  const waitedMs = () => lookout.now() - begun;
  const attempt = async (what: string, work: () => void | Promise<void>) => {
    try {
      await work();
    } catch (error) {
      request.onTrouble?.(`${what} (${sentenceOf(error)})`);
    }
  };
  const who = `the gateway with pid ${target.pid}`;

  await attempt(`the marker for ${who} could not be written`, () => request.writeMarker());
  let isMoved = false;
  await attempt(`who serves after ${who} could not be found out`, async () => {
    isMoved = (await request.isStill?.()) === false;
  });
  if (isMoved) return { type: "moved" };
  // Not awaited: a supervisor's command returns when the stop is over, and the process itself is what counts.
  let isAsked = false;
  void attempt(`${who} could not be asked to stop`, () => request.ask?.()).then(() => (isAsked = true));
  if (await waitForEnd(target, patienceMs, lookout, request.onTick)) {
    const ended = { type: "ended", waitedMs: waitedMs() } as const;
    // What the command still has to say is worth hearing, but not worth waiting for.
    for (const until = lookout.now() + lastWordMs; !isAsked && lookout.now() < until; )
      await lookout.sleep(lookAgainMs);
    return ended;
  }
  if (force === null) return { type: "survived", waitedMs: waitedMs() };
  await attempt(`${who} could not be ended by force`, force);
  const isGone = await waitForEnd(target, afterForceMs, lookout);
  return { type: isGone ? "forced" : "survived", waitedMs: waitedMs() };
}

/** How to ask and how to force where no supervisor is in charge. Windows has no signal that a process could hear. */
export function meansFor(
  platform: NodeJS.Platform,
  { pid }: ProcessIdentity,
  run: Run = runProgram,
  kill: (pid: number, signal: NodeJS.Signals) => void = (one, signal) => void process.kill(one, signal),
): Pick<EndRequest, "ask" | "force"> {
  if (platform === "win32") return { ask: null, force: () => killTree(pid, run) };
  return { ask: () => send(pid, "SIGTERM", kill), force: () => send(pid, "SIGKILL", kill) };
}

const programMs = 30_000;

/** With everything it started; where the system cannot do that, the process alone. */
export async function killTree(pid: number, run: Run = runProgram): Promise<void> {
  const number = ["/PID", String(pid)];
  const tree = await run("taskkill", ["/T", "/F", ...number], programMs);
  if (tree.code === 0) return;
  // What it started is in its job object, as a rule, and goes with it.
  const alone = await run("taskkill", ["/F", ...number], programMs);
  if (alone.code !== 0) throw new Error(`taskkill: ${alone.err.trim() || alone.out.trim()}`);
}

function send(pid: number, signal: NodeJS.Signals, kill: (pid: number, signal: NodeJS.Signals) => void): void {
  try {
    kill(pid, signal);
  } catch (error) {
    // It ended in between, which is what was wanted.
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return;
    throw error;
  }
}
