// `everturn backup`: a copy of the store in one new file, with or without a running gateway. The copy gets its name only
// after it was read back from end to end, so a file with that name is always whole.

import { chmodSync, existsSync, linkSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { Fault, sentenceOf } from "../../core/fault.ts";
import { type Context, pathsOf, show } from "../context.ts";
import { many, sizeText } from "../print.ts";

export async function backup(context: Context): Promise<number> {
  const { store, home } = pathsOf(context);
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
    giveName(draft, file);
    const bytes = statSync(file).size;
    const { openTurns, openItems } = copy;
    return show(
      context,
      { file, bytes, openTurns, openItems },
      () =>
        `${file}: ${sizeText(bytes)}, read back and whole; ${many(openTurns, "unfinished turn")} and ${many(openItems, "unsent message")} in it.`,
    );
  } finally {
    for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(`${draft}${end}`, { force: true });
  }
}

function refuse(store: string, home: string, file: string): void {
  if (!existsSync(store))
    throw new Fault("not-found", `There is no store in ${home} yet, so there is nothing to copy.`);
  if (existsSync(file)) throw exists(file);
  if (!existsSync(dirname(file)))
    throw new Fault("not-found", `The folder ${dirname(file)} does not exist. Make it first.`);
}

/** A link fails where the name is taken meanwhile; a rename would overwrite. */
function giveName(draft: string, file: string): void {
  try {
    linkSync(draft, file);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") throw exists(file);
    // Some file systems have no links.
    if (code !== "EPERM" && code !== "ENOTSUP" && code !== "ENOSYS")
      throw new Fault("store-failed", `${file} could not be written: ${sentenceOf(error)}`, error);
    renameSync(draft, file);
  }
}

function exists(file: string): Fault {
  return new Fault("not-possible", `${file} already exists; a backup never overwrites. Choose another name.`);
}
