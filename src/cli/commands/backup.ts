// `everturn backup`: a copy of the store in one new file, and of the files of conversations in a folder beside it, with or
// without a running gateway. The copy gets its name only after it was read back from end to end, so a file with that name is
// always whole.

import { chmodSync, existsSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { Fault, sentenceOf } from "../../core/fault.ts";
import { type Context, pathsOf, show } from "../context.ts";
import { type Copied, copiedText, copyOut, folderOf } from "../copies/files.ts";
import { many, sizeText } from "../print.ts";

export async function backup(context: Context): Promise<number> {
  const { store, home, files } = pathsOf(context);
  const file = resolve(context.given[0] ?? "");
  refuse(store, home, file);
  const draft = `${file}.partial-${process.pid}`;
  try {
    await context.doors.copyStore(store, draft);
    if (process.platform !== "win32") chmodSync(draft, 0o600);
    const copy = await context.doors.readCopy(draft);
    if (copy.fault !== null)
      throw new Fault(
        "store-failed",
        `The copy of ${store} is not whole (${copy.fault}) and was thrown away. Check the disk.`,
      );
    // After the store: whatever a message names was on the disk before the message was stored.
    const copied = await copyOut(files, folderOf(file));
    await giveName(draft, file, copied);
    const bytes = statSync(file).size;
    const { openTurns, openItems } = copy;
    return show(context, { file, bytes, openTurns, openItems, files: copied }, () =>
      [
        `${file}: ${sizeText(bytes)}, read back and whole; ${many(openTurns, "unfinished turn")} and ${many(openItems, "unsent message")} in it.`,
        ...copiedText(copied),
      ].join("\n"),
    );
  } finally {
    for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(`${draft}${end}`, { force: true });
  }
}

function refuse(store: string, home: string, file: string): void {
  if (!existsSync(store))
    throw new Fault("not-found", `There is no store in ${home} yet, so there is nothing to copy.`);
  for (const one of [file, folderOf(file)]) if (existsSync(one)) throw exists(one);
  if (!existsSync(dirname(file)))
    throw new Fault("not-found", `The folder ${dirname(file)} does not exist. Make it first.`);
}

/** A link fails where the name is taken meanwhile; a rename would overwrite. */
async function giveName(draft: string, file: string, { folder }: Copied): Promise<void> {
  try {
    linkSync(draft, file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") {
      // The folder alone would be no backup.
      if (folder !== null) await rm(folder, { recursive: true, force: true });
      throw exists(file);
    }
    // Some file systems have no links.
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS")
      throw new Fault("store-failed", `${file} could not be written: ${sentenceOf(error)}`, error);
    renameSync(draft, file);
  }
}

function exists(file: string): Fault {
  return new Fault("not-possible", `${file} already exists; a backup never overwrites. Choose another name.`);
}
