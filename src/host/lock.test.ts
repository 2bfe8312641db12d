// The lock between real processes: refused while held, free at once after any kind of death, and never held by a file.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { acquireLock, tryLock } from "./lock.ts";

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "everturn-lock-"));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

const module = JSON.stringify(new URL("lock.ts", import.meta.url).href);

/** Another process that tries to take the lock, tells what it got, and lives on while it holds it. */
async function other(t: TestContext, path: string): Promise<{ child: ChildProcess; got: string }> {
  const program = `
    import { acquireLock } from ${module};
    console.log(acquireLock(${JSON.stringify(path)}).type);
    process.stdin.resume().once("end", () => process.exit());`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const [data] = await once(child.stdout ?? child, "data");
  return { child, got: String(data).trim() };
}

function take(path: string) {
  const lock = acquireLock(path);
  assert.ok(lock.type === "held", "the lock is taken");
  return lock;
}

test("a second process is refused, and gets the lock after a release", async (t) => {
  const path = join(await folder(t), "gateway.lock");
  const lock = take(path);
  assert.equal((await other(t, path)).got, "taken");
  lock.release();
  lock.release();
  const { got } = await other(t, path);
  assert.equal(got, "held");
  assert.equal(acquireLock(path).type, "taken");
});

test("after kill -9 of its holder the lock is free at once", async (t) => {
  const path = join(await folder(t), "gateway.lock");
  for (let round = 0; round < 3; round++) {
    const { child, got } = await other(t, path);
    assert.equal(got, "held");
    assert.equal(acquireLock(path).type, "taken");
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
    take(path).release();
  }
});

test("a polite end frees it too", async (t) => {
  const path = join(await folder(t), "gateway.lock");
  const { child } = await other(t, path);
  const ended = once(child, "exit");
  child.stdin?.end();
  await ended;
  take(path).release();
});

test("the same process cannot take it twice, and a refused try does not loosen it", async (t) => {
  const path = join(await folder(t), "gateway.lock");
  const lock = take(path);
  for (let i = 0; i < 5; i++) assert.equal(acquireLock(path).type, "taken");
  assert.equal((await other(t, path)).got, "taken");
  lock.release();
  take(path).release();
});

test("a lock that nobody holds on to in the program stays held", async (t) => {
  const path = join(await folder(t), "gateway.lock");
  const program = `
    import { acquireLock } from ${module};
    acquireLock(${JSON.stringify(path)});
    for (let i = 0; i < 5; i++) { globalThis.gc(); await new Promise((done) => setImmediate(done)); }
    console.log("held");
    process.stdin.resume();`;
  const child = spawn(process.execPath, ["--expose-gc", "--input-type=module", "-e", program]);
  t.after(() => child.kill("SIGKILL"));
  await once(child.stdout, "data");
  assert.equal(acquireLock(path).type, "taken");
});

test("who waits asks the same file again and again, and has the lock right after its holder's end", async (t) => {
  const path = join(await folder(t), "gateway.lock");
  const { child } = await other(t, path);
  const attempt = tryLock(path);
  for (let i = 0; i < 100; i++) assert.equal(attempt.take().type, "taken");
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
  const lock = attempt.take();
  assert.ok(lock.type === "held");
  assert.equal((await other(t, path)).got, "taken");
  lock.release();
  const given = tryLock(path);
  given.giveUp();
  take(path).release();
});

test("a file that cannot be a lock is a fault that says what to do", async (t) => {
  const home = await folder(t);
  const foreign = join(home, "foreign.lock");
  await writeFile(foreign, "x".repeat(5_000));
  assert.throws(() => acquireLock(foreign), {
    code: "home-unusable",
    message: /not the lock of a gateway; move it away/,
  });
  const directory = join(home, "folder.lock");
  await mkdir(directory);
  assert.throws(() => acquireLock(directory), {
    code: "home-unusable",
    message: /cannot be used .*check that the folder/,
  });
  assert.throws(() => acquireLock(join(home, "missing", "x.lock")), { code: "home-unusable" });
});

test("an empty file, as an older start leaves it, is no obstacle", async (t) => {
  const path = join(await folder(t), "gateway.lock");
  await writeFile(path, "");
  take(path).release();
});
