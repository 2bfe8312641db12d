// Ends jobs by their folders alone, whoever started them: the holder is asked, which ends its command politely and then
// not; who does not answer is killed with everything that carries the job's mark. Afterwards the folder says how it ended.

import { existsSync } from "node:fs";
import { readdir, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { JobEnd } from "../../ports/jobs.ts";
import { killTree } from "../ending.ts";
import { isAlive } from "../identity.ts";
import { replaceFile } from "../files/draft.ts";
import {
  isHeld,
  isJobId,
  lives,
  readAsked,
  readClaim,
  readEnd,
  readGroup,
  readJob,
  readStrays,
  voidClaim,
  writeAsked,
} from "./folder.ts";
import { type Marked, markedProcesses } from "./marked.ts";
import { readOutput } from "./output.ts";

/** A holder needs half a second for a command that does not listen; a stop has a whole one. */
const patienceMs = 750;
const goneMs = 1_000;
const lookAgainMs = 10;

/** True when it ran. It has ended when it resolves, and its folder says so. */
export async function endJob(folder: string, why: string): Promise<boolean> {
  if ((await readEnd(folder)) !== null) return false;
  let claim = await readClaim(folder);
  // One that has not begun never will.
  if (claim.type === "free") claim = await voidClaim(folder);
  if (claim.type !== "held") return false;
  const { holder } = claim;
  const wasAlive = lives(claim);
  if (wasAlive) {
    await writeAsked(folder, why);
    if (process.platform !== "win32") signal(holder.pid, "SIGTERM");
    else await killTree(holder.pid).catch(() => signal(holder.pid, "SIGKILL"));
    await until(() => !isAlive(holder), patienceMs);
  }
  const left = await endLeftovers(folder, wasAlive && isAlive(holder) ? [holder.pid] : []);
  if ((await readEnd(folder)) === null && wasAlive) await noteKilled(folder);
  return wasAlive || left > 0;
}

/** What lives on of a job whose holder does not see to it; how many processes that were. */
export async function endLeftovers(folder: string, more: readonly number[] = []): Promise<number> {
  const real = await realpath(folder);
  const group = await readGroup(folder);
  for (const pid of more) signal(pid, "SIGKILL");
  // A number alone proves nothing: whoever leads that group must be the one that we know.
  if (group !== null && group.startTime !== null && isAlive(group)) signal(-group.pid, "SIGKILL");
  const ended = await endMarked(dirname(real), [real], (one) => one.folder === real);
  await until(() => more.every((pid) => !isAlive({ pid, startTime: null })), goneMs);
  return more.length + ended.length;
}

/** All jobs of a home, and whatever daemons they have left; how many there were. */
export async function endJobs(folder: string, why: string): Promise<number> {
  if (!existsSync(folder)) return 0;
  const ids = (await namesIn(folder)).filter(isJobId);
  const real = await realpath(folder);
  const isOurs = (one: Marked) => dirname(one.folder) === real;
  const folders = ids.map((id) => join(real, id));
  const held = new Set<string>();
  for (const id of ids) if (await isHeld(join(folder, id))) held.add(join(real, id));
  // A holder asks its command politely; what nobody holds is not asked. Both at once, because a stop has little time.
  const [ended, left] = await Promise.all([
    Promise.all(ids.map((id) => endJob(join(folder, id), why))),
    endMarked(real, folders, (one) => isOurs(one) && !held.has(one.folder)),
  ]);
  const strays = [...left, ...(await endMarked(real, folders, isOurs))];
  return ended.filter(Boolean).length + new Set(strays.map((one) => one.folder)).size;
}

/** Again and again, because who is just being started by one of them is found only at the next look. */
async function endMarked(
  all: string,
  folders: readonly string[],
  isMeant: (one: Marked) => boolean,
): Promise<readonly Marked[]> {
  const ended: Marked[] = [];
  const noted = await Promise.all(
    folders.map(async (folder) => (await readStrays(folder)).map((one) => ({ ...one, folder }))),
  );
  const strays = noted.flat();
  for (const end = performance.now() + goneMs; performance.now() < end; await pause(lookAgainMs)) {
    const found = [...(await markedProcesses(all)), ...strays.filter(isAlive)].filter(isMeant);
    if (found.length === 0) break;
    for (const one of found) signal(one.pid, "SIGKILL");
    ended.push(...found.filter((one) => !ended.some((known) => known.pid === one.pid)));
  }
  return ended;
}

/** How many jobs of a home somebody sees to at this moment. */
export async function runningIn(folder: string): Promise<number> {
  const ids = (await namesIn(folder)).filter(isJobId);
  const held = ids.map(async (id) => (await readEnd(join(folder, id))) === null && (await isHeld(join(folder, id))));
  return (await Promise.all(held)).filter(Boolean).length;
}

/** The holder could not say so itself. */
async function noteKilled(folder: string): Promise<void> {
  const [job, why, output] = await Promise.all([readJob(folder), readAsked(folder), readOutput(folder, 0, 0)]);
  const tookMs = Math.max(0, Date.now() - (job?.startedAt ?? Date.now()));
  const end: JobEnd = { code: null, signal: "SIGKILL", how: "killed", why, tookMs, bytes: output.total, lost: null };
  await replaceFile(join(folder, "exit.json"), JSON.stringify(end));
}

export async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    // Nothing has ever run here.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    // It ended in between, or has rights of its own and cannot be touched.
    if (error instanceof Error && "code" in error && (error.code === "ESRCH" || error.code === "EPERM")) return;
    throw error;
  }
}

async function until(isTrue: () => boolean, patience: number): Promise<void> {
  for (const end = performance.now() + patience; !isTrue() && performance.now() < end; ) await pause(lookAgainMs);
}
