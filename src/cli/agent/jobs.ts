// `everturn jobs`: the agent's commands that run, and how one is ended. They are found by their folders, so it needs no
// gateway: a command may outlive the one that started it.

import { join } from "node:path";
import { visibleLine } from "../../core/asked/visible.ts";
import { Fault } from "../../core/fault.ts";
import { namesIn } from "../../host/jobs/end.ts";
import { isHeld, isJobId, readEnd, readJob } from "../../host/jobs/folder.ts";
import { openJobs } from "../../host/jobs/jobs.ts";
import { type Context, pathsOf, show } from "../context.ts";
import { lasting, table, when } from "../print.ts";
import { pick } from "./pick.ts";

type Running = {
  readonly id: string;
  readonly title: string;
  /** The conversation in which it was started. */
  readonly place: string;
  readonly background: boolean;
  readonly startedAt: number;
  /** When it is ended if it still runs then. */
  readonly until: number;
  /** With everything it has said. */
  readonly folder: string;
};

export async function list(context: Context): Promise<number> {
  const jobs = await running(pathsOf(context).jobs);
  return show(context, { jobs }, () => {
    if (jobs.length === 0) return "No command runs.";
    const now = context.now();
    const rows = jobs.map((one) => [
      one.id,
      when(one.startedAt, now),
      `${lasting(Math.max(0, one.until - now))} left`,
      one.background ? "background" : "turn waits",
      visibleLine(one.place),
      visibleLine(one.title),
    ]);
    return table(["JOB", "STARTED", "LIMIT", "KIND", "CONVERSATION", "COMMAND"], rows, context.output);
  });
}

export async function kill(context: Context): Promise<number> {
  const folder = pathsOf(context).jobs;
  const given = context.given[0] ?? "";
  const found = pick(given, await running(folder), "job");
  if (found === null) {
    const ended = isJobId(given) ? await readEnd(join(folder, given)) : null;
    const why = ended === null ? `There is no job ${given} that runs.` : `Job ${given} has ended already.`;
    throw new Fault("not-found", `${why} List them with \`everturn jobs\`.`);
  }
  const state = await openJobs({ folder }).kill(found.id, "its owner ended it");
  if (state.type === "running")
    throw new Fault("not-possible", `${found.id} did not end; it may have rights that this user lacks.`);
  return show(context, { job: found.id, state }, () => `Ended: ${visibleLine(found.title)}`);
}

/** The newest first. */
async function running(folder: string): Promise<readonly Running[]> {
  const ids = (await namesIn(folder)).filter(isJobId);
  const all = await Promise.all(ids.map((id) => look(id, join(folder, id))));
  return all.filter((one) => one !== null).toSorted((a, b) => b.startedAt - a.startedAt);
}

async function look(id: string, folder: string): Promise<Running | null> {
  const job = await readJob(folder);
  if (job === null || (await readEnd(folder)) !== null || !(await isHeld(folder))) return null;
  const { title, place, background, startedAt, limitMs } = job;
  return { id, title, place, background, startedAt, until: startedAt + limitMs, folder };
}
