// What is known about the moment a stop was asked: its shape, its line in the log, its stored form. And whether the
// supervisor gives a stop the time it may take. Pure; who looks at the machine is `host/forensics`.

import { sentenceOf } from "./fault.ts";

/** Field names as they stand in the log and in the store. */
export type Snapshot = {
  readonly signal: string;
  readonly signal_num: number | null;
  readonly pid: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonic: number;
  readonly parent: ParentFacts;
  readonly under_systemd: boolean;
  readonly systemd_invocation_id: string | null;
  readonly loadavg_1m: number | null;
  /** Who debugs this process; 0 is nobody, null where the system does not tell. */
  readonly tracer_pid: number | null;
  readonly planned_stop_marker: MarkerFacts | null;
  readonly takeover_marker: MarkerFacts | null;
  /** What could not be looked at, and why. */
  readonly unknown: readonly string[];
};

export type ParentFacts = {
  readonly pid: number;
  /** Null where the system does not tell. */
  readonly name: string | null;
  readonly cmdline: string | null;
};

export type MarkerFacts = {
  /** What the file holds, as data where it is JSON, else as text. */
  readonly content: unknown;
  readonly for_self: boolean;
};

// ---------------------------------------------------------------------------------------------------------- signals

/** The numbers that mean the same on every POSIX system; a caller who knows the others gives its own table. */
const everywhere: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGILL: 4,
  SIGTRAP: 5,
  SIGABRT: 6,
  SIGFPE: 8,
  SIGKILL: 9,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGALRM: 14,
  SIGTERM: 15,
};

/** A name for whatever is known about a signal. */
export function signalName(signal: unknown, numbers: Readonly<Record<string, number>> = everywhere): string {
  if (signal === null || signal === undefined) return "UNKNOWN";
  if (typeof signal !== "number") return textOf(signal);
  return Object.entries(numbers).find(([, number]) => number === signal)?.[0] ?? `signal#${signal}`;
}

export function signalNumber(signal: unknown, numbers: Readonly<Record<string, number>> = everywhere): number | null {
  if (typeof signal === "number") return signal;
  return typeof signal === "string" && Object.hasOwn(numbers, signal) ? (numbers[signal] ?? null) : null;
}

// ------------------------------------------------------------------------------------------------------------- log

/** One line to be scanned by eye; the command line of the parent comes last, because it may hold anything. */
export function toLogLine(snapshot: Snapshot): string {
  const { parent } = snapshot;
  const pairs: readonly (readonly [string, string | number | boolean | null])[] = [
    ["signal", snapshot.signal],
    ["signal_num", snapshot.signal_num],
    ["pid", snapshot.pid],
    ["parent_pid", parent.pid],
    ["parent_name", parent.name],
    ["under_systemd", snapshot.under_systemd],
    ["systemd_invocation_id", snapshot.systemd_invocation_id],
    ["loadavg_1m", snapshot.loadavg_1m],
    ["tracer_pid", snapshot.tracer_pid],
    ["planned_stop_marker", whose(snapshot.planned_stop_marker)],
    ["takeover_marker", whose(snapshot.takeover_marker)],
    ["unknown", snapshot.unknown.length === 0 ? null : snapshot.unknown.join("; ")],
  ];
  const known = pairs.flatMap(([key, value]) => (value === null ? [] : [`${key}=${word(String(value))}`]));
  return [...known, `parent_cmdline=${oneLine(parent.cmdline ?? "?")}`].join(" ");
}

function whose(marker: MarkerFacts | null): string | null {
  return marker === null ? null : marker.for_self ? "self" : "other";
}

/** Quoted where it would not be read as one word. */
function word(text: string): string {
  return /^[^\s"=]+$/.test(text) ? oneLine(text) : JSON.stringify(oneLine(text));
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
}

function textOf(value: unknown): string {
  try {
    return value instanceof Error ? sentenceOf(value) : String(value);
  } catch (error) {
    return `[unreadable ${error instanceof Error ? error.name : typeof value}]`;
  }
}

// ----------------------------------------------------------------------------------------------- time for a stop

/** The units in which systemd shows a length of time, in microseconds; months and years as it counts them. */
const units: Readonly<Record<string, number>> = {
  us: 1,
  ms: 1_000,
  s: 1_000_000,
  min: 60_000_000,
  h: 3_600_000_000,
  d: 86_400_000_000,
  w: 604_800_000_000,
  month: 2_629_800_000_000,
  y: 31_557_600_000_000,
};

/** Microseconds of a length of time as systemd shows it, `1min 30s`; null for anything else. */
export function parseDuration(text: string): number | null {
  const whole = text.trim();
  if (whole === "infinity") return Number.POSITIVE_INFINITY;
  if (whole === "0") return 0;
  if (!/^(?:\d+(?:\.\d+)?[a-z]+\s*)+$/.test(whole)) return null;
  let sum = 0;
  for (const [, amount, unit = ""] of whole.matchAll(/(\d+(?:\.\d+)?)([a-z]+)/g)) {
    const size = Object.hasOwn(units, unit) ? units[unit] : undefined;
    if (size === undefined) return null;
    sum += Number(amount) * size;
  }
  return Math.round(sum);
}

/** What a stop needs beyond its drain: notices, parking, closing, and slow disks. */
const headroomSeconds = 30;

export type StopTiming = {
  readonly timeoutSeconds: number;
  readonly neededSeconds: number;
  /** The supervisor would kill in the middle of a stop. */
  readonly mismatch: boolean;
  /** For people; null when all is well. */
  readonly warning: string | null;
};

/** Whether the supervisor's patience covers the drain. */
export function stopTiming(timeoutUs: number, drainSeconds: number): StopTiming {
  const timeoutSeconds = timeoutUs / 1_000_000;
  const neededSeconds = drainSeconds + headroomSeconds;
  const mismatch = timeoutSeconds < neededSeconds;
  const warning =
    `The service gives a stop ${timeoutSeconds} s, but with gateway.drainSeconds at ${drainSeconds} it may take ` +
    `${neededSeconds} s: systemd would kill the gateway in the middle of it. Run \`everturn gateway install --force\` ` +
    "to write the unit anew, or set a smaller `gateway.drainSeconds`.";
  return { timeoutSeconds, neededSeconds, mismatch, warning: mismatch ? warning : null };
}
