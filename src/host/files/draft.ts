// A file that others read is replaced as a whole: written beside its place and moved there, so that a reader sees the old
// one or the new one, never half of one. For the owner only. A draft that could not be moved does not stay.

import { randomUUID } from "node:crypto";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import { Fault, sentenceOf } from "../../core/fault.ts";

/** Not forced to the disk: after a power cut nothing that is written this way is true any more. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const draft = draftOf(path);
  try {
    await writeFile(draft, text, forOwner);
    await moveInto(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw notWritten(path, error);
  }
}

/** The same at once, for who must be found before it does anything else. */
export function replaceFileNow(path: string, text: string): void {
  const draft = draftOf(path);
  try {
    writeFileSync(draft, text, forOwner);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw notWritten(path, error);
  }
}

const forOwner = { mode: 0o600, flag: "wx" } as const;

function draftOf(path: string): string {
  return `${path}.${process.pid}.${randomUUID()}.tmp`;
}

function notWritten(path: string, error: unknown): Fault {
  const todo = "check that the folder has room and belongs to this user";
  return new Fault("home-unusable", `${path} could not be written (${sentenceOf(error)}); ${todo}.`, error);
}

/**
 * Windows refuses to replace a file that somebody has open, a scanner for example, and allows it a moment later.
 * Elsewhere a refusal is final.
 */
export async function moveInto(
  draft: string,
  path: string,
  system: NodeJS.Platform = process.platform,
  parts = { move: rename, wait: (ms: number) => pause(ms) },
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await parts.move(draft, path);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : null;
      const isOpenElsewhere = code === "EPERM" || code === "EACCES" || code === "EBUSY";
      if (system !== "win32" || !isOpenElsewhere || tries === moveTries) throw error;
    }
    await parts.wait(moveAgainMs);
  }
}

const moveTries = 20;
const moveAgainMs = 10;
