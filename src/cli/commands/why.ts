// `everturn why`: how the last lives of the gateway ended, told from what the store keeps. Works beside a running gateway
// and without one, because a death is most interesting when nothing runs any more.

import { existsSync } from "node:fs";
import { Fault } from "../../core/fault.ts";
import type { Boot } from "../../core/recovery.ts";
import { gatherEvidence } from "../../host/evidence.ts";
import { isAlive, machineBootId, readStateFile } from "../../host/identity.ts";
import { type Context, pathsOf, show, textFlag } from "../context.ts";
import { type Output, facts, paint } from "../print.ts";
import { type Life, livesOf, worthTelling } from "../story.ts";

/** How far back unclean deaths are looked for, and how many of them are told. */
const lookedAt = 50;
const deathsTold = 5;

export async function why(context: Context): Promise<number> {
  const { store, state, home } = pathsOf(context);
  if (!existsSync(store))
    throw new Fault("not-found", `No gateway has run in ${home} yet, so there is nothing to tell.`);
  const asked = textFlag(context, "boots");
  const boots = await context.doors.readBoots(store, asked === undefined ? lookedAt : Number(asked) + 1);
  const found = await readStateFile(state);
  const alive = boots.find((one) => one.pid === found?.pid && isRunning(found))?.id ?? null;
  const machine = machineBootId();
  const lives = livesOf(await withEvidence(boots, alive, machine), { now: context.now(), alive, machine });
  const told = asked === undefined ? worthTelling(lives, deathsTold) : lives.slice(0, Number(asked));
  const running = lives.find((one) => one.end === "running") ?? null;
  return show(context, { running, lives: told }, () => text(context.output, running, told));
}

/** The next start looks for what ended a life without a word; as long as there was none, it is looked for here. */
async function withEvidence(boots: readonly Boot[], alive: string | null, machine: string): Promise<readonly Boot[]> {
  const [last, ...rest] = boots;
  if (last === undefined || last.stop !== null || last.id === alive) return boots;
  const evidence = await gatherEvidence({
    pid: last.pid,
    startedAt: last.startedAt,
    lastBeatAt: last.beatAt,
    machineSame: last.machine === machine,
  });
  return [{ ...last, story: { evidence, ...last.story } }, ...rest];
}

function isRunning({ pid, start_time: startTime }: { pid: number | null; start_time: number | null }): boolean {
  return pid !== null && isAlive({ pid, startTime });
}

function text(output: Output, running: Life | null, told: readonly Life[]): string {
  const does = running?.class === null ? "runs" : "is stopping";
  const now =
    running === null
      ? "No gateway is running."
      : `The gateway ${does} (pid ${running.pid}). ${told.length === 0 ? "It has not stopped or died before." : ""}`.trim();
  const stories = told.filter((one) => one !== running).map((one) => storyText(output, one));
  return [now, ...stories].join("\n\n");
}

function storyText(output: Output, life: Life): string {
  const colour = life.end === "died" || life.end === "cut-short" || life.class === "fault" ? "red" : "bold";
  // Repeated names are shown once: phases and evidence are lists.
  const pairs = life.facts.map(([name, value], i) => [life.facts[i - 1]?.[0] === name ? "" : name, value] as const);
  const headline = paint(output, colour, life.headline);
  return pairs.length === 0 ? headline : `${headline}\n${facts(pairs, output)}`;
}
