// The watcher over real files: fires once, for us, when lanes are open and nobody drains; and never otherwise.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { isMainThread } from "node:worker_threads";
import { ownIdentity } from "./identity.ts";
import { type Judgement, type MarkerFiles, type MarkerKind, newMarker, writeMarker } from "./markers.ts";
import { type Watch, type WatchOptions, decideSight, watchMarkers } from "./watcher.ts";
import { canBeWithin } from "../testing/quick.ts";

const self = ownIdentity();
const stranger = { pid: self.pid + 1, startTime: 5 };

type Bench = {
  readonly files: MarkerFiles;
  readonly fired: MarkerKind[];
  readonly logged: string[];
  readonly looks: () => number;
  readonly start: (options?: Partial<WatchOptions>) => Watch;
};

async function bench(t: TestContext): Promise<Bench> {
  const home = await mkdtemp(join(tmpdir(), "everturn-watcher-"));
  t.after(() => rm(home, { recursive: true, force: true }));
  const files = { plannedStop: join(home, "stop.json"), takeOver: join(home, "take.json") };
  const fired: MarkerKind[] = [];
  const logged: string[] = [];
  let looks = 0;
  const start: Bench["start"] = (options) => {
    const watch = watchMarkers({
      files,
      self,
      isOpen: () => true,
      isDraining: () => false,
      fire: (kind) => fired.push(kind),
      log: (_level, what) => logged.push(what),
      now: () => {
        looks += 1;
        return Date.now();
      },
      intervalMs: 5,
      ...options,
    });
    t.after(() => watch.stop());
    return watch;
  };
  return { files, fired, logged, looks: () => looks, start };
}

const mark = (path: string, target = self, at = Date.now()) =>
  writeMarker(path, newMarker("plannedStop", target, 7, at));

async function until(what: string, isTrue: () => boolean): Promise<void> {
  const patience = performance.now() + 60_000;
  while (!isTrue()) {
    assert.ok(performance.now() < patience, what);
    await pause(1);
  }
}

/** Whole looks that began after this moment; once it has fired there are no more. */
async function looked(on: Bench, times = 5): Promise<void> {
  const from = on.looks();
  await until(`${times} looks`, () => on.looks() >= from + times || on.fired.length > 0);
}

test("what markers mean, and in which life, decides", () => {
  const rows: readonly (readonly [string, Judgement, Judgement, { open: boolean; draining: boolean }, string])[] = [
    ["none", "absent", "absent", { open: true, draining: false }, " "],
    ["planned stop", "absent", "self", { open: true, draining: false }, "plannedStop "],
    ["take-over", "self", "absent", { open: true, draining: false }, "takeOver "],
    ["both", "self", "self", { open: true, draining: false }, "takeOver "],
    ["starting", "self", "self", { open: false, draining: false }, " "],
    ["draining", "self", "self", { open: true, draining: true }, " "],
    ["draining and closed", "self", "self", { open: false, draining: true }, " "],
    ["others", "other", "unreadable", { open: true, draining: false }, " "],
    ["stale beside ours", "stale", "self", { open: true, draining: false }, "plannedStop takeOver"],
    ["stale while starting", "stale", "stale", { open: false, draining: false }, " takeOver,plannedStop"],
  ];
  for (const [what, takeOver, plannedStop, life, expected] of rows) {
    const { fire, remove } = decideSight({ takeOver, plannedStop }, life);
    assert.equal(`${fire ?? ""} ${remove.join()}`, expected, what);
  }
});

test("S1 S6 a marker naming us asks for the stop exactly once, without a signal, and the watcher ends", async (t) => {
  const on = await bench(t);
  await mark(on.files.plannedStop);
  const watch = on.start();
  await watch.done;
  await until("fired", () => on.fired.length > 0);
  // It stays on the disk, and whoever looks again finds it there: still one call.
  watch.look();
  await mark(on.files.plannedStop);
  await mark(on.files.takeOver);
  await watch.stop();
  assert.ok(existsSync(on.files.plannedStop));
  assert.deepEqual(on.fired, ["plannedStop"]);
  assert.deepEqual(on.logged, []);
});

test("S1 a marker that appears later fires at once where there are file events", async (t) => {
  const on = await bench(t);
  const watch = on.start({ intervalMs: 3_600_000 });
  await until("the first look", () => on.looks() === 1);
  await mark(on.files.takeOver);
  await watch.done;
  await until("fired", () => on.fired.length > 0);
  assert.deepEqual(on.fired, ["takeOver"]);
});

test("S2 without a marker, or with one for others, it never fires and looks until it is told to stop", async (t) => {
  const on = await bench(t);
  const watch = on.start();
  await looked(on, 10);
  await mark(on.files.plannedStop, stranger);
  await mark(on.files.takeOver, stranger);
  await looked(on, 10);
  await watch.stop();
  assert.deepEqual(on.fired, []);
  assert.ok(existsSync(on.files.plannedStop), "a young one is left to whom it is for");
  const after = on.looks();
  watch.look();
  await pause(1);
  assert.ok(on.looks() <= after + 1, "nobody looks any more");
});

test("S3 while draining it does not fire", async (t) => {
  const on = await bench(t);
  await mark(on.files.plannedStop);
  const watch = on.start({ isDraining: () => true });
  await looked(on, 10);
  await watch.stop();
  assert.deepEqual(on.fired, []);
});

test("S4 before lanes are open it does not fire; a marker naming this boot fires once they are", async (t) => {
  const on = await bench(t);
  let open = false;
  const watch = on.start({ isOpen: () => open });
  await mark(on.files.plannedStop);
  await looked(on, 10);
  assert.deepEqual(on.fired, []);
  assert.ok(existsSync(on.files.plannedStop), "kept");
  open = true;
  watch.look();
  await watch.done;
  await until("fired", () => on.fired.length > 0);
  assert.deepEqual(on.fired, ["plannedStop"]);
});

test("S5 a stop ends the watcher in less than half a second at an interval of 0.1 s", async (t) => {
  await canBeWithin(500, async () => {
    const on = await bench(t);
    const watch = on.start({ intervalMs: 100 });
    await looked(on, 1);
    const begun = performance.now();
    await watch.stop();
    await watch.done;
    const tookMs = performance.now() - begun;
    await mark(on.files.plannedStop);
    watch.look();
    await pause(1);
    assert.deepEqual(on.fired, []);
    return tookMs;
  });
});

test("S7 errors are logged once each and survived, a stop is honoured, nothing is fired", async (t) => {
  const on = await bench(t);
  const missing = join(on.files.plannedStop, "..", "missing");
  await mkdir(on.files.takeOver);
  let trouble = true;
  const watch = on.start({
    files: { plannedStop: join(missing, "nul\0"), takeOver: on.files.takeOver },
    isOpen: () => {
      if (trouble) throw new Error("the file system failed");
      return true;
    },
  });
  await looked(on, 30);
  trouble = false;
  await looked(on, 30);
  assert.deepEqual(on.fired, []);
  assert.equal(on.logged.length, new Set(on.logged).size);
  for (const what of [
    /the file system failed.*tried again/,
    /folder cannot be watched/,
    /not a file.*not followed/,
    /null bytes/,
  ])
    assert.equal(on.logged.filter((line) => what.test(line)).length, 1, `${what} in ${on.logged.join("\n")}`);
  await watch.stop();
});

test("S7 after errors it still does its work", async (t) => {
  const on = await bench(t);
  const home = join(on.files.plannedStop, "..", "later");
  const files = { plannedStop: join(home, "stop.json"), takeOver: join(home, "take.json") };
  const watch = on.start({ files });
  await looked(on);
  await mkdir(home);
  await writeFile(files.plannedStop, '{"target_pid": ');
  await looked(on);
  assert.deepEqual(on.fired, []);
  await mark(files.plannedStop);
  await watch.done;
  await until("fired", () => on.fired.length > 0);
  assert.deepEqual(on.fired, ["plannedStop"]);
});

test("a request that fails is not made again", async (t) => {
  const on = await bench(t);
  await mark(on.files.plannedStop);
  let calls = 0;
  const watch = on.start({
    fire: () => {
      calls += 1;
      throw new Error("not now");
    },
  });
  await watch.done;
  await until("logged", () => on.logged.length > 0);
  assert.equal(calls, 1);
});

test("stale markers are removed, young ones of others are not", async (t) => {
  const on = await bench(t);
  await mark(on.files.plannedStop, stranger, Date.now() - 61_000);
  await mark(on.files.takeOver, stranger);
  const watch = on.start({ isOpen: () => false });
  await until("removed", () => !existsSync(on.files.plannedStop));
  await looked(on);
  await watch.stop();
  assert.ok(existsSync(on.files.takeOver));
  assert.deepEqual(on.fired, []);
});

test("a folder in which much is written is still looked at", async (t) => {
  const on = await bench(t);
  const watch = on.start();
  const busy = join(on.files.plannedStop, "..", "busy");
  for (let i = 0; i < 1_000; i++) await writeFile(busy, String(i));
  await mark(on.files.plannedStop);
  await watch.done;
  await until("fired", () => on.fired.length > 0);
  assert.deepEqual(on.fired, ["plannedStop"]);
});

test("S8 it looks every half second by default and hands over on the event loop of the gateway", async (t) => {
  const on = await bench(t);
  const moments: number[] = [];
  let inCall = true;
  let wasInCall = false;
  let onMain = false;
  const watch = watchMarkers({
    // A folder that gives no events: only the poll is left.
    files: { plannedStop: join(on.files.plannedStop, "below", "a"), takeOver: on.files.takeOver },
    self,
    isOpen: () => true,
    isDraining: () => false,
    fire: (kind) => {
      wasInCall = inCall;
      onMain = isMainThread;
      on.fired.push(kind);
    },
    log: () => undefined,
    now: () => {
      moments.push(performance.now());
      return Date.now();
    },
  });
  inCall = false;
  t.after(() => watch.stop());
  await until("two looks", () => moments.length >= 2);
  const [first = 0, second = 0] = moments;
  assert.ok(second - first > 450, `${second - first} ms`);
  await mark(on.files.takeOver);
  await watch.done;
  await until("fired", () => on.fired.length > 0);
  assert.deepEqual([on.fired, wasInCall, onMain], [["takeOver"], false, true]);
});

test("watching keeps no process alive", async (t) => {
  const on = await bench(t);
  const program = `
    import { watchMarkers } from ${JSON.stringify(new URL("watcher.ts", import.meta.url).href)};
    watchMarkers({ files: ${JSON.stringify(on.files)}, self: { pid: process.pid, startTime: null }, isOpen: () => true,
      isDraining: () => false, fire() {}, log() {}, now: Date.now });
    console.log("watching");`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.after(() => child.kill("SIGKILL"));
  const [code] = await once(child, "exit");
  assert.equal(code, 0);
});
