// Takes possession of a home folder: makes it, checks that it can be used, and holds its lock, so that one gateway at a
// time serves it. Who holds it otherwise is told from gateway_state.json; the lock itself is never read.

import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Paths } from "./config/paths.ts";
import { Fault, sentenceOf } from "./core/fault.ts";
import { isAlive, readStateFile } from "./host/identity.ts";
import { type Lock, tryLock } from "./host/lock.ts";
import { checkGround } from "./host/place.ts";
import { when } from "./cli/print.ts";

export type HeldLock = Lock & { readonly type: "held" };

/** `at-once`: whoever serves keeps it. `after`: it is about to be given up. `instead`: whoever serves is asked to end. */
export type Claim = {
  readonly type: "at-once" | "after" | "instead";
  readonly patienceMs: number;
  /** For a successor: whom it was to follow is no more. Then the home is free, or another one was faster and keeps it. */
  isLeft?(): boolean;
};

/** Between two looks at the lock, which cost next to nothing; between two looks at who holds it. */
const lookAgainMs = 1;
const askAgainMs = 50;
/** Who only looks whether the home is served holds the lock for a moment; that is no gateway. */
const passerByMs = 250;

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

export type Taken = {
  readonly lock: HeldLock;
  /** Somebody else had it when we came. */
  readonly hadHolder: boolean;
};

export async function takeHome(paths: Paths, claim: Claim): Promise<Taken> {
  const attempt = tryLock(paths.lock);
  const first = attempt.take();
  if (first.type === "held") return { lock: first, hadHolder: false };
  const endings = claim.type === "instead" ? replacing(paths, claim.patienceMs) : null;
  const waitMs = claim.type === "at-once" ? passerByMs : claim.patienceMs + (endings === null ? 0 : afterForceMs);
  let until = Date.now() + waitMs;
  let isLeft = false;
  for (; Date.now() < until; await pause(lookAgainMs)) {
    const lock = attempt.take();
    if (lock.type === "held") return { lock, hadHolder: true };
    await endings?.look();
    if (isLeft || claim.isLeft?.() !== true) continue;
    isLeft = true;
    until = Math.min(until, Date.now() + passerByMs);
  }
  attempt.giveUp();
  const late = claim.type === "at-once" || isLeft ? "" : ` It did not end within ${waitMs / 1000} s.`;
  throw served(paths, await holderOf(paths), late);
}

/** Force comes when the patience is over, and the system then needs a moment. */
const afterForceMs = 5_000;

/**
 * Ends whoever holds the home, each holder once: the marker that says another one goes on with its work, the request,
 * patience, force. Who has only just taken the lock has not yet written who it is, so one looks again.
 */
function replacing(paths: Paths, patienceMs: number): { look(): Promise<void> } {
  const asked = new Set<string>();
  let nextLook = 0;
  return {
    async look() {
      if (Date.now() < nextLook) return;
      nextLook = Date.now() + askAgainMs;
      const target = await holderOf(paths);
      const name = `${target?.pid} ${target?.startTime}`;
      if (target === null || target.pid === process.pid || asked.has(name) || !isAlive(target)) return;
      asked.add(name);
      const { endGateway, meansFor } = await import("./host/ending.ts");
      const { newMarker, writeMarker } = await import("./host/markers.ts");
      void endGateway({
        target,
        patienceMs,
        ...meansFor(process.platform, target),
        // Who serves by now is found at the next look.
        isStill: async () => ((await holderOf(paths))?.pid ?? target.pid) === target.pid,
        writeMarker: () => writeMarker(paths.takeOver, newMarker("takeOver", target, process.pid, Date.now())),
      });
    },
  };
}

type Holder = { readonly pid: number; readonly startTime: number | null; readonly since: string };

async function holderOf(paths: Paths): Promise<Holder | null> {
  const state = await readStateFile(paths.state);
  if (state === null || state.pid === null) return null;
  const startedAt = Date.parse(state.started_at ?? "");
  const since = Number.isNaN(startedAt) ? "" : `, since ${when(startedAt, Date.now())}`;
  return { pid: state.pid, startTime: state.start_time, since };
}

function served({ home }: Paths, holder: Holder | null, more: string): Fault {
  const who = holder === null ? "A gateway" : `A gateway (pid ${holder.pid}${holder.since})`;
  const todo = "`everturn gateway status` shows it. Stop it first, or take over with `everturn gateway run --replace`.";
  return new Fault("already-running", `${who} already serves ${home}.${more} ${todo}`);
}
