// A file that others read is written beside its place and then moved there. Who is killed in between leaves the draft
// behind; the next start takes it away. Nobody's work depends on it.

import { readdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import type { Paths } from "../../config/paths.ts";
import { isAlive } from "../../host/identity.ts";

type Drafted = Pick<Paths, "home" | "state" | "plannedStop" | "takeOver" | "restartPending">;

/** Which of these names are drafts of processes that are no more. */
export function leftDrafts(
  names: readonly string[],
  paths: Drafted,
  lives: (pid: number) => boolean,
): readonly string[] {
  const files = [paths.state, paths.plannedStop, paths.takeOver, paths.restartPending].map((path) => basename(path));
  return names.filter((name) => {
    const file = files.find((one) => name.startsWith(`${one}.`));
    const pid = file === undefined ? undefined : /^(\d+)\.(?:[0-9a-f-]+\.)?tmp$/.exec(name.slice(file.length + 1))?.[1];
    return pid !== undefined && !lives(Number(pid));
  });
}

export async function sweepDrafts(paths: Drafted): Promise<void> {
  const lives = (pid: number) => isAlive({ pid, startTime: null });
  for (const name of leftDrafts(await readdir(paths.home), paths, lives))
    await rm(join(paths.home, name), { force: true });
}
