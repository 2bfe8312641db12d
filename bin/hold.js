// The holder of one job: it outlives the gateway that started it, runs a command in a session of its own, keeps what the
// command says within bounds, holds it to its time limit, and writes down how it ended. Everything is in the job's folder,
// which is its only argument. Whoever makes the file `claim` first decides whether the job may run at all.
// Plain JavaScript that any Node from 20 on can read; it needs nothing but Node and kin.js, and mkfifo where that is there.

import { execFileSync, spawn } from "node:child_process";
import fs from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { guard } from "./guard.js";
import { isGroupAlive, openKin, startTimeOf } from "./kin.js";

const isWindows = process.platform === "win32";
/** How long a command may take to end after being asked: by somebody who waits, and by its time limit. */
const [killGraceMs, limitGraceMs] = [500, 2_000];
/** What is in the pipe when the command has ended is read; who still holds its other end is not waited for. */
const [lastWordsMs, lookAgainMs] = [250, 20];
/** The same numbers are in src/host/jobs/output.ts. */
const [headBytes, pieceBytes] = [8 * 1024 * 1024, 1024 * 1024];
/** Room for the last word, taken while there is some. */
const reserveBytes = 2_048;

/** Who leaves the group is looked for this soon, and then this often: it costs a few small reads for each process. */
const [firstSeekMs, seekMs] = [50, 1_000];

/** Who does not go even by force, because it is not ours or waits for a disk, is not waited for. */
const goneMs = 2_000;

const folder = process.argv[2] ?? "";
const file = (name) => join(folder, name);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function main() {
  const job = JSON.parse(fs.readFileSync(file("job.json"), "utf8"));
  const begun = Date.now();
  const wish = openWish();
  if (!claim({ by: "holder", pid: process.pid, startTime: startTimeOf(process.pid), at: begun }))
    return process.exit(0);
  const reserve = attempt(() => writeWhole(file("exit.draft"), " ".repeat(reserveBytes)));
  const keep = openKeep();
  const finish = (last) => {
    writeEnd(reserve, { ...last, tookMs: Date.now() - begun, bytes: keep.bytes(), lost: keep.lost() });
    process.exit(0);
  };
  hold(job, keep, wish).then(finish, (error) =>
    finish({ code: null, signal: null, how: "failed", why: error.message }),
  );
}

/** Somebody wants the end; it may be said at any moment, and the first word counts. */
function openWish() {
  let said = null;
  let obey = () => {};
  const say = (how) => {
    if (said !== null) return;
    said = how;
    obey(how);
  };
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => say("killed"));
  return {
    say,
    said: () => said,
    obeyed(by) {
      obey = by;
      if (said !== null) by(said);
    },
  };
}

async function hold(job, keep, wish) {
  const mark = fs.realpathSync(folder);
  const pipe = openPipe();
  const child = spawn(job.program, job.words, {
    cwd: job.cwd,
    env: { ...process.env, EVERTURN_JOB: mark },
    stdio: ["ignore", ...pipe.ends],
    detached: !isWindows,
    windowsHide: true,
    windowsVerbatimArguments: job.verbatim === true,
  });
  const exited = new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  const heard = pipe.listen(child, keep.add);
  const group = child.pid;
  if (group === undefined) return exited;
  attempt(() => fs.writeFileSync(file("group"), JSON.stringify({ pid: group, startTime: startTimeOf(group) })));

  const kin = openKin(mark, group);
  let forced = null;
  const force = () => {
    forced ??= Date.now();
    signalGroup(group, "SIGKILL");
    // Who is just being started is found at the next look.
    for (let looks = 0, found = kin.all(); found.length > 0 && looks < 10; looks++, found = kin.all())
      for (const pid of found) signalOne(pid, "SIGKILL");
  };
  seek(kin);
  const end = (graceMs) => setTimeout(force, graceMs, signalGroup(group, "SIGTERM"));
  wish.obeyed((how) => end(how === "limit" ? limitGraceMs : killGraceMs));
  setTimeout(() => wish.say("limit"), job.limitMs);
  let why = null;
  if (job.sandbox !== undefined && job.sandbox !== "past")
    guard(folder, kin.count, (reason) => {
      why = reason;
      wish.say("killed");
      force();
    });

  const first = await exited;
  // What a command leaves behind ends with it, unless it was told to stay.
  if (!job.background && wish.said() === null && isGroupAlive(group)) end(killGraceMs);
  while (isGroupAlive(group) && (forced === null || Date.now() - forced < goneMs))
    await pause(job.background && wish.said() === null ? lookAgainMs * 10 : lookAgainMs);
  if (wish.said() !== null) force();
  await Promise.race([heard, pause(lastWordsMs)]);
  return { ...first, how: wish.said() ?? "ended", why };
}

/** Whoever ends the job without us finds the same ones by this file. */
function seek(kin) {
  let noted = "";
  const look = () => {
    const text = JSON.stringify({ strays: kin.strays() });
    if (text !== noted && (noted !== "" || text.includes("pid")))
      attempt(() => fs.writeFileSync(file("strays"), (noted = text), { mode: 0o600 }));
  };
  setTimeout(() => setInterval(look, seekMs, look()), firstSeekMs);
}

/** True when the job is ours. Made elsewhere and linked, so that nobody ever reads half of it. */
function claim(who) {
  const draft = file(`claim.${process.pid}`);
  writeWhole(draft, JSON.stringify(who));
  try {
    return link(draft, file("claim"));
  } finally {
    fs.unlinkSync(draft);
    syncFolder();
  }
}

/** On a file system without links the claim is made first and filled after. */
function link(draft, path) {
  try {
    fs.linkSync(draft, path);
  } catch (error) {
    if (error.code === "EEXIST") return false;
    return attempt(() => fs.copyFileSync(draft, path, fs.constants.COPYFILE_EXCL)) === true;
  }
  return true;
}

function writeWhole(path, text, mode = "wx") {
  const fd = fs.openSync(path, mode, 0o600);
  try {
    fs.writeSync(fd, text, 0);
    fs.fsyncSync(fd);
  } finally {
    fs.closeSync(fd);
  }
}

function syncFolder() {
  const fd = isWindows ? null : fs.openSync(folder, "r");
  if (fd !== null) fs.closeSync(fd, fs.fsyncSync(fd));
}

/** Into the room that was taken at the start. A disk that is full has room again, or not; the job has ended in any case. */
function writeEnd(reserve, end) {
  const draft = file("exit.draft");
  const text = JSON.stringify(end).padEnd(reserveBytes, " ");
  for (let tries = 0; tries < 20; tries++) {
    const isWritten = attempt(() => {
      if (reserve === null) fs.rmSync(draft, { force: true });
      writeWhole(draft, text, reserve === null ? "wx" : "r+");
      fs.renameSync(draft, file("exit.json"));
      syncFolder();
    });
    if (isWritten !== null) return;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 250);
  }
}

/**
 * What the command says: the beginning in `output`, then pieces of which the last two are kept. Where a byte lies follows
 * from its number alone. A disk that refuses is not asked again for this piece, and the command does not wait for it.
 */
function openKeep() {
  let bytes = 0;
  let lost = null;
  let piece = 0;
  let fd = null;
  const noted = (work) => {
    if (attempt(work, (error) => (lost = error.code ?? error.message)) === null) fd = null;
  };
  const open = (n) => {
    if (fd !== null) fs.closeSync(fd);
    fd = null;
    piece = n;
    if (n > 2) fs.rmSync(file(`output.${n - 2}`), { force: true });
    fd = fs.openSync(file(n === 0 ? "output" : `output.${n}`), "w", 0o600);
  };
  noted(() => open(0));
  return {
    bytes: () => bytes,
    lost: () => lost,
    add(data) {
      for (let at = 0; at < data.length; ) {
        const n = bytes < headBytes ? 0 : 1 + Math.floor((bytes - headBytes) / pieceBytes);
        const start = n === 0 ? 0 : headBytes + (n - 1) * pieceBytes;
        const size = Math.min(data.length - at, start + (n === 0 ? headBytes : pieceBytes) - bytes);
        if (n !== piece) noted(() => open(n));
        const part = data.subarray(at, at + size);
        const place = bytes - start;
        if (fd !== null) noted(() => writeAll(fd, part, place));
        bytes += size;
        at += size;
      }
    },
  };
}

/**
 * One pipe for both streams, so that what is said stays in order; and a real one, because what Node makes by itself is a
 * socket, which programs cannot open as /dev/stderr. Where it cannot be made, two of Node's own serve.
 */
function openPipe() {
  const path = file("pipe");
  try {
    if (isWindows) throw new Error("no such pipes here");
    execFileSync("mkfifo", ["-m", "600", path], { stdio: "ignore" });
    const reader = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK);
    const writer = fs.openSync(path, "w");
    fs.unlinkSync(path);
    return {
      ends: [writer, writer],
      listen(_child, hear) {
        fs.closeSync(writer);
        return heardFrom(new Socket({ fd: reader, readable: true, writable: false }), hear);
      },
    };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return {
      ends: ["pipe", "pipe"],
      listen: (child, hear) =>
        Promise.all([child.stdout, child.stderr].flatMap((one) => (one ? [heardFrom(one, hear)] : []))),
    };
  }
}

function writeAll(fd, part, place) {
  for (let done = 0; done < part.length; ) done += fs.writeSync(fd, part, done, part.length - done, place + done);
}

function heardFrom(stream, hear) {
  return new Promise((resolve) => {
    stream.on("data", hear);
    stream.once("error", resolve);
    stream.once("close", resolve);
  });
}

function signalGroup(pid, signal) {
  if (!isWindows) return signalOne(-pid, signal);
  // There is no polite way, and no group: a tree is ended by the number of its first process.
  attempt(() => execFileSync("taskkill", ["/T", "/F", "/PID", String(pid)], { stdio: "ignore" }));
}

const signalOne = (pid, signal) => attempt(() => process.kill(pid, signal));

/** What the work gave, true where it gave nothing; null when the system refused, which is told and goes on. */
function attempt(work, told = () => undefined) {
  try {
    return work() ?? true;
  } catch (error) {
    if (typeof error.code !== "string") throw error;
    told(error);
    return null;
  }
}

main();
