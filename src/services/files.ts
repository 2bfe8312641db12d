// The files of a service on the disk: written whole or not at all, compared, removed. A refusal by the system becomes a
// sentence that says what to do.

import { chmod, chown, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { randomUUID } from "node:crypto";
import { dirname } from "node:path";
import { Fault, sentenceOf } from "../core/fault.ts";
import type { Place, ServiceFile } from "./kinds.ts";

/** A supervisor that reads at this moment sees the old file or the new one. */
export async function writeWhole(file: ServiceFile): Promise<void> {
  const { path, text, mode } = file;
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(draft, text, { encoding: file.encoding ?? "utf8", flag: "wx" });
    // Whatever the umask of this process is.
    await chmod(draft, mode);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw refused("written", path, error);
  }
}

export async function removeFile(path: string): Promise<void> {
  try {
    await rm(path, { recursive: true, force: true });
  } catch (error) {
    throw refused("removed", path, error);
  }
}

/** What is there now; null where there is nothing. */
export async function readInstalled({ path, encoding }: ServiceFile): Promise<string | null> {
  try {
    return await readFile(path, encoding ?? "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return null;
    throw refused("read", path, error);
  }
}

/** What the administrator makes in somebody else's home belongs to its owner, or the gateway could not use it. */
export async function giveTo(path: string, owner: Place["user"]): Promise<void> {
  if (process.getuid?.() !== 0 || owner.uid === null || owner.uid === 0) return;
  await chown(path, owner.uid, -1);
}

export async function makeFolder(path: string, owner: Place["user"]): Promise<void> {
  try {
    const first = await mkdir(path, { recursive: true, mode: 0o700 });
    for (let made = path; first !== undefined && made.length >= first.length; made = dirname(made))
      await giveTo(made, owner);
  } catch (error) {
    throw refused("made", path, error);
  }
}

function refused(what: string, path: string, error: unknown): Fault {
  const code = codeOf(error);
  const todo =
    code === "EACCES" || code === "EPERM"
      ? "Run the command with sudo, or leave --system away for a service of your own."
      : "Mend that and try again.";
  return new Fault("not-possible", `${path} could not be ${what} (${sentenceOf(error)}). ${todo}`, error);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : null;
}
