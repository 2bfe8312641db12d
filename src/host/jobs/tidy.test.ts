// What is kept of jobs: nothing that somebody may still ask for is removed, and where the folders of a time are gone
// together, nobody is told that nothing happened.

import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { jobId, writeJob } from "./folder.ts";
import { type Calls, openJobs } from "./jobs.ts";
import { keptSince, sinceName } from "./tidy.ts";

const day = 24 * 3_600_000;
const now = 100 * day;

function aPlace(t: TestContext): string {
  const home = mkdtempSync(join(tmpdir(), "everturn-tidy-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  return join(home, "jobs");
}

/** A job that has ended long ago. */
async function anEnded(all: string, key: string): Promise<void> {
  const folder = join(all, jobId(key));
  const what = {
    key,
    place: "web/main/c1",
    title: "x",
    program: "x",
    words: [],
    cwd: "/",
    limitMs: 1,
    background: false,
  };
  await writeJob(folder, { ...what, id: jobId(key), startedAt: 1 });
  writeFileSync(join(folder, "claim"), JSON.stringify({ by: "holder", pid: 2 ** 30, startTime: 5, at: 6 }));
  const end = { code: 0, signal: null, how: "ended", why: null, tookMs: 1, bytes: 0, lost: null };
  writeFileSync(join(folder, "exit.json"), JSON.stringify(end));
  for (const name of [...readdirSync(folder), "."]) utimesSync(join(folder, name), 1, 1);
}

const callsOf = (open: readonly string[], begun: Readonly<Record<string, number>> = {}): Calls => ({
  isOpen: async (key) => open.includes(key),
  begunAt: async (key) => begun[key] ?? null,
});

test("what has ended in a turn that goes on is kept, however old it is", async (t) => {
  const folder = aPlace(t);
  for (const key of ["t1:0:c1", "t2:0:c1"]) await anEnded(folder, key);
  const jobs = openJobs({ folder, now: () => now, calls: callsOf(["t1:0:c1"]) });
  await jobs.tidy();
  assert.equal((await jobs.find("t1:0:c1"))?.id, jobId("t1:0:c1"));
  assert.equal(await jobs.find("t2:0:c1"), null);
  await openJobs({ folder, now: () => now, calls: callsOf([]) }).tidy();
  assert.deepEqual(readdirSync(folder), [sinceName], "and goes when it has ended");
});

test("a missing folder means that nothing happened, unless all folders of that time are gone", async (t) => {
  const folder = aPlace(t);
  const begun = { before: now - 1, after: now, later: now + day };
  const open = (at = now) => openJobs({ folder, now: () => at, calls: callsOf([], begun) });
  open();
  const cases: readonly (readonly [key: string, told: "never" | "unknown"])[] = [
    ["before", "unknown"],
    ["after", "never"],
    ["later", "never"],
    ["not in the store", "never"],
  ];
  for (const [key, told] of cases) {
    // A life later, because each asks what the disk says.
    const found = open(now + 2 * day).find(key);
    if (told === "never") assert.equal(await found, null, key);
    else await assert.rejects(found, { name: "Fault", message: /not known, because .* restored from a backup/ }, key);
  }
  await anEnded(folder, "before");
  assert.equal((await open().find("before"))?.id, jobId("before"), "what is there is believed");
  rmSync(folder, { recursive: true });
  await assert.rejects(open(now + 2 * day).find("later"), { name: "Fault" });
});

test("since when jobs are whole is written once, and anew where it cannot be read", (t) => {
  const folder = aPlace(t);
  assert.equal(
    keptSince(folder, () => 5),
    5,
  );
  assert.equal(
    keptSince(folder, () => 6),
    5,
  );
  for (const text of ["", "x", "-1", "1.5"]) {
    writeFileSync(join(folder, sinceName), text);
    assert.equal(
      keptSince(folder, () => 7),
      7,
      text,
    );
    assert.equal(readFileSync(join(folder, sinceName), "utf8"), "7");
  }
});

test("what nobody wants any more is ended, and what has not begun never will", async (t) => {
  const folder = aPlace(t);
  const jobs = openJobs({ folder });
  await jobs.drop("k1", "its turn was stopped");
  assert.equal(existsSync(folder), false, "nothing is made of it");
  await anEnded(folder, "k1");
  await jobs.drop("k1", "its turn was stopped");
  assert.equal((await jobs.state(jobId("k1"))).type, "ended");
  mkdirSync(join(folder, jobId("k2")));
  writeFileSync(
    join(folder, jobId("k2"), "job.json"),
    JSON.stringify({ key: "k2", place: "web/main/c1", id: jobId("k2") }),
  );
  await jobs.drop("k2", "its turn was stopped");
  assert.deepEqual(JSON.parse(readFileSync(join(folder, jobId("k2"), "claim"), "utf8")), { by: "nobody" });
});
