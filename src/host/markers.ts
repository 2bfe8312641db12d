// Markers: small files by which another process says to a gateway, by name, that its end is wanted (planned stop) or
// that it goes on with its work (take-over). Written whole or not at all, for the owner only; read with tolerance.
// Whether a marker means this process is decided by identity and age, never by its mere presence.

import { readFileSync, statSync } from "node:fs";
import { readFile, rename, rm, stat } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { sentenceOf } from "../core/fault.ts";
import { replaceFile } from "./files/draft.ts";
import type { ProcessIdentity } from "./identity.ts";

export type MarkerFiles = { readonly plannedStop: string; readonly takeOver: string };
export type MarkerKind = keyof MarkerFiles;
/** In the order in which they are asked. */
export const markerKinds: readonly MarkerKind[] = ["takeOver", "plannedStop"];

/** Whom it is for, who wrote it, when; field names as other programs read them. */
export type Marker = {
  readonly target_pid: number;
  /** As in ProcessIdentity; null where the writer did not know it. */
  readonly target_start_time: number | null;
  /** Who wants the stop, or who takes over. */
  readonly stopper_pid?: number;
  readonly replacer_pid?: number;
  /** ISO, in UTC; null where the writer left it out. */
  readonly written_at: string | null;
};

/** What lies at the path of a marker. */
export type Found =
  | { readonly type: "absent" }
  /** Cannot be read, is half a file, or none of ours. `modifiedAt` is null when not even that is known. */
  | {
      readonly type: "unreadable";
      readonly why: string;
      readonly text: string | null;
      readonly modifiedAt: number | null;
    }
  | { readonly type: "found"; readonly marker: Marker; readonly content: unknown; readonly modifiedAt: number };

/** `stale`: of no use to anybody any more, to be removed. */
export type Judgement = "self" | "other" | "stale" | "unreadable" | "absent";

/** A marker that does not name both number and start time is believed no longer than this. */
const markerAgeMaxMs = 60_000;

/**
 * Whom a marker means. Number and start time together are proof at any age. A number alone may have been given to
 * another process since, so it counts only while the marker is young; one from the future was written by another clock.
 */
export function judgeMarker(found: Found, self: ProcessIdentity, now: number): Judgement {
  if (found.type === "absent") return "absent";
  if (found.type === "unreadable") return isOld(found.modifiedAt, now) ? "stale" : "unreadable";
  const { target_pid: pid, target_start_time: startTime, written_at: writtenAt } = found.marker;
  const comparable = startTime !== null && self.startTime !== null;
  if (pid === self.pid && comparable && startTime === self.startTime) return "self";
  const written = writtenAt === null ? found.modifiedAt : Date.parse(writtenAt);
  if (isOld(written, now)) return "stale";
  return pid === self.pid && !comparable ? "self" : "other";
}

function isOld(at: number | null, now: number): boolean {
  return at !== null && Math.abs(now - at) > markerAgeMaxMs;
}

/** A marker for this target, as the given process writes it. */
export function newMarker(kind: MarkerKind, target: ProcessIdentity, writer: number, now: number): Marker {
  return {
    target_pid: target.pid,
    target_start_time: target.startTime,
    ...(kind === "plannedStop" ? { stopper_pid: writer } : { replacer_pid: writer }),
    written_at: new Date(now).toISOString(),
  };
}

/** Replaced as a whole; see `replaceFile`. */
export function writeMarker(path: string, marker: Marker): Promise<void> {
  return replaceFile(path, `${JSON.stringify(marker)}\n`);
}

/** Never rejects: what cannot be read is an answer. */
export async function readMarker(path: string): Promise<Found> {
  try {
    const facts = await stat(path);
    const refused = refusal(facts);
    return refused ?? parseMarker(await readFile(path, "utf8"), facts.mtimeMs);
  } catch (error) {
    return notRead(error);
  }
}

/** The same at once, for the moment of a signal. */
export function readMarkerNow(path: string): Found {
  try {
    const facts = statSync(path);
    const refused = refusal(facts);
    return refused ?? parseMarker(readFileSync(path, "utf8"), facts.mtimeMs);
  } catch (error) {
    return notRead(error);
  }
}

export async function removeMarker(path: string): Promise<void> {
  await rm(path, { force: true });
}

/**
 * Removes a marker that was judged stale, but not one that was put there since: it is moved aside and looked at again,
 * and moved back if it turns out to be another one.
 */
export async function removeStale(path: string, self: ProcessIdentity, now: number): Promise<void> {
  const aside = `${path}.${process.pid}.${randomUUID()}.tmp`;
  try {
    await rename(path, aside);
  } catch (error) {
    // Somebody else was faster.
    if (codeOf(error) === "ENOENT") return;
    throw error;
  }
  if (judgeMarker(await readMarker(aside), self, now) === "stale") await rm(aside, { force: true });
  else await rename(aside, path);
}

/** Which marker names this process now; a take-over wins, because its work goes on elsewhere. */
export function announcedNow(files: MarkerFiles, self: ProcessIdentity, now: number): MarkerKind | null {
  return markerKinds.find((kind) => judgeMarker(readMarkerNow(files[kind]), self, now) === "self") ?? null;
}

const mostBytes = 65_536;

/** A pipe in its place would never end, and a folder is not ours to remove at any age. */
function refusal(facts: { isFile(): boolean; size: number; mtimeMs: number }): Found | null {
  if (!facts.isFile()) return { type: "unreadable", why: "it is not a file", text: null, modifiedAt: null };
  if (facts.size <= mostBytes) return null;
  return { type: "unreadable", why: `it holds ${facts.size} bytes`, text: null, modifiedAt: facts.mtimeMs };
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : null;
}

function notRead(error: unknown): Found {
  if (codeOf(error) === "ENOENT") return { type: "absent" };
  return { type: "unreadable", why: sentenceOf(error), text: null, modifiedAt: null };
}

export function parseMarker(text: string, modifiedAt: number): Found {
  const unreadable = (why: string): Found => ({ type: "unreadable", why, text, modifiedAt });
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return unreadable("it is not JSON, or only half of it");
    throw error;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return unreadable("it is not a record");
  const fields = new Map<string, unknown>(Object.entries(value));
  const pid = fields.get("target_pid");
  const startTime = fields.get("target_start_time") ?? null;
  const writtenAt = fields.get("written_at") ?? null;
  if (!isCount(pid) || pid === 0) return unreadable("target_pid is not the number of a process");
  if (startTime !== null && !isCount(startTime)) return unreadable("target_start_time is not a time");
  if (writtenAt !== null && (typeof writtenAt !== "string" || Number.isNaN(Date.parse(writtenAt))))
    return unreadable("written_at is not a time");
  const marker: Marker = {
    target_pid: pid,
    target_start_time: startTime,
    ...writer(fields, "stopper_pid"),
    ...writer(fields, "replacer_pid"),
    written_at: writtenAt,
  };
  return { type: "found", marker, content: value, modifiedAt };
}

function writer(fields: ReadonlyMap<string, unknown>, key: "stopper_pid" | "replacer_pid"): Record<string, number> {
  const pid = fields.get(key);
  return isCount(pid) ? { [key]: pid } : {};
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}
