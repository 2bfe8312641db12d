// How long nobody listens while one gateway hands over to the next: from the moment the old one let go of its last platform
// until the new one's first listened, as both have stored it. A page holds the door open meanwhile, as people do.

import { join } from "node:path";
import { openSqliteArchive } from "../src/stores/sqlite/index.ts";
import { median } from "./load.ts";
import { type Running, end, newHome, openPage, removeHome, servingPid, start, status, until } from "./process.ts";

const handovers = 15;

export type Blackout = { readonly ms: number; readonly most: number; readonly all: readonly number[] };

async function blackoutsIn(home: string): Promise<Blackout> {
  const archive = openSqliteArchive(join(home, "state.db"));
  const boots = (await archive.lastBoots(handovers + 1)).toReversed();
  archive.close();
  const all = boots.slice(1).map(({ story }, i) => {
    const silentAt = boots[i]?.story.silentAt;
    if (silentAt === undefined || story.listeningAt === undefined) throw new Error("a boot does not tell its story");
    return story.listeningAt - silentAt;
  });
  return { ms: median(all), most: Math.max(...all), all };
}

async function isServedAnew({ home, port }: Running, before: number): Promise<boolean> {
  return servingPid(home) !== before && (await status(port, "/readyz")) === 200;
}

/** The process asks its own successor in: SIGUSR1 without any supervisor. */
export async function measureRestart(): Promise<Blackout> {
  const home = newHome();
  const first = await start(home);
  for (let i = 0; i < handovers; i++) {
    const before = servingPid(home);
    const page = await openPage(first, "open");
    process.kill(before, "SIGUSR1");
    await until(() => isServedAnew(first, before), "the successor serves");
    page.destroy();
  }
  await end(first, "SIGTERM");
  const found = await blackoutsIn(home);
  removeHome(home);
  return found;
}

/** Somebody starts another one with `--replace`. */
export async function measureReplace(): Promise<Blackout> {
  const home = newHome();
  let now = await start(home);
  for (let i = 0; i < handovers; i++) {
    const before = servingPid(home);
    const page = await openPage(now, "open");
    // The port answers all the while, so being ready says nothing by itself.
    now = await start(home, { port: now.port, words: ["--replace"] });
    await until(() => isServedAnew(now, before), "the other one serves");
    page.destroy();
  }
  await end(now, "SIGTERM");
  const found = await blackoutsIn(home);
  removeHome(home);
  return found;
}

if (import.meta.main) {
  console.log("restart", await measureRestart());
  console.log("replace", await measureReplace());
}
