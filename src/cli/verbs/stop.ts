// `everturn gateway stop`: says that the end is wanted, in the state file and by a marker, before anything ends the
// gateway; then asks whoever runs it, shows what is still being done, and uses force only when patience is over.

import { existsSync } from "node:fs";
import type { Paths } from "../../config/paths.ts";
import { Fault, sentenceOf } from "../../core/fault.ts";
import type { Ended } from "../../host/ending.ts";
import {
  killedByStop,
  type ProcessIdentity,
  readStateFile,
  writeDesiredState,
  writeExitReason,
} from "../../host/identity.ts";
import { acquireLock } from "../../host/lock.ts";
import { removeMarker } from "../../host/markers.ts";
import { announceStop, runningGateway } from "../../services/announce.ts";
import { type Ending, endServed } from "../../services/ending.ts";
import { giveTo } from "../../services/files.ts";
import { carryOut } from "../../services/verbs.ts";
import type { Context } from "../context.ts";
import { span } from "../story-facts.ts";
import { type Scene, follow, isInside, rest, sceneOf } from "./gateway.ts";
import { type Display, display } from "./progress.ts";

const lastLookMs = 50;

export async function stop(context: Context): Promise<number> {
  const scene = await sceneOf(context);
  const { paths, target } = scene;
  if (isInside(paths.home))
    throw new Fault(
      "not-possible",
      "This runs inside a tool of the gateway it would stop, which would end with it. Ask for a restart instead (`everturn gateway restart`), or stop the gateway from a terminal of your own.",
    );
  const view = display(context.output, context.flags["json"] === true);
  if (target === null) return nothingToStop(scene, view);
  const begun = performance.now();
  const { last, forced } = await endAll(context, scene, target, view);
  // Who took over at that very moment has said what it wants; the owner wants something else.
  if ((await readStateFile(paths.state))?.desired_state !== "stopped") {
    await writeDesiredState(paths.state, "stopped");
    await giveTo(paths.state, scene.all.owner);
  }
  const waitedMs = Math.round(performance.now() - begun);
  const how = forced
    ? `It did not end within ${span(waitedMs)} and was killed. Nothing is lost; what it held goes on at the next start. \`everturn why\` tells more.`
    : `It took ${span(waitedMs)}. What was not done yet goes on at the next start.`;
  const jobs = await endLeftJobs(paths);
  view.finish(
    { event: "stopped", pid: last.pid, forced, waitedMs, ...(jobs === 0 ? {} : { jobs }) },
    `The gateway (pid ${last.pid}) has stopped. ${how}${jobWords(jobs)}`,
  );
  return 0;
}

/** A restart that was past its last look when we asked is followed by another life; more than a few mean no end at all. */
const livesMax = 5;

/** Ends whoever serves, and whoever serves in its place, until nobody does. */
async function endAll(context: Context, first: Scene, target: ProcessIdentity, view: Display) {
  let last = target;
  let forced = false;
  let scene = first;
  for (let lives = 0; lives < livesMax; lives++) {
    const ended = await endOne(context, scene, last, view);
    forced ||= ended.type === "forced";
    const next = await follower(scene.paths, last, ended.type === "moved");
    if (next === null) return { last, forced };
    last = next;
    scene = { ...(await sceneOf(context)), target: next };
  }
  throw new Fault(
    "not-possible",
    `The gateway was stopped ${livesMax} times, and each time another one went on. Find out who starts it (\`everturn gateway status\`, \`everturn logs\`) and end that first.`,
  );
}

async function endOne(context: Context, scene: Scene, target: ProcessIdentity, view: Display): Promise<Ended> {
  const over = new AbortController();
  const following = follow(context, view, over.signal);
  const tools = toolsOf(scene);
  const ended = await endServed(scene.inCharge, endingOf(context, scene, target, view), tools);
  over.abort();
  // A last question may still be waiting for its answer; nobody waits with it.
  await Promise.race([following, rest(lastLookMs)]);
  if (ended.type === "survived")
    throw new Fault(
      "not-possible",
      `The gateway (pid ${target.pid}) is still there after ${span(ended.waitedMs)} and force. Look at what holds it (\`ps -o pid,stat,wchan ${target.pid}\`); a process in state D waits for a disk.`,
    );
  const refused = tools.refused();
  if (refused !== null)
    throw new Fault(
      "not-possible",
      `The gateway (pid ${target.pid}) has ended, but its supervisor was not told to leave it down and may start it again. ${refused}`,
    );
  if (ended.type !== "forced") return ended;
  // One that was killed can neither put its marker away nor say how it ended.
  await removeMarker(scene.paths.plannedStop);
  await writeExitReason(scene.paths.state, killedByStop);
  await giveTo(scene.paths.state, scene.all.owner);
  return ended;
}

/** For a successor to take the home and to write who it is. */
const followMs = 5_000;

/** Who serves now in its place. It is waited for only where the last word of the one before was that it comes back. */
async function follower(paths: Paths, before: ProcessIdentity, isCertain: boolean): Promise<ProcessIdentity | null> {
  for (const until = performance.now() + followMs; ; await rest(lastLookMs)) {
    const now = await runningGateway(paths);
    if (now !== null && (now.pid !== before.pid || now.startTime !== before.startTime)) return now;
    const isComing = isCertain || (await readStateFile(paths.state))?.restart_requested === true;
    if (!isComing || performance.now() > until) return null;
  }
}

async function nothingToStop(scene: Scene, view: Display): Promise<number> {
  const { paths, service } = scene;
  if (existsSync(paths.state)) await writeDesiredState(paths.state, "stopped");
  // Its supervisor may be about to start one.
  if (service !== null) await carryOut(service.stop, scene.all);
  else refuseUnnamed(scene);
  const jobs = await endLeftJobs(paths);
  const nothing = jobs === 0 ? "; there is nothing to stop." : ".";
  view.finish(
    { event: "absent", ...(jobs === 0 ? {} : { jobs }) },
    `No gateway is running for ${paths.home}${nothing}${jobWords(jobs)}`,
  );
  return 0;
}

/** Commands outlive a gateway that was killed; who wants it down wants them down as well. */
async function endLeftJobs({ jobs }: Paths): Promise<number> {
  if (!existsSync(jobs)) return 0;
  const { endJobs } = await import("../../host/jobs/end.ts");
  return endJobs(jobs, "the gateway was stopped");
}

function jobWords(jobs: number): string {
  if (jobs === 0) return "";
  return jobs === 1
    ? " A command that had outlived it was ended."
    : ` ${jobs} commands that had outlived it were ended.`;
}

/** A gateway whose state file was taken away cannot be named, but its lock is held. */
function refuseUnnamed({ paths }: Scene): void {
  if (!existsSync(paths.lock)) return;
  const lock = acquireLock(paths.lock);
  if (lock.type === "held") return lock.release();
  throw new Fault(
    "not-possible",
    `A gateway serves ${paths.home}, but ${paths.state} does not say which process it is. Find it (\`fuser ${paths.lock}\`) and end it with SIGINT.`,
  );
}

function endingOf(context: Context, scene: Scene, target: ProcessIdentity, view: Display): Ending {
  const { paths, all, drainSeconds } = scene;
  return {
    target,
    drainSeconds,
    writeMarker: () => announceStop(paths, target, all.owner, context.now()),
    isStill: async () => ((await runningGateway(paths))?.pid ?? target.pid) === target.pid,
    onTrouble: (what) => view.say(`${what[0]?.toUpperCase()}${what.slice(1)}.`),
  };
}

type Tools = Parameters<typeof endServed>[2] & {
  /** What the supervisor said when it would not stop it; null when it did. */
  readonly refused: () => string | null;
};

function toolsOf({ all }: Scene): Tools {
  let refused: string | null = null;
  return {
    system: all.system,
    async carryOut(commands) {
      try {
        await carryOut(commands, all);
      } catch (error) {
        refused = sentenceOf(error);
        throw error;
      }
    },
    refused: () => refused,
  };
}
