// `everturn gateway run`: takes the home and runs one life of the gateway in it. A successor, and one that takes over with
// --replace, first load and check everything and only then wait for the home, so that nobody is without a gateway for
// longer than it takes to open the store. The lock goes last.

import { existsSync, readFileSync } from "node:fs";
import type { Output } from "./cli/print.ts";
import { wrongConfig } from "./cli/wrong-config.ts";
import { type Environment, enterGateway, environment, loadConfig, systemInput } from "./config/load.ts";
import { type Paths, findHome } from "./config/paths.ts";
import { Fault } from "./core/fault.ts";
import { type SupervisorKind, exitCodes, reportedCode } from "./core/lifecycle.ts";
import { type Claim, prepareHome, takeHome } from "./home.ts";
import { patienceFor } from "./host/ending.ts";
import { readStateFile } from "./host/identity.ts";
import { supervisorOf } from "./host/supervised.ts";
import { tellPredecessor, watchPredecessor } from "./run/next/follow.ts";
import { handoverLater } from "./run/next/later.ts";
import { loadCode } from "./run/parts.ts";
import { outfit, serve } from "./run/serve.ts";

export type RunOptions = {
  readonly replace: boolean;
  readonly home: string | undefined;
  readonly version: string;
  readonly pageFolder: string;
  readonly output: Output;
};

/** What a new start cannot cure, so that a supervisor leaves it alone. */
const stayDown: ReadonlySet<string> = new Set([
  "config-wrong",
  "home-unusable",
  "store-newer",
  "store-foreign",
  "store-unsuitable",
]);

export async function runGateway(options: RunOptions): Promise<number> {
  const env = environment();
  const successorMs = Number(env["EVERTURN_SUCCESSOR"] ?? "");
  const isSuccessor = successorMs > 0;
  const supervisor = findSupervisor(env);
  try {
    return await run(options, { successorMs, supervisor });
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    if (isSuccessor) await tellPredecessor({ why: error.message });
    options.output.err(error.message);
    return reportedCode(codeFor(error), supervisor);
  }
}

function codeFor({ code }: Fault): number {
  if (code === "already-running") return exitCodes.stayDown;
  return stayDown.has(code) ? exitCodes.config : exitCodes.unexpected;
}

function findSupervisor(env: Environment): SupervisorKind | null {
  const { pid, ppid, platform } = process;
  return supervisorOf({ env, pid, ppid, parentName: nameOf(ppid), platform });
}

/** Null where the system does not tell. */
function nameOf(pid: number): string | null {
  try {
    return process.platform === "linux" ? readFileSync(`/proc/${pid}/comm`, "utf8").trim() : null;
  } catch (error) {
    // It ended in between.
    if (error instanceof Error) return null;
    throw error;
  }
}

type Circumstances = {
  /** How long a successor waits for the home; 0 for all others. */
  readonly successorMs: number;
  readonly supervisor: SupervisorKind | null;
};

async function run(options: RunOptions, { successorMs, supervisor }: Circumstances): Promise<number> {
  const env = enterGateway(findHome(systemInput(options.home)));
  const input = { ...systemInput(options.home), env };
  // Whatever is made from here on is for this user only.
  process.umask(0o077);
  const isOpenToOthers = prepareHome(findHome(input));
  const load = async () => {
    const loaded = await loadConfig(input);
    if (loaded.type === "wrong") throw wrongConfig(loaded.faults);
    return loaded;
  };
  const { config, paths, secrets } = await load();
  const patienceMs = patienceFor(config.gateway.drainSeconds);
  const isSuccessor = successorMs > 0;
  const predecessor = isSuccessor ? watchPredecessor() : null;
  const claim: Claim = isSuccessor
    ? { type: "after", patienceMs: successorMs, isLeft: () => predecessor?.isLeft() ?? false }
    : { type: options.replace ? "instead" : "at-once", patienceMs };
  const follows = claim.type === "at-once" ? null : await isReadyToFollow(paths);
  const code = loadCode(config, paths);
  const isFollowing = follows !== null;
  // Where nobody has served yet, the token is made by whoever gets the lock.
  const early = isFollowing && existsSync(paths.token) ? outfit({ config, paths, env, secrets }) : null;
  if (isFollowing) await (await import("./run/rehearse.ts")).rehearse(config, paths, await code, follows.port);
  if (isSuccessor) await tellPredecessor("loaded");
  const handover = handoverLater({
    isSupervised: supervisor !== null,
    env,
    logs: paths.logs,
    patienceMs,
    check: async () => {
      const { rehearseAddress } = await import("./run/rehearse.ts");
      await rehearseAddress((await load()).config, await code, await portNow(paths));
    },
  });
  const { lock, hadHolder } = await takeHome(paths, claim).finally(() => predecessor?.off());
  let exit: number;
  try {
    const worn = early ?? outfit({ config, paths, env, secrets });
    const parts = {
      ...options,
      config,
      paths,
      env,
      secrets,
      isOpenToOthers,
      code,
      supervisor,
      handover,
      follows: hadHolder ? follows : null,
    };
    exit = await serve({ ...parts, ...worn });
  } finally {
    lock.release();
  }
  return handover.leave(exit);
}

/** Checks the store without touching it, and finds the port of whoever serves now. */
async function isReadyToFollow(paths: Paths): Promise<{ readonly port: number | null }> {
  const { openSqliteArchive } = await import("./stores/sqlite/index.ts");
  if (existsSync(paths.store)) openSqliteArchive(paths.store).close();
  return { port: await portNow(paths) };
}

/** Where the gateway of the home listens; null when none does. */
async function portNow(paths: Paths): Promise<number | null> {
  const url = (await readStateFile(paths.state))?.url ?? null;
  return url === null ? null : Number(new URL(url).port || 80);
}
