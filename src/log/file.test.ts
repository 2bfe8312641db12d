// The log file on a real disk: order, turning over by size, a queue with a limit, and a disk that fails and comes back.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { openLogFile } from "./file.ts";
import { readJsonLine } from "./json.ts";

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "everturn-log-"));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

test("lines arrive in order, in a folder that is made when needed, readable by the owner only", async (t) => {
  const file = join(await folder(t), "logs", "gateway.log");
  const log = openLogFile({ file });
  for (let i = 0; i < 1_000; i++) log.write(`${i}\n`);
  await log.flush();
  for (let i = 1_000; i < 1_100; i++) log.write(`${i}\n`);
  await log.flush();
  assert.equal(await readFile(file, "utf8"), Array.from({ length: 1_100 }, (_, i) => `${i}\n`).join(""));
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  assert.deepEqual(log.trouble(), { why: null, lost: 0 });
  await log.flush();
});

test("a full file is turned over, and the oldest is dropped", async (t) => {
  const home = await folder(t);
  const file = join(home, "gateway.log");
  const log = openLogFile({ file, maxBytes: 100, files: 3 });
  for (let i = 0; i < 9; i++) {
    log.write(`${i}${"x".repeat(48)}\n`);
    await log.flush();
  }
  assert.deepEqual((await readdir(home)).sort(), ["gateway.log", "gateway.log.1", "gateway.log.2"]);
  const first = async (name: string) => (await readFile(join(home, name), "utf8")).replace(/x+\n/g, "");
  assert.deepEqual(
    [await first("gateway.log"), await first("gateway.log.1"), await first("gateway.log.2")],
    ["8", "67", "45"],
  );
});

test("a file that was there is continued, one that was deleted is begun again", async (t) => {
  const file = join(await folder(t), "gateway.log");
  await writeFile(file, "old\n");
  const log = openLogFile({ file });
  log.write("new\n");
  await log.flush();
  assert.equal(await readFile(file, "utf8"), "old\nnew\n");
  await rm(file);
  log.write("again\n");
  await log.flush();
  assert.equal(await readFile(file, "utf8"), "again\n");
});

test("a disk that fails costs lines, not the process; what was lost is told when it works again", async (t) => {
  const home = await folder(t);
  const file = join(home, "gateway.log");
  let now = 0;
  const log = openLogFile({ file, pauseMs: 1_000, now: () => now });
  await mkdir(file);
  log.write("lost 1\n");
  await log.flush();
  assert.match(log.trouble().why ?? "", /EISDIR/);
  assert.equal(log.trouble().lost, 1);
  // Within the pause lines only wait.
  log.write("kept\n");
  await rm(file, { recursive: true });
  now = 2_000;
  log.write("after\n");
  await log.flush();
  assert.deepEqual(log.trouble(), { why: null, lost: 0 });
  const lines = (await readFile(file, "utf8")).split("\n");
  assert.deepEqual(readJsonLine(lines[1] ?? "")?.facts["lost"], 1);
  assert.deepEqual(lines.slice(2), ["kept", "after", ""]);
});

test("the queue has a limit", async (t) => {
  const file = join(await folder(t), "gateway.log");
  const log = openLogFile({ file, queueMax: 100 });
  for (let i = 0; i < 50; i++) log.write("0123456789".slice(0, 9).concat("\n"));
  assert.equal(log.trouble().lost, 40);
  await log.flush();
  const text = await readFile(file, "utf8");
  assert.equal(text.split("\n").filter((line) => line === "012345678").length, 10);
  assert.match(text, /"lost":40/);
});

test("two writers to one file leave whole lines", async (t) => {
  const file = join(await folder(t), "gateway.log");
  const logs = [openLogFile({ file }), openLogFile({ file })];
  for (let i = 0; i < 200; i++) for (const log of logs) log.write(`${"y".repeat(100)}\n`);
  await Promise.all(logs.map((log) => log.flush()));
  const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
  assert.equal(lines.length, 400);
  assert.ok(lines.every((line) => line.length === 100));
});
