// The folder of a job: who may run it, and what is believed of what lies there.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ownIdentity } from "../identity.ts";
import {
  isJobId,
  jobId,
  lives,
  readClaim,
  readEnd,
  readJob,
  removeFolder,
  voidClaim,
  writeAsked,
  writeJob,
} from "./folder.ts";
import { tidyJobs } from "./tidy.ts";

function aFolder(t: TestContext): string {
  const all = mkdtempSync(join(tmpdir(), "everturn-folder-"));
  t.after(() => rmSync(all, { recursive: true, force: true }));
  const folder = join(all, jobId("k1"));
  mkdirSync(folder);
  return folder;
}

test("an id is short, made of the key alone, and no path", () => {
  assert.equal(jobId("t1:0:c1"), jobId("t1:0:c1"));
  assert.notEqual(jobId("t1:0:c1"), jobId("t1:0:c2"));
  assert.ok(isJobId(jobId("../../x")));
  for (const wrong of ["", "..", "../etc", "0123456789abX", "0123456789a", "0123456789ab/.."])
    assert.equal(isJobId(wrong), false);
});

test("a claim that was taken for nobody cannot be taken, and one that is held cannot be taken away", async (t) => {
  const folder = aFolder(t);
  assert.deepEqual(await readClaim(folder), { type: "free" });
  const all = await Promise.all([voidClaim(folder), voidClaim(folder), voidClaim(folder)]);
  assert.deepEqual(all, Array(3).fill({ type: "void" }));
  assert.deepEqual(readdirSync(folder), ["claim"], "nothing else is left");
  const other = aFolder(t);
  writeFileSync(join(other, "claim"), JSON.stringify({ by: "holder", pid: 77, startTime: 5, at: 6 }));
  assert.deepEqual(await voidClaim(other), { type: "held", holder: { pid: 77, startTime: 5 }, at: 6 });
});

test("half a claim is waited for, and then not understood", async (t) => {
  const folder = aFolder(t);
  writeFileSync(join(folder, "claim"), "");
  setTimeout(() => writeFileSync(join(folder, "claim"), JSON.stringify({ by: "nobody" })), 20);
  assert.deepEqual(await readClaim(folder), { type: "void" });
  writeFileSync(join(folder, "claim"), "{");
  assert.deepEqual(await readClaim(folder), { type: "unreadable" });
});

test("a holder from before the machine's start is dead, whoever has its number", () => {
  const own = ownIdentity();
  const claim = (startTime: number | null, at: number | null) =>
    ({ type: "held", holder: { pid: own.pid, startTime }, at }) as const;
  const start = 10_000_000;
  assert.equal(lives(claim(own.startTime, start + 1), start), true);
  assert.equal(lives(claim(null, start + 1), start), true);
  assert.equal(lives(claim(null, start - 1_000), start), true, "the clock may have been set");
  assert.equal(lives(claim(null, start - 3_600_000), start), false);
  assert.equal(lives(claim(null, null), start), true);
});

test("what is damaged is not believed", async (t) => {
  const folder = aFolder(t);
  assert.deepEqual([await readJob(folder), await readEnd(folder)], [null, null]);
  for (const text of ["", "{", "[]", "null", "7", "{}"]) {
    for (const name of ["job.json", "exit.json"]) writeFileSync(join(folder, name), text);
    assert.deepEqual([await readJob(folder), await readEnd(folder)], [null, null], text);
  }
});

test("the first who wanted the end is the reason of it", async (t) => {
  const folder = aFolder(t);
  const end = { code: null, signal: "SIGTERM", how: "killed", why: null, tookMs: 1, bytes: 0, lost: null };
  writeFileSync(join(folder, "exit.json"), JSON.stringify(end).padEnd(2_048));
  assert.equal((await readEnd(folder))?.why, null);
  await writeAsked(folder, "the first");
  await writeAsked(folder, "the second");
  assert.equal((await readEnd(folder))?.why, "the first");
});

test("a folder that is removed is gone, also one that somebody half removed", async (t) => {
  const folder = aFolder(t);
  const all = join(folder, "..");
  const what = { key: "k1", place: "web/main/c1", title: "x", program: "x", words: [], cwd: "/" };
  await writeJob(folder, { ...what, id: jobId("k1"), limitMs: 1, background: false, startedAt: 1 });
  assert.equal((await readJob(folder))?.key, "k1");
  await removeFolder(folder);
  await removeFolder(folder);
  assert.equal(existsSync(folder), false);
  mkdirSync(join(all, `${jobId("k2")}.x.gone`));
  mkdirSync(join(all, jobId("k3")));
  await tidyJobs(all, Date.now());
  assert.deepEqual(readdirSync(all), [jobId("k3")], "a new one stays");
  await tidyJobs(all, Date.now() + 30 * 24 * 3_600_000);
  assert.deepEqual(readdirSync(all), []);
});
