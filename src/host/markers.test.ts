// Whom a marker means: by identity and age, as a table; and the files themselves: whole, private, read with tolerance.

import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { ownIdentity } from "./identity.ts";
import {
  type Found,
  type Judgement,
  type Marker,
  announcedNow,
  judgeMarker,
  newMarker,
  parseMarker,
  readMarker,
  readMarkerNow,
  removeMarker,
  removeStale,
  writeMarker,
} from "./markers.ts";

const now = Date.parse("2026-03-04T05:06:07.000Z");
const self = { pid: 42, startTime: 1_230 };
const minute = 60_000;

function found(marker: Partial<Marker>, modifiedAt = now): Found {
  const whole = { target_pid: 42, target_start_time: null, written_at: null, ...marker };
  return { type: "found", marker: whole, content: whole, modifiedAt };
}

const ago = (ms: number) => new Date(now - ms).toISOString();
const unreadable = (modifiedAt: number | null): Found => ({ type: "unreadable", why: "", text: null, modifiedAt });

test("a marker means this process by identity and age", () => {
  const both = { target_pid: 42, target_start_time: 1_230 };
  const rows: readonly (readonly [what: string, found: Found, Judgement])[] = [
    ["none", { type: "absent" }, "absent"],
    ["number and start time", found({ ...both, written_at: ago(0) }), "self"],
    ["both, old", found({ ...both, written_at: ago(3_600_000) }), "self"],
    ["both, from the future: the clock was set back", found({ ...both, written_at: ago(-3_600_000) }), "self"],
    ["number alone, young", found({ written_at: ago(minute) }), "self"],
    ["number alone, old", found({ written_at: ago(minute + 1) }), "stale"],
    ["number alone, from the future a little", found({ written_at: ago(-minute) }), "self"],
    ["number alone, from another clock", found({ written_at: ago(-minute - 1) }), "stale"],
    ["number alone, no time but the file's", found({}, now - minute), "self"],
    ["number alone, an old file", found({}, now - minute - 1), "stale"],
    ["what it says wins over the file's time", found({ written_at: ago(5) }, now - 3_600_000), "self"],
    ["the number was given to another process", found({ target_start_time: 1_240, written_at: ago(5) }), "other"],
    ["the same, old", found({ target_start_time: 1_240, written_at: ago(minute + 1) }), "stale"],
    ["somebody else", found({ target_pid: 43, target_start_time: 1_230, written_at: ago(5) }), "other"],
    ["somebody else, old", found({ target_pid: 43, written_at: ago(minute + 1) }), "stale"],
    ["half written", unreadable(now - 10), "unreadable"],
    ["half written and left", unreadable(now - minute - 1), "stale"],
    ["not to be looked at", unreadable(null), "unreadable"],
  ];
  for (const [what, marker, judgement] of rows) assert.equal(judgeMarker(marker, self, now), judgement, what);
});

test("where our own start time is not known, the number and the age decide", () => {
  const unknown = { pid: 42, startTime: null };
  const rows: readonly (readonly [Partial<Marker>, Judgement])[] = [
    [{ target_start_time: 99, written_at: ago(5) }, "self"],
    [{ target_start_time: 99, written_at: ago(minute + 1) }, "stale"],
    [{ target_pid: 43, target_start_time: 99, written_at: ago(5) }, "other"],
  ];
  for (const [marker, judgement] of rows) assert.equal(judgeMarker(found(marker), unknown, now), judgement);
});

test("what is no marker is unreadable, never a guess", () => {
  const texts = [
    "",
    "{",
    '{"target_pid": 42',
    "[]",
    "null",
    "42",
    '"42"',
    "{}",
    '{"target_pid":"42"}',
    '{"target_pid":0}',
    '{"target_pid":-42}',
    '{"target_pid":4.2}',
    '{"target_pid":42,"target_start_time":"x"}',
    '{"target_pid":42,"written_at":"soon"}',
    '{"target_pid":42,"written_at":5}',
    '{"pid":1,"text":"\\"target_pid\\": 42"}',
  ];
  for (const text of texts) assert.equal(parseMarker(text, now).type, "unreadable", text);
  const read = parseMarker('{"target_pid":42,"target_start_time":null,"stopper_pid":7,"more":1}', 5);
  assert.deepEqual(read, {
    type: "found",
    marker: { target_pid: 42, target_start_time: null, stopper_pid: 7, written_at: null },
    content: { target_pid: 42, target_start_time: null, stopper_pid: 7, more: 1 },
    modifiedAt: 5,
  });
});

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "everturn-markers-"));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

test("a marker is written whole, for its owner only, and read back by both readers", async (t) => {
  const path = join(await folder(t), "m.json");
  assert.deepEqual(await readMarker(path), { type: "absent" });
  assert.deepEqual(readMarkerNow(path), { type: "absent" });
  const marker = newMarker("plannedStop", self, 7, now);
  assert.deepEqual(marker, {
    target_pid: 42,
    target_start_time: 1_230,
    stopper_pid: 7,
    written_at: "2026-03-04T05:06:07.000Z",
  });
  assert.equal(newMarker("takeOver", self, 7, now).replacer_pid, 7);
  await writeFile(path, "old", { mode: 0o644 });
  await writeMarker(path, marker);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  const read = await readMarker(path);
  assert.ok(read.type === "found");
  assert.deepEqual(read.marker, marker);
  assert.deepEqual(readMarkerNow(path), read);
  assert.deepEqual(await readdir(join(path, "..")), ["m.json"]);
  await removeMarker(path);
  await removeMarker(path);
  assert.equal((await readMarker(path)).type, "absent");
});

test("a reader never sees half a marker", async (t) => {
  const path = join(await folder(t), "m.json");
  await writeMarker(path, newMarker("takeOver", self, 7, now));
  const writes = (async () => {
    for (let writer = 1; writer < 100; writer++) await writeMarker(path, newMarker("takeOver", self, writer, now));
  })();
  for (let i = 0; i < 100; i++) assert.equal((await readMarker(path)).type, "found");
  await writes;
});

test("a marker that cannot be written is a fault that says what to do, and leaves nothing behind", async (t) => {
  const home = await folder(t);
  const marker = newMarker("plannedStop", self, 7, now);
  await assert.rejects(writeMarker(join(home, "missing", "m.json"), marker), {
    code: "home-unusable",
    message: /could not be written .*check that the folder/,
  });
  await assert.rejects(writeMarker(home, marker), { code: "home-unusable" });
  assert.deepEqual(await readdir(home), []);
});

test("what lies in a marker's place and is none is told, not followed", async (t) => {
  const home = await folder(t);
  await mkdir(join(home, "folder"));
  await writeFile(join(home, "large"), "x".repeat(70_000));
  await writeFile(join(home, "half"), '{"target_pid": 4');
  const rows: readonly (readonly [string, RegExp])[] = [
    ["folder", /not a file/],
    ["large", /70000 bytes/],
    ["half", /half/],
    ["half/below", /ENOTDIR/],
    ["nul\0", /null bytes/],
  ];
  for (const [name, why] of rows) {
    const read = await readMarker(join(home, name));
    assert.ok(read.type === "unreadable", name);
    assert.match(read.why, why);
    assert.deepEqual(readMarkerNow(join(home, name)), read);
    assert.equal(judgeMarker(read, self, Date.now()), "unreadable", name);
  }
  await utimes(join(home, "folder"), 0, 0);
  assert.equal(judgeMarker(await readMarker(join(home, "folder")), self, Date.now()), "unreadable", "at any age");
});

test("a stale marker is removed, one that took its place in between is not", async (t) => {
  const home = await folder(t);
  const path = join(home, "m.json");
  await writeMarker(path, newMarker("plannedStop", { pid: 9, startTime: 1 }, 7, now - 2 * minute));
  await removeStale(path, self, now);
  assert.deepEqual(await readdir(home), []);
  await removeStale(path, self, now);
  await writeMarker(path, newMarker("plannedStop", self, 7, now));
  await removeStale(path, self, now);
  assert.deepEqual(await readdir(home), ["m.json"]);
});

test("a take-over and a planned stop that name this process are told apart, the take-over first", async (t) => {
  const home = await folder(t);
  const files = { plannedStop: join(home, "stop.json"), takeOver: join(home, "take.json") };
  const own = ownIdentity();
  assert.equal(announcedNow(files, own, Date.now()), null);
  await writeMarker(files.takeOver, newMarker("takeOver", { pid: own.pid + 1, startTime: null }, 7, Date.now()));
  assert.equal(announcedNow(files, own, Date.now()), null);
  await writeMarker(files.plannedStop, newMarker("plannedStop", own, 7, Date.now()));
  assert.equal(announcedNow(files, own, Date.now()), "plannedStop");
  await writeMarker(files.takeOver, newMarker("takeOver", own, 7, Date.now()));
  assert.equal(announcedNow(files, own, Date.now()), "takeOver");
});
