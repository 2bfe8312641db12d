// How a job begins when its holder does not come, and when it comes too late. The holders are the real ones, or none.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Holder, type Holders, openHolders } from "./holder.ts";
import { type JobsOptions, openJobs } from "./jobs.ts";

const apart: Holders = openHolders(async () => ({ type: "apart" }));
/** As one that stalls: it neither begins nor ends. */
const stalled: Holder = { ended: () => null, onEnd: () => () => undefined };

const ended = (one: Holder) => new Promise<void>((done) => (one.ended() === null ? one.onEnd(done) : done()));

function aHome(t: TestContext, options: Partial<JobsOptions>) {
  const home = mkdtempSync(join(tmpdir(), "everturn-begin-"));
  const jobs = openJobs({ folder: join(home, "jobs"), ...options });
  t.after(async () => {
    await jobs.endAll("the test is over");
    rmSync(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  });
  const words = ["-e", "require('node:fs').appendFileSync('count', 'ran ')"];
  const what = { key: "t1:0:c1", place: "web/main/c1", title: "count", program: process.execPath, words, cwd: home };
  const spec = { ...what, env: {}, limitMs: 60_000, background: false };
  const count = () => (existsSync(join(home, "count")) ? readFileSync(join(home, "count"), "utf8") : "");
  return { jobs, spec, count };
}

test("a holder that stalls is followed by another, and the command runs once", async (t) => {
  const begun: (() => Promise<Holder>)[] = [];
  const holders: Holders = {
    ...apart,
    async start(...words) {
      begun.push(() => apart.start(...words));
      if (begun.length === 1) return stalled;
      const second = await apart.start(...words);
      await ended(second);
      return second;
    },
  };
  const { jobs, spec, count } = aHome(t, { holders, beginMs: 20 });
  const job = await jobs.start(spec);
  const state = await jobs.wait(job.id, t.signal);
  assert.ok(state.type === "ended" && state.end.code === 0, JSON.stringify(state));
  assert.deepEqual([begun.length, count()], [2, "ran "]);
  // The first comes after all.
  await ended((await begun[0]?.()) ?? assert.fail());
  assert.equal(count(), "ran ");
});

test("two holders that stall leave a command that was not run, and says so", async (t) => {
  const { jobs, spec } = aHome(t, { holders: { ...apart, start: async () => stalled }, beginMs: 20 });
  await assert.rejects(jobs.start(spec), { name: "Fault", message: /could not be started.* nothing for 0\.02 s/ });
  assert.equal(await jobs.find(spec.key), null);
});

test("what nobody wants any more while it begins is not tried again", async (t) => {
  let starts = 0;
  const holders: Holders = {
    ...apart,
    async start() {
      starts++;
      await jobs.drop(spec.key, "its turn was stopped");
      return stalled;
    },
  };
  const { jobs, spec, count } = aHome(t, { holders });
  await assert.rejects(jobs.start(spec), { name: "Fault", message: /nobody wants it/ });
  assert.deepEqual([starts, count()], [1, ""]);
});

test("where commands end with the service, that is told once", async (t) => {
  const unit = { name: "x.service", scope: "system" } as const;
  const told: string[] = [];
  const holders = openHolders(async () => ({ type: "inside", unit, why: "no such right" }));
  const { jobs, spec } = aHome(t, { holders, warn: (why) => told.push(why) });
  for (const key of ["k1", "k2"]) await jobs.wait((await jobs.start({ ...spec, key })).id, t.signal);
  assert.deepEqual(told, ["no such right"]);
});
