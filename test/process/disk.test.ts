// Disks that fill up, refuse every write or turn read-only, under the real program: nothing is confirmed that is not
// stored, health says why, and when the disk is well again everything goes on by itself.

import assert from "node:assert/strict";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type TestContext, test } from "node:test";
import { type Answer, type Client, client } from "./client.ts";
import { type Disk, forbiddenFolder, fragileDisk, isRoot, limitedDisk, smallDisk } from "./disk.ts";
import { newHome, refusedStart, run, runGateway, until, within } from "./stage.ts";

const quickMs = 30_000;

type Refused = { readonly error: { readonly code: string; readonly message: string } };
type Ready = { readonly ready: boolean; readonly reason: string | null };

/** Large, so that what is left of a disk is soon used up. */
const word = (i: number) => `word ${i} ${"x".repeat(20_000)}`;

/**
 * Sends until nothing more goes in. At first a refusal may pass: the store's log can use its own file once more when
 * it has been moved into the database, and that is no lie, because what it takes is stored.
 */
async function sendUntilRefused(
  ask: Client,
): Promise<{ readonly stored: readonly string[]; readonly refused: Answer }> {
  const stored: string[] = [];
  for (let refusals = 0; ; ) {
    const i = stored.length;
    const answer = await ask.post("c1", `m${i}`, { text: word(i) });
    if (answer.status !== 200 && ++refusals === 4) return { stored, refused: answer };
    if (answer.status !== 200) await pause(500);
    else {
      refusals = 0;
      stored.push(word(i));
    }
    assert.ok(i < 1_000, "nothing is ever refused");
  }
}

const readiness = async (ask: Client) => {
  const { status, body } = await ask.call("/readyz");
  return { status, ...(body as Ready) };
};

async function assertAnswered(ask: Client, chat: string, words: readonly string[]): Promise<void> {
  const all = await until(
    () => ask.transcript(chat),
    (seen) => seen.length >= 2 * words.length,
    "all is answered",
  );
  const texts = (role: string) => all.filter((one) => one.role === role).map((one) => one.text);
  assert.deepEqual(texts("user"), words);
  assert.deepEqual(
    texts("assistant"),
    words.map((word) => `You said: ${word}`),
  );
}

async function fullDisk(t: TestContext, disk: Disk, says: RegExp): Promise<void> {
  const home = join(disk.folder, "home");
  const gateway = await runGateway(t, home);
  const ask = client(gateway);
  await ask.send("before", "m0", "all is well");
  await ask.send("slow", "m0", "count to 5 slowly");
  disk.fill(gateway.pid);
  const { stored, refused } = await sendUntilRefused(ask);
  assert.equal(refused.status, 503);
  assert.match((refused.body as Refused).error.message, says);
  assert.ok(Number(refused.headers.get("retry-after")) > 0, "it says when to come back");
  // A step of the slow turn is small and may still find room, and for that moment all is well.
  await until(
    () => readiness(ask),
    ({ status, reason }) => status === 503 && says.test(reason ?? ""),
    "it is not ready",
  );
  await until(
    async () => ((await ask.call("/healthz")).body as { state: string }).state,
    (state) => state === "degraded",
    "its health is red",
  );
  await until(
    async () => (await run(t, home, ["gateway", "status"])).out,
    (out) => says.test(out),
    "its status says why",
  );
  await assertAnswered(ask, "before", ["all is well"]);
  // A client that keeps trying is told the same, and nothing of it is stored.
  const last = `m${stored.length}`;
  const text = word(stored.length);
  for (let i = 0; i < 5; i++) assert.equal((await ask.post("c1", last, { text })).status, 503);

  disk.free(gateway.pid);
  await until(
    () => readiness(ask),
    ({ status: code }) => code === 200,
    "it has come back by itself",
  );
  assert.equal(await ask.send("c1", last, text), "accepted");
  assert.equal(await ask.send("c1", last, text), "duplicate");
  await assertAnswered(ask, "c1", [...stored, text]);
  const slow = await until(
    () => ask.transcript("slow"),
    (all) => all.length >= 2,
    "the slow one is answered",
  );
  assert.deepEqual(
    slow.map((one) => one.text),
    ["count to 5 slowly", "1, 2, 3, 4, 5\n\nCounted to 5 without interruption."],
  );
  assert.equal(await gateway.end(), 0, gateway.err());
}

async function stopOnFullDisk(t: TestContext, disk: Disk, says: RegExp): Promise<void> {
  const home = join(disk.folder, "home");
  const first = await runGateway(t, home);
  const { port } = first;
  const ask = client(first);
  await ask.send("slow", "m0", "count to 4 slowly");
  disk.fill(first.pid);
  const { stored } = await sendUntilRefused(ask);
  assert.equal(await within(first.end(), "it did not stop on a full disk", quickMs), 0, first.err());
  const refused = await refusedStart(t, home, { port, through: disk.through });
  assert.equal(refused.code, 1, `${refused.code}: ${refused.err}`);
  assert.match(refused.err, says);
  assert.doesNotMatch(refused.out, /is running/);
  if (disk.through.length === 0) disk.free(first.pid);
  const second = await runGateway(t, home, { port });
  await assertAnswered(ask, "c1", stored);
  const slow = await until(
    () => ask.transcript("slow"),
    (all) => all.length >= 2,
    "the slow one is answered",
  );
  assert.match(slow[1]?.text ?? "", /^1, 2, 3, 4\n\nCounted to 4\./);
  assert.equal(slow.length, 2);
  assert.equal(await second.end(), 0);
}

const noRoom = /There is no room left on the disk of .*state\.db\. Make room; Everturn goes on by itself\./;
const notWritten = /state\.db could not be written \(.*\)\. Everturn keeps trying; check the disk\./;

test("a full disk: 503, red health, nothing lost; it comes back by itself", async (t) => {
  const disk = smallDisk(t);
  if (disk === null) return t.skip("this user may not mount a small disk; the next test does it by a limit");
  await fullDisk(t, disk, noRoom);
});

test("a disk that fails every write: the same", async (t) => {
  const disk = limitedDisk(t);
  if (disk === null) return t.skip("there is no prlimit on this machine");
  await fullDisk(t, disk, notWritten);
});

test("a stop and a start on a full disk end in time, and nothing is lost", async (t) => {
  const disk = smallDisk(t);
  if (disk === null) return t.skip("this user may not mount a small disk; the next test does it by a limit");
  await stopOnFullDisk(t, disk, noRoom);
});

test("a stop and a start on a disk that fails every write: the same", async (t) => {
  const disk = limitedDisk(t);
  if (disk === null) return t.skip("there is no prlimit on this machine");
  await stopOnFullDisk(t, disk, /could not be written|cannot be used|cannot be opened/);
});

test("a disk that turns read-only while it runs: 503, red health; all that was confirmed is there after the repair", async (t) => {
  const disk = fragileDisk(t);
  if (disk === null) return t.skip("this machine cannot mount a file system that can be broken");
  const home = join(disk.folder, "home");
  const first = await runGateway(t, home);
  const { port } = first;
  const ask = client(first);
  await ask.send("slow", "m0", "count to 4 slowly");
  await ask.send("before", "m0", "all is well");
  disk.turnReadOnly();
  const { stored, refused } = await sendUntilRefused(ask);
  assert.equal(refused.status, 503);
  assert.match((refused.body as Refused).error.message, /state\.db .*[Cc]heck the/);
  await until(
    () => readiness(ask),
    ({ status }) => status === 503,
    "it is not ready",
  );
  assert.equal(await within(first.end(), "it did not stop on a read-only disk", quickMs), 0, first.err());
  const again = await refusedStart(t, home, { port });
  assert.ok(again.code === 1 || again.code === 78, `${again.code}: ${again.err}`);
  assert.match(again.err, /cannot be used|cannot be opened for writing|could not be written/);
  disk.repair();
  const second = await runGateway(t, home, { port });
  const look = client(second);
  assert.equal(await look.send("c1", `m${stored.length}`, word(stored.length)), "accepted");
  await assertAnswered(look, "c1", [...stored, word(stored.length)]);
  await assertAnswered(look, "before", ["all is well"]);
  const slow = await until(
    () => look.transcript("slow"),
    (all) => all.length >= 2,
    "the slow one is answered",
  );
  assert.match(slow[1]?.text ?? "", /^1, 2, 3, 4\n\nCounted to 4\./);
  assert.equal(second.token, first.token, "the access token is as durable as what it opens");
  assert.equal(await second.end(), 0);
});

test("a home on a read-only disk is refused and unchanged; writable again, it goes on", async (t) => {
  const disk = smallDisk(t);
  if (disk === null) return t.skip("this user may not mount a small disk; the next test does it by permissions");
  const home = join(disk.folder, "home");
  const first = await runGateway(t, home);
  const { port } = first;
  const ask = client(first);
  await ask.send("c1", "m0", "word 0");
  await assertAnswered(ask, "c1", ["word 0"]);
  await first.end("SIGKILL");
  disk.remount("ro");
  const refused = await refusedStart(t, home);
  assert.equal(refused.code, 78, refused.err);
  assert.match(refused.err, /home folder .* cannot be used \(.*EROFS.*\)\..*EVERTURN_HOME/);
  disk.remount("rw");
  const second = await runGateway(t, home, { port });
  await assertAnswered(ask, "c1", ["word 0"]);
  assert.equal(await second.end(), 0);
});

test("a home without write permission, below a file, or that is a file is refused with what to do", async (t) => {
  const { folder, through } = forbiddenFolder(t);
  const cases = [
    { home: folder, through, says: /EACCES/ },
    { home: join(folder, "home"), through, says: /cannot be used .*EACCES.* Give this user the right to write there/ },
    { home: "/dev/null/x", through: [], says: /cannot be a folder, because \/dev\/null is a file/ },
    { home: "/dev/null", through: [], says: /is a file, not a folder/ },
  ];
  for (const one of cases) {
    const refused = await refusedStart(t, one.home, { through: one.through });
    assert.equal(refused.code, 78, `${one.home}: ${refused.err}`);
    assert.match(refused.err, one.says);
    assert.match(refused.err, /^The home .*set EVERTURN_HOME/i);
    assert.equal(refused.out, "");
  }
  t.diagnostic(isRoot ? "as the super-user, without the right to ignore permissions" : "as an ordinary user");
  // The same machine and user can serve a home that may be written.
  const usable = await runGateway(t, newHome(t), { through });
  assert.equal(await usable.end(), 0);
});
