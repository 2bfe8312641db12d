// The files whose content decides what a command does: scripts that it names, and what package runners read. An approval
// is for these as they are; when one changes before the command runs, it is asked again.

import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { relative } from "node:path";
import { scriptsOf } from "../danger/index.ts";

const bytesMax = 16 * 1024 * 1024;

/** The name and the digest of each that is there. */
export async function scriptDigests(
  command: string,
  cwd: string,
  userHome: string | null = null,
): Promise<readonly (readonly [string, string])[]> {
  const all = scriptsOf(command, cwd, userHome).map(async (path) => {
    const inside = relative(cwd, path);
    return [inside.startsWith("..") ? path : inside, await digestOf(path)] as const;
  });
  return (await Promise.all(all)).flatMap(([name, digest]) => (digest === null ? [] : [[name, digest] as const]));
}

async function digestOf(path: string): Promise<string | null> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return null;
    // A program of that size is no script; its size and age stand for it.
    if (found.size > bytesMax) return `${found.size}:${found.mtimeMs}`;
    return createHash("sha256")
      .update(await readFile(path))
      .digest("hex");
  } catch (error) {
    if (error instanceof Error && "code" in error) return null;
    throw error;
  }
}
