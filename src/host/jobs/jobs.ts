// The jobs of one home, each in a folder named by the key of its call. Nothing about them is in memory that is not on the
// disk as well, so a new gateway knows of a job what the old one knew.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Fault } from "../../core/fault.ts";
import type { Job, JobSpec, JobState, Jobs } from "../../ports/jobs.ts";
import { endJob, endJobs, endLeftovers, namesIn } from "./end.ts";
import {
  isJobId,
  jobId,
  type JobFile,
  lives,
  readAsked,
  readClaim,
  readEnd,
  readJob,
  removeFolder,
  voidClaim,
  writeJob,
} from "./folder.ts";
import { type Holder, type Holders, openHolders } from "./holder.ts";
import { readOutput } from "./output.ts";
import { keptSince, tidyJobs } from "./tidy.ts";
import { firstOf } from "./waiting.ts";

export type JobsOptions = {
  /** `<home>/jobs` */
  readonly folder: string;
  readonly holders?: Holders;
  readonly now?: () => number;
  /** What is known of the calls that jobs belong to. */
  readonly calls?: Calls;
  /** Told once, when commands cannot outlive the service that we are. */
  readonly warn?: (why: string) => void;
  /** For a holder to begin, on a machine that is very busy. */
  readonly beginMs?: number;
};

export type Calls = {
  /** Whether its turn has not ended: until then somebody may ask for its result. */
  isOpen(key: string): Promise<boolean>;
  /** When it was begun; null where nobody knows of it. */
  begunAt(key: string): Promise<number | null>;
};

const nobody: Calls = { isOpen: async () => false, begunAt: async () => null };

/** Between two looks: the first, the longest, and the longest at one whose end we are told of. */
const lookMinMs = 5;
const lookMaxMs = 100;
const lookOwnMs = 1_000;
const tidyEveryMs = 3_600_000;

export function openJobs(options: JobsOptions): Jobs {
  const { folder: all, holders = openHolders(), now = Date.now, calls = nobody, beginMs = 60_000 } = options;
  const own = new Map<string, Holder>();
  let tidiedAt = 0;
  let isWarned = false;
  // Before the first call can be begun, so that it is not older than this.
  if (options.calls !== undefined) keptSince(all, now);
  const folderOf = (id: string) => join(all, id);

  async function get(id: string): Promise<Job | null> {
    const job = isJobId(id) ? await readJob(folderOf(id)) : null;
    return job === null ? null : shown(job);
  }

  function shown({ id, place, person, title, background, startedAt, limitMs, sandbox }: JobFile): Job {
    const job = { id, place, title, background, startedAt, limitMs, folder: folderOf(id) };
    return { ...job, ...(person === undefined ? {} : { person }), ...(sandbox === undefined ? {} : { sandbox }) };
  }

  async function find(key: string): Promise<Job | null> {
    const folder = folderOf(jobId(key));
    const job = await readJob(folder);
    // Its folder was never made, or begun and no more; unless all folders of that time are gone.
    if (job === null) {
      if (isBefore(await calls.begunAt(key))) throw gone();
      return null;
    }
    let claim = await readClaim(folder);
    if (claim.type === "free") claim = await voidClaim(folder);
    return claim.type === "void" ? null : shown(job);
  }

  function isBefore(begunAt: number | null): boolean {
    return begunAt !== null && begunAt < keptSince(all, now);
  }

  async function start(spec: JobSpec): Promise<Job> {
    const { env, ...rest } = spec;
    const id = jobId(spec.key);
    const folder = folderOf(id);
    const before = await readJob(folder);
    if (before !== null) {
      const claim = await readClaim(folder);
      if (claim.type === "held" || claim.type === "unreadable") return shown(before);
      if (claim.type === "void") await removeFolder(folder);
    }
    mkdirSync(all, { recursive: true, mode: 0o700 });
    const job: JobFile = { ...rest, id, startedAt: now() };
    await writeJob(folder, job);
    await begin(job, env);
    void warnOnce();
    tidyNowAndThen();
    return shown(job);
  }

  /** Until somebody holds it. Two attempts: a scope that was granted once may be refused now. */
  async function begin(job: JobFile, env: Readonly<Record<string, string>>): Promise<void> {
    const { id } = job;
    const folder = folderOf(id);
    for (const isLast of [false, true]) {
      const holder = await holders.start(id, folder, env);
      own.set(id, holder);
      holder.onEnd(() => own.get(id) === holder && own.delete(id));
      const claim = await claimed(folder, holder);
      if (claim === "held") return;
      const why = holder.ended() ?? `nothing for ${beginMs / 1000} s`;
      if (isLast) throw new Fault("not-possible", `The command could not be started: its holder ended with ${why}.`);
      if (claim === "unwanted") throw new Fault("not-possible", "The command was not begun: nobody wants it any more.");
      holders.refused(`systemd-run ended with ${why}`);
      if (claim === "free") continue;
      // The first holder may still come; of the two, one gets the new claim.
      await removeFolder(folder);
      await writeJob(folder, job);
    }
  }

  /**
   * `free`: its holder has ended without it. `void`: nothing came for so long that we took it away. `unwanted`: somebody
   * else did, and was promised that it will not happen.
   */
  async function claimed(folder: string, holder: Holder): Promise<"held" | "free" | "void" | "unwanted"> {
    let pauseMs = lookMinMs;
    for (const until = performance.now() + beginMs; performance.now() < until; pauseMs = longer(pauseMs)) {
      // The order matters: who has ended may have claimed it before.
      const hasEnded = holder.ended() !== null;
      const { type } = await readClaim(folder);
      if (type !== "free") return type === "void" ? "unwanted" : "held";
      if (hasEnded) return "free";
      await firstOf(pauseMs, holder.onEnd);
    }
    return (await voidClaim(folder)).type === "void" ? "void" : "held";
  }

  async function warnOnce(): Promise<void> {
    if (isWarned) return;
    isWarned = true;
    const dwelling = await holders.dwelling();
    if (dwelling.type === "inside") options.warn?.(dwelling.why);
  }

  async function state(id: string): Promise<JobState> {
    const folder = folderOf(id);
    const end = await readEnd(folder);
    if (end !== null) return { type: "ended", end };
    const claim = await readClaim(folder);
    if (claim.type === "held" && lives(claim)) return { type: "running" };
    if (claim.type === "free" && own.get(id)?.ended() === null) return { type: "running" };
    // It may have written its last word and left between our two looks.
    const late = await readEnd(folder);
    if (late !== null) return { type: "ended", end: late };
    return { type: "unknown", why: await lostWhy(folder, claim.type) };
  }

  async function wait(id: string, signal: AbortSignal): Promise<Exclude<JobState, { type: "running" }>> {
    for (let pauseMs = lookMinMs; ; pauseMs = longer(pauseMs, own.has(id) ? lookOwnMs : lookMaxMs)) {
      signal.throwIfAborted();
      const now = await state(id);
      if (now.type !== "running") return now;
      await firstOf(pauseMs, own.get(id)?.onEnd ?? null, signal);
    }
  }

  function tidyNowAndThen(): void {
    if (now() - tidiedAt < tidyEveryMs) return;
    tidiedAt = now();
    // Nobody waits for it, and what it could not remove is tried again.
    void tidyJobs(all, now(), calls.isOpen).catch(() => (tidiedAt = 0));
  }

  return {
    start,
    find,
    get,
    state,
    wait,
    read: (id, from, max) => readOutput(folderOf(id), from, max),
    async kill(id, why) {
      await endJob(folderOf(id), why);
      return state(id);
    },
    async list(fits) {
      const ids = (await namesIn(all)).filter(isJobId);
      const found = await Promise.all(ids.map(get));
      return found
        .filter((job) => job !== null)
        .filter(fits)
        .toSorted((a, b) => b.startedAt - a.startedAt);
    },
    endAll: (why) => endJobs(all, why),
    tidy: () => tidyJobs(all, now(), calls.isOpen),
    async drop(key, why) {
      const folder = folderOf(jobId(key));
      if ((await readJob(folder)) !== null) await endJob(folder, why);
    },
  };
}

function gone(): Fault {
  const why = "the home was restored from a backup, or its folder of jobs was removed";
  return new Fault("not-found", `it was begun, and what became of it is not known, because since then ${why}.`);
}

/** What is left of it is ended: nobody holds it to its limit any more. */
async function lostWhy(folder: string, claim: "free" | "void" | "held" | "unreadable"): Promise<string> {
  if (claim === "free" || claim === "void") return "it was never begun";
  const [left, asked] = [await endLeftovers(folder), await readAsked(folder)];
  const rest = left > 0 ? " What still ran of it has been ended." : "";
  const why = asked === null ? "" : ` It was about to be ended (${asked}).`;
  return `it was begun, and whoever watched over it was killed, so how it ended is not known.${why}${rest}`;
}

function longer(ms: number, most = lookMaxMs): number {
  return Math.min(most, ms * 1.5);
}
