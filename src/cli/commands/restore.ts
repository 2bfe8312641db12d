// `everturn restore`: a backup in the place of the store, and the files beside it among those that are there. Nobody serves the home meanwhile, because the lock is held here.
// The copy is checked in its new place before it gets the store's name, and what was there before is kept.

import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type Paths, besideStore } from "../../config/paths.ts";
import { Fault, sentenceOf } from "../../core/fault.ts";
import { sinceName } from "../../host/jobs/tidy.ts";
import { acquireLock } from "../../host/lock.ts";
import { runningGateway } from "../../services/announce.ts";
import { type Context, type Copy, pathsOf, show } from "../context.ts";
import { copiedText, copyIn, folderOf, lackingIn, lackingText } from "../copies/files.ts";
import { many, sizeText } from "../print.ts";

export async function restore(context: Context): Promise<number> {
  const paths = pathsOf(context);
  const file = resolve(context.given[0] ?? "");
  refuseSource(file, paths);
  // Whatever is made from here on, the lock among it, is for this user only.
  process.umask(0o077);
  makeHome(paths.home);
  const lock = acquireLock(paths.lock);
  if (lock.type === "taken") throw await served(paths);
  try {
    return await replace(context, paths, file);
  } finally {
    lock.release();
  }
}

async function replace(context: Context, { store, files, jobs }: Paths, file: string): Promise<number> {
  const draft = `${store}.restored-${process.pid}`;
  try {
    const copy = await bringIn(context, file, draft);
    const bytes = statSync(draft).size;
    // Before the store: files that nothing names do no harm.
    const copied = await copyIn(folderOf(file), files);
    const lacking = await lackingIn(files, copy.files, copied);
    const kept = existsSync(store) ? await keepOld(context, store) : null;
    for (const one of besideStore(store)) rmSync(one, { force: true });
    // Jobs are in no backup: of a call that the copy takes for begun, a missing folder proves nothing any more.
    rmSync(join(jobs, sinceName), { force: true });
    renameSync(draft, store);
    flush(dirname(store));
    const { openTurns, openItems } = copy;
    const work = `${many(openTurns, "unfinished turn")} and ${many(openItems, "unsent message")} in it go on at the next start`;
    return show(context, { file, store, kept, bytes, openTurns, openItems, files: copied, lacking }, () =>
      [
        `${store} is now what ${file} holds: ${sizeText(bytes)}, whole; ${work}.`,
        ...copiedText(copied),
        ...lackingText(lacking, folderOf(file)),
        ...(kept === null ? [] : [`What was there before is in ${kept}.`]),
      ].join("\n"),
    );
  } catch (error) {
    if (error instanceof Error && "syscall" in error)
      throw new Fault("store-failed", `${file} could not be put in the place of ${store}: ${sentenceOf(error)}`, error);
    throw error;
  } finally {
    for (const one of [draft, ...besideStore(draft)]) rmSync(one, { force: true });
  }
}

/** On the disk of the home, whole, and for its owner only. */
async function bringIn(context: Context, file: string, draft: string): Promise<Copy> {
  copyFileSync(file, draft);
  if (process.platform !== "win32") chmodSync(draft, 0o600);
  flush(draft);
  const copy = await readCopy(context, draft);
  if (copy.fault === null) return copy;
  throw new Fault(
    "store-foreign",
    `${file} cannot be restored: ${copy.fault}. Nothing was changed; try another backup.`,
  );
}

/** What the store's own words say about a file that they would not open, without where it was looked at. */
async function readCopy(context: Context, draft: string): Promise<Copy> {
  try {
    return await context.doors.readCopy(draft);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const [first = ""] = error.message.replaceAll(draft, "it").split(". ");
    return { fault: first, openTurns: 0, openItems: 0, files: [] };
  }
}

/** As one whole file where it can be read; a damaged one as it is, with all that belongs to it. */
async function keepOld(context: Context, store: string): Promise<string> {
  const kept = `${store}.before-${new Date(context.now()).toISOString().replaceAll(/[:.]/g, "-")}`;
  try {
    await context.doors.copyStore(store, kept);
    if (process.platform !== "win32") chmodSync(kept, 0o600);
    flush(kept);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    rmSync(kept, { force: true });
    const pairs = [store, ...besideStore(store)].map(
      (one, i) => [one, [kept, ...besideStore(kept)][i] ?? kept] as const,
    );
    // The log before its database: a log without one would be taken for that of the next.
    for (const [from, to] of pairs.toReversed()) if (existsSync(from)) renameSync(from, to);
  }
  return kept;
}

function refuseSource(file: string, { store }: Paths): void {
  const facts = statSync(file, { throwIfNoEntry: false });
  if (facts === undefined) throw new Fault("not-found", `There is no file ${file}.`);
  if (!facts.isFile()) throw new Fault("not-possible", `${file} is not a file.`);
  if (file === store) throw new Fault("not-possible", `${file} is the store itself; name a backup.`);
  if (facts.size === 0) throw new Fault("store-foreign", `${file} is empty; it is no backup.`);
  const log = besideStore(file).find((one) => (statSync(one, { throwIfNoEntry: false })?.size ?? 0) > 0);
  if (log !== undefined)
    throw new Fault(
      "not-possible",
      `${file} is a database in use, or was not closed (${log} belongs to it). Make a copy of it with \`everturn backup\` and restore that.`,
    );
}

function makeHome(home: string): void {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
  } catch (error) {
    const todo = "Give this user the right to write there, or set EVERTURN_HOME to another folder.";
    throw new Fault("home-unusable", `The home folder ${home} cannot be made (${sentenceOf(error)}). ${todo}`, error);
  }
}

async function served(paths: Paths): Promise<Fault> {
  const target = await runningGateway(paths);
  const who = target === null ? "A gateway" : `A gateway (pid ${target.pid})`;
  return new Fault(
    "already-running",
    `${who} serves ${paths.home}. Stop it first: \`everturn gateway stop\`. Nothing was changed.`,
  );
}

/** A name that a power cut takes back would be an empty promise. Folders cannot be flushed everywhere. */
function flush(path: string): void {
  if (process.platform === "win32") return;
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
