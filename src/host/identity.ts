// Who a process is: its number, and when it began, because numbers are used again. Which life of the machine this is.
// And the file that tells others about the gateway of a home: written whole or not at all, read with tolerance.
// It is information, never a lock: whether a gateway lives is decided by the lock alone.

import { readFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { uptime } from "node:os";
import { setTimeout as pause } from "node:timers/promises";
import { replaceFile, replaceFileNow } from "./files/draft.ts";

export type ProcessIdentity = {
  readonly pid: number;
  /** Milliseconds from the start of the machine to the start of the process; null where the system does not tell. */
  readonly startTime: number | null;
};

export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, startTime: startTimeOf(process.pid) };
}

/** Null when there is no such process, when it is a zombie, or when the system does not tell. */
export function startTimeOf(pid: number): number | null {
  if (process.platform !== "linux") return null;
  return readStartTime(readOrNull(`/proc/${pid}/stat`) ?? "");
}

/** Field 22 of a line of /proc/<pid>/stat. The name in field 2 may itself hold spaces and parentheses. */
export function readStartTime(stat: string): number | null {
  const rest = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = rest[0];
  const ticks = Number(rest[19]);
  if (stat.lastIndexOf(")") < 0 || state === "Z" || state === "X" || !Number.isSafeInteger(ticks)) return null;
  return ticks * msPerTick;
}

// The kernel shows these times in hundredths of a second on every architecture that Node runs on.
const msPerTick = 10;

/** Whether exactly this process still lives; where start times are not known, whether one with its number does. */
export function isAlive({ pid, startTime }: ProcessIdentity): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 0) return false;
  if (process.platform === "linux") {
    const now = startTimeOf(pid);
    return now !== null && (startTime === null || startTime === now);
  }
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It lives, but belongs to somebody else.
    return codeOf(error) === "EPERM";
  }
}

/** One life of the machine. A death of the gateway across two of them accuses nobody. */
export function machineBootId(): string {
  const id = process.platform === "linux" ? readOrNull("/proc/sys/kernel/random/boot_id")?.trim() : undefined;
  return id === undefined || id === "" ? bootIdFrom(Date.now(), uptime()) : id;
}

/** The minute in which the machine started; the seconds drift with the clock. */
export function bootIdFrom(nowMs: number, uptimeSeconds: number): string {
  return `boot-${Math.round((nowMs - uptimeSeconds * 1_000) / 60_000)}`;
}

/** How one platform account stands. */
export type PlatformState = { readonly state: "connected" | "connecting" | "denied"; readonly why: string | null };

/** `gateway_state.json`; field names as other programs read them. */
export type StateFile = {
  readonly gateway_state: string;
  /** What its owner wants it to be, whatever it is now: running or stopped. */
  readonly desired_state: "running" | "stopped";
  readonly pid: number;
  /** As in ProcessIdentity. */
  readonly start_time: number | null;
  /** Turns that an agent works on. */
  readonly active_agents: number;
  /** It ends in order to begin again. */
  readonly restart_requested: boolean;
  /** Why it ends or ended, in words; null while nothing ends it. */
  readonly exit_reason: string | null;
  /** By `platform/account`. */
  readonly platforms: Readonly<Record<string, PlatformState>>;
  /** Where the control address is; null when it is not open. */
  readonly url: string | null;
  readonly version: string;
  /** ISO, in UTC. */
  readonly started_at: string | null;
  readonly updated_at: string;
};

/** What could be read; null for what is missing or of the wrong kind. */
export type ReadStateFile = { readonly [K in keyof StateFile]: StateFile[K] | null };

/** Replaced as a whole; see `replaceFile`. */
export function writeStateFile(path: string, state: StateFile): Promise<void> {
  return replaceFile(path, textOf(state));
}

/** The same at once, for who must be found before it does anything else. */
export function writeStateFileNow(path: string, state: StateFile): void {
  replaceFileNow(path, textOf(state));
}

/**
 * What the owner wants from now on; whatever else the file says stays. A gateway that was writing at this very moment puts
 * back what it had read, so it is looked at again.
 */
export async function writeDesiredState(path: string, desired: StateFile["desired_state"]): Promise<void> {
  for (let tries = 0; tries < 5; tries++) {
    const found = recordIn((await readText(path)) ?? "") ?? {};
    if (tries > 0 && found["desired_state"] === desired) return;
    await replaceFile(path, textOf({ ...found, desired_state: desired }));
    await pause(lookAgainMs);
  }
}

/** Longer than a gateway takes between reading the file and replacing it. */
const lookAgainMs = 20;

/** Why a gateway ended that could not say so itself; whatever else the file says stays. */
export async function writeExitReason(path: string, reason: string): Promise<void> {
  const found = recordIn((await readText(path)) ?? "") ?? {};
  await replaceFile(path, textOf({ ...found, exit_reason: reason }));
}

/** What a stop notes when it has used force. */
export const killedByStop = "a stop by `everturn` killed it, because it did not answer";

function textOf(state: object): string {
  return `${JSON.stringify(state, null, 2)}\n`;
}

/** Null when there is none or it cannot be understood at all. */
export async function readStateFile(path: string): Promise<ReadStateFile | null> {
  const text = await readText(path);
  return text === null ? null : parseStateFile(text);
}

async function readText(path: string): Promise<string | null> {
  try {
    const text = await readFile(path, "utf8");
    return text.length > mostText ? null : text;
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  }
}

const mostText = 65_536;

function recordIn(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

export function parseStateFile(text: string): ReadStateFile | null {
  const fields = recordIn(text);
  if (fields === null) return null;
  const words = (key: string) => wordsIn(fields[key]);
  const number = (key: string) => numberIn(fields[key]);
  const desired = words("desired_state");
  const restart = fields["restart_requested"];
  return {
    gateway_state: words("gateway_state"),
    desired_state: desired === "running" || desired === "stopped" ? desired : null,
    pid: number("pid"),
    start_time: number("start_time"),
    active_agents: number("active_agents"),
    restart_requested: typeof restart === "boolean" ? restart : null,
    exit_reason: words("exit_reason"),
    platforms: platformsIn(fields["platforms"]),
    url: words("url"),
    version: words("version"),
    started_at: words("started_at"),
    updated_at: words("updated_at"),
  };
}

function platformsIn(value: unknown): StateFile["platforms"] | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const known = Object.entries(value).flatMap(([name, one]: [string, unknown]) => {
    if (typeof one !== "object" || one === null || !("state" in one)) return [];
    if (one.state !== "connected" && one.state !== "connecting" && one.state !== "denied") return [];
    return [[name, { state: one.state, why: "why" in one ? wordsIn(one.why) : null }] as const];
  });
  return Object.fromEntries(known);
}

function wordsIn(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

function numberIn(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    // The process ended, or this system has no such file.
    if (codeOf(error) !== null) return null;
    throw error;
  }
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
