// Takes possession of a home folder: makes it, checks that it can be used, and holds its lock, so that one gateway at a
// time serves it. Who holds it otherwise is told from gateway_state.json; the lock itself is never read.

import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Paths } from "./config/paths.ts";
import { Fault, sentenceOf } from "./core/fault.ts";
import { isAlive, readStateFile } from "./host/identity.ts";
import { type Lock, acquireLock } from "./host/lock.ts";
import { checkGround } from "./host/place.ts";
import { when } from "./cli/print.ts";

export type HeldLock = Lock & { readonly type: "held" };

/** How long a take-over waits for the other one to end, which may drain as long as it is configured to. */
function patienceFor(drainMs: number): number {
  return Math.max(30_000, drainMs + 10_000);
}
const lookAgainMs = 2;

/** The answer is true when others may read what is in it. */
export function prepareHome(home: string): boolean {
  checkGround(home);
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK);
    return process.platform !== "win32" && (statSync(home).mode & 0o077) !== 0;
  } catch (error) {
    throw new Fault(
      "home-unusable",
      `The home folder ${home} cannot be used (${sentenceOf(error)}). Give this user the right to write there, or set EVERTURN_HOME to another folder.`,
      error,
    );
  }
}

export async function takeHome(paths: Paths, replace: boolean, drainMs: number): Promise<HeldLock> {
  const lock = acquireLock(paths.lock);
  if (lock.type === "held") return lock;
  const holder = await holderOf(paths);
  if (!replace) throw served(paths, holder, "");
  if (holder !== null && isAlive(holder)) endProcess(holder.pid);
  const patienceMs = patienceFor(drainMs);
  for (const until = Date.now() + patienceMs; Date.now() < until; await pause(lookAgainMs)) {
    const again = acquireLock(paths.lock);
    if (again.type === "held") return again;
  }
  throw served(paths, holder, ` It did not end within ${patienceMs / 1000} s.`);
}

type Holder = { readonly pid: number; readonly startTime: number | null; readonly since: string };

async function holderOf(paths: Paths): Promise<Holder | null> {
  const state = await readStateFile(paths.state);
  if (state === null || state.pid === null) return null;
  const startedAt = Date.parse(state.started_at ?? "");
  const since = Number.isNaN(startedAt) ? "" : `, since ${when(startedAt, Date.now())}`;
  return { pid: state.pid, startTime: state.start_time, since };
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return;
    throw new Fault("already-running", `The gateway with pid ${pid} cannot be ended (${sentenceOf(error)}).`, error);
  }
}

function served({ home }: Paths, holder: Holder | null, more: string): Fault {
  const who = holder === null ? "A gateway" : `A gateway (pid ${holder.pid}${holder.since})`;
  const todo = "`everturn gateway status` shows it. Stop it first, or take over with `everturn gateway run --replace`.";
  return new Fault("already-running", `${who} already serves ${home}.${more} ${todo}`);
}
