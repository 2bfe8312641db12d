// The diagnostic as a real process: detached, bounded, appending; and refused without a sound where it cannot be.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, existsSync } from "node:fs";
import { mkdtemp, readFile, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { isAlive } from "../identity.ts";
import { spawnDiagnostic } from "./diagnostic.ts";
import { canBeWithin } from "../../testing/quick.ts";

async function log(t: TestContext): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), "everturn-diag-"));
  t.after(() => rm(home, { recursive: true, force: true }));
  return join(home, "logs", "gateway-shutdown-diag.log");
}

async function until(what: string, isTrue: () => boolean): Promise<void> {
  const patience = performance.now() + 60_000;
  while (!isTrue()) {
    assert.ok(performance.now() < patience, what);
    await pause(20);
  }
}

function started(pid: number | null): number {
  assert.ok(pid !== null && pid > 0, "no diagnostic was started");
  return pid;
}

const text = (file: string) => (existsSync(file) ? readFileSync(file, "utf8") : "");
const isGone = (pid: number) => () => !isAlive({ pid, startTime: null });

test("S51 S54 S67 the diagnostic appends processes, tree and kernel log, in a session of its own, and nobody waits", async (t) => {
  const file = await log(t);
  const pid = started(spawnDiagnostic({ file, signal: "SIGTERM" }));
  await until("it ended", isGone(pid));
  await until("another one ended", isGone(started(spawnDiagnostic({ file, signal: 2 }))));
  const all = text(file);
  assert.match(all, /^==== shutdown diagnostic \d{4}-\d\d-\d\dT[\d:.]+Z signal=SIGTERM pid=\d+$/m);
  assert.match(all, /^==== shutdown diagnostic .* signal=SIGINT /m);
  for (const part of ["process list", "process tree", "kernel log", "end of the diagnostic"])
    assert.equal(all.match(new RegExp(`^-- ${part}$`, "gm"))?.length, 2, part);
  assert.match(all, new RegExp(`\\b${process.pid}\\b`), "our own process is in the list");
  assert.ok(all.split("\n").every((line) => line.length <= 300));
  assert.equal((await stat(file)).mode & 0o777, 0o600);
});

test("S54 starting a diagnostic takes less than a second, whatever it does", async (t) => {
  const file = await log(t);
  await canBeWithin(1_000, () => {
    const begun = performance.now();
    const pid = started(spawnDiagnostic({ file, signal: null, script: "sleep 60" }));
    const tookMs = performance.now() - begun;
    process.kill(-pid, "SIGKILL");
    return tookMs;
  });
});

test("S67 the diagnostic leads its own session", async (t) => {
  const file = await log(t);
  const pid = started(spawnDiagnostic({ file, signal: null, script: "sleep 60" }));
  t.after(() => isGone(pid)() || process.kill(-pid, "SIGKILL"));
  const [group, session] = execFileSync("ps", ["-o", "pgid=,sess=", "-p", String(pid)], { encoding: "utf8" })
    .trim()
    .split(/\s+/);
  assert.equal(Number(group), pid);
  if (process.platform === "linux") assert.equal(Number(session), pid);
  assert.match(text(file), /shutdown diagnostic .* signal=UNKNOWN /);
});

test("S54 S67 a diagnostic that hangs returns at once and ends itself, with all it started", async (t) => {
  const file = await log(t);
  const begun = performance.now();
  const script = `echo "children $$"; sh -c 'trap "" TERM; sleep 600' & sleep 600`;
  const pid = started(spawnDiagnostic({ file, signal: "SIGTERM", script }));
  await until("it ended", isGone(pid));
  const lasted = performance.now() - begun;
  assert.ok(lasted >= 4_900 && lasted < 30_000, `${lasted} ms`);
  assert.match(text(file), /cut short after 5 s/);
  await until("its group is empty", () => {
    try {
      return !process.kill(-pid, 0);
    } catch {
      return true;
    }
  });
});

test("S52 on Windows there is none", async (t) => {
  const file = await log(t);
  assert.equal(spawnDiagnostic({ file, signal: "SIGTERM", platform: "win32" }), null);
  assert.equal(existsSync(file), false);
});

test("S53 a path that cannot be written gives none, and no exception", async (t) => {
  const file = await log(t);
  const blocked = join(file, "..", "..", "blocked");
  await writeFile(blocked, "a file, not a folder");
  for (const path of [join(blocked, "diag.log"), "/proc/cannot-be/diag.log", join(blocked, ".."), "nul\0"])
    assert.equal(spawnDiagnostic({ file: path, signal: "SIGTERM" }), null, path);
});

test("the file does not grow for ever", async (t) => {
  const file = await log(t);
  const once = async () => {
    const pid = started(spawnDiagnostic({ file, signal: "SIGTERM", script: "true" }));
    await until("it ended", isGone(pid));
  };
  await once();
  await truncate(file, 2_000_001);
  await once();
  assert.ok((await stat(file)).size < 1_000);
  assert.equal((await stat(`${file}.1`)).size, 2_000_001);
  await truncate(file, 2_000_001);
  await once();
  assert.match(await readFile(file, "utf8"), /shutdown diagnostic/);
});
