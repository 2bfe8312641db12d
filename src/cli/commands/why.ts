// `everturn why`: how the last lives of the gateway ended, told from what the store keeps. Works beside a running gateway
// and without one, because a death is most interesting when nothing runs any more.

import { existsSync } from "node:fs";
import { Fault } from "../../core/fault.ts";
import type { Boot } from "../../core/recovery.ts";
import { gatherEvidence } from "../../host/evidence.ts";
import { type ReadStateFile, isAlive, machineBootId, readStateFile } from "../../host/identity.ts";
import { type Context, pathsOf, show, textFlag } from "../context.ts";
import { type Output, facts, oneLine, paint, when } from "../print.ts";
import { type Life, livesOf, worthTelling } from "../story.ts";

/** How far back unclean deaths are looked for, and how many of them are told. */
const lookedAt = 50;
const deathsTold = 5;

export async function why(context: Context): Promise<number> {
  const { store, state, home } = pathsOf(context);
  const found = await readStateFile(state);
  const failed = failedStart(found);
  if (!existsSync(store) && failed === null)
    throw new Fault("not-found", `No gateway has run in ${home} yet, so there is nothing to tell.`);
  const asked = textFlag(context, "boots");
  const limit = asked === undefined ? lookedAt : Number(asked) + 1;
  const boots = existsSync(store) ? await context.doors.readBoots(store, limit) : [];
  const alive = boots.find((one) => one.pid === found?.pid && isRunning(found))?.id ?? null;
  const machine = machineBootId();
  const lastWord = lastWordOf(found);
  const isTold = lastWord !== null && boots[0]?.pid === lastWord.pid;
  const rows = isTold ? boots : await withEvidence(boots, alive, machine);
  const lives = livesOf(rows, { now: context.now(), alive, machine, lastWord });
  const told = asked === undefined ? worthTelling(lives, deathsTold) : lives.slice(0, Number(asked));
  const running = lives.find((one) => one.end === "running") ?? null;
  const since = failed !== null && running === null && failed.at > (boots[0]?.startedAt ?? 0) ? failed : null;
  return show(context, { running, failedStart: since, lives: told }, () => text(context, running, since, told));
}

type FailedStart = { readonly at: number; readonly reason: string };

/** A start that failed before it could write to the store is told by the state file alone. */
function failedStart(state: ReadStateFile | null): FailedStart | null {
  const at = Date.parse(state?.updated_at ?? "");
  if (state?.gateway_state !== "startup_failed" || Number.isNaN(at)) return null;
  return { at, reason: state.exit_reason ?? "nothing is on record" };
}

function lastWordOf(state: ReadStateFile | null): { readonly pid: number; readonly reason: string } | null {
  if (state === null || state.pid === null || state.exit_reason === null) return null;
  return { pid: state.pid, reason: state.exit_reason };
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

function text(
  { output, now: clock }: Context,
  running: Life | null,
  failed: FailedStart | null,
  told: readonly Life[],
): string {
  const does = running?.class === null ? "runs" : "is stopping";
  const now =
    running === null
      ? "No gateway is running."
      : `The gateway ${does} (pid ${running.pid}). ${told.length === 0 ? "It has not stopped or died before." : ""}`.trim();
  const stories = told.filter((one) => one !== running).map((one) => storyText(output, one));
  const start = failed === null ? [] : [`The last start failed ${when(failed.at, clock())}: ${oneLine(failed.reason)}`];
  return [now, ...start, ...stories].join("\n\n");
}

function storyText(output: Output, life: Life): string {
  const colour = life.end === "died" || life.end === "cut-short" || life.class === "fault" ? "red" : "bold";
  // Repeated names are shown once: phases and evidence are lists.
  const pairs = life.facts.map(([name, value], i) => [life.facts[i - 1]?.[0] === name ? "" : name, value] as const);
  const headline = paint(output, colour, life.headline);
  return pairs.length === 0 ? headline : `${headline}\n${facts(pairs, output)}`;
}
