// The folder of one job: what is to be done (`job.json`), who may do it (`claim`), the group it runs in (`group`) and who
// left that (`strays`), why somebody ended it (`asked`), and how it ended (`exit.json`). Files are read with tolerance;
// what decides is on the disk before anybody relies on it.

import { createHash, randomUUID } from "node:crypto";
import { open, link, copyFile, mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { constants } from "node:fs";
import { uptime } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { JobEnd, JobSpec } from "../../ports/jobs.ts";
import { type ProcessIdentity, isAlive } from "../identity.ts";

/** Short enough to be typed, long enough to be the only one. */
export function jobId(key: string): string {
  return createHash("sha256").update(key).digest("hex").slice(0, 12);
}

export function isJobId(text: string): boolean {
  return /^[0-9a-f]{12}$/.test(text);
}

export type JobFile = Omit<JobSpec, "env"> & {
  readonly id: string;
  readonly startedAt: number;
};

export type Claim =
  /** Nobody has it. */
  | { readonly type: "free" }
  /** Nobody may have it any more. */
  | { readonly type: "void" }
  | {
      readonly type: "held";
      readonly holder: ProcessIdentity;
      /** When it was made; null where that is not said. */
      readonly at: number | null;
    }
  /** It cannot be read; whoever made it died at that very moment. */
  | { readonly type: "unreadable" };

/** On the disk with its folder when it resolves. */
export async function writeJob(folder: string, job: JobFile): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `job.${randomUUID()}`);
  await writeSynced(draft, JSON.stringify(job));
  await rename(draft, join(folder, "job.json"));
  await syncFolder(folder);
  await syncFolder(join(folder, ".."));
}

export async function readJob(folder: string): Promise<JobFile | null> {
  const found = await readRecord(join(folder, "job.json"));
  if (found === null || typeof found["key"] !== "string" || typeof found["id"] !== "string") return null;
  return found as unknown as JobFile;
}

/** For who reads it while it is made on a file system without links. */
const fillMs = 500;
const lookAgainMs = 10;

export async function readClaim(folder: string): Promise<Claim> {
  const path = join(folder, "claim");
  for (const until = performance.now() + fillMs; ; await pause(lookAgainMs)) {
    const found = await readRecord(path);
    if (found?.["by"] === "nobody") return { type: "void" };
    const { pid, startTime, at } = found ?? {};
    if (typeof pid === "number")
      return { type: "held", holder: { pid, startTime: numberOr(startTime) }, at: numberOr(at) };
    if (!(await isThere(path))) return { type: "free" };
    if (performance.now() > until) return { type: "unreadable" };
  }
}

/** Takes the claim for nobody, so that no holder can take it later; the claim as it is then. */
export async function voidClaim(folder: string): Promise<Claim> {
  const draft = join(folder, `void.${randomUUID()}`);
  await writeSynced(draft, JSON.stringify({ by: "nobody" }));
  try {
    await link(draft, join(folder, "claim"));
  } catch (error) {
    if (codeOf(error) !== "EEXIST")
      await copyFile(draft, join(folder, "claim"), constants.COPYFILE_EXCL).catch((again: unknown) => {
        if (codeOf(again) !== "EEXIST") throw again;
      });
  } finally {
    await rm(draft, { force: true });
  }
  await syncFolder(folder);
  return readClaim(folder);
}

export async function readEnd(folder: string): Promise<JobEnd | null> {
  const found = await readRecord(join(folder, "exit.json"));
  if (found === null || typeof found["how"] !== "string") return null;
  const end = found as unknown as JobEnd;
  return end.how === "killed" && end.why === null ? { ...end, why: await readAsked(folder) } : end;
}

/** Why it is about to be ended; the first word stays. */
export async function writeAsked(folder: string, why: string): Promise<void> {
  try {
    await writeFile(join(folder, "asked"), why, { flag: "wx", mode: 0o600 });
  } catch (error) {
    // Somebody said so before, or there is no room for a reason.
    if (codeOf(error) === null) throw error;
  }
}

export async function readAsked(folder: string): Promise<string | null> {
  const text = await readText(join(folder, "asked"));
  return text === null || text === "" ? null : text;
}

/** The first process of the command; what is left of its group has its number. */
export async function readGroup(folder: string): Promise<ProcessIdentity | null> {
  const { pid, startTime } = (await readRecord(join(folder, "group"))) ?? {};
  if (typeof pid !== "number" || pid <= 1) return null;
  return { pid, startTime: numberOr(startTime) };
}

/** Those who had left the group when the holder last looked. Without its start a number proves nothing. */
export async function readStrays(folder: string): Promise<readonly ProcessIdentity[]> {
  const { strays } = (await readRecord(join(folder, "strays"))) ?? {};
  return (Array.isArray(strays) ? (strays as readonly unknown[]) : []).flatMap((one) => {
    const { pid, startTime } = { ...(one as object | null) } as Readonly<Record<string, unknown>>;
    return typeof pid === "number" && pid > 1 && typeof startTime === "number" ? [{ pid, startTime }] : [];
  });
}

/** Whether somebody still sees to it. */
export async function isHeld(folder: string): Promise<boolean> {
  const claim = await readClaim(folder);
  return claim.type === "held" && lives(claim);
}

/** The clock may have been set right since the machine started. */
const clockMs = 60_000;

/**
 * Whether its holder lives. Where the system does not tell when a process began, one that is older than the machine's own
 * start is not it, whoever has its number now.
 */
export function lives(
  { holder, at }: Extract<Claim, { type: "held" }>,
  machineStart: number = Date.now() - uptime() * 1_000,
): boolean {
  if (holder.startTime === null && at !== null && at < machineStart - clockMs) return false;
  return isAlive(holder);
}

/** Moved away first, so that nobody finds half of it. */
export async function removeFolder(folder: string): Promise<void> {
  const away = `${folder}.${randomUUID()}.gone`;
  try {
    await rename(folder, away);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    throw error;
  }
  await rm(away, { recursive: true, force: true });
}

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function syncFolder(folder: string): Promise<void> {
  // Windows knows no such thing.
  if (process.platform === "win32") return;
  const file = await open(folder, "r");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

async function isThere(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
}

async function readRecord(path: string): Promise<Readonly<Record<string, unknown>> | null> {
  const text = await readText(path);
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

async function readText(path: string): Promise<string | null> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if (codeOf(error) !== null) return null;
    throw error;
  }
}

function numberOr(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function codeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}
