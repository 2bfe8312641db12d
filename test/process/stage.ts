// What the process tests stand on: the real program in homes of its own, started, signalled and waited for. Every
// process started here is ended with its test, whatever became of it, and nothing depends on how fast the machine is.

import assert from "node:assert/strict";
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { TestContext } from "node:test";

export const root = resolve(import.meta.dirname, "../..");
const entry = join(root, "src", "main.ts");
/** Long enough for any machine; what hangs is found all the same. */
export const patienceMs = 120_000;

export type Exit = number | NodeJS.Signals;

export type Started = {
  readonly child: ChildProcess;
  readonly pid: number;
  /** All it said so far; of a long life only the newest. */
  out(): string;
  err(): string;
  readonly exit: Promise<Exit>;
  /** The home in its environment; empty where it has none. */
  readonly home: string;
  /** Sends a signal and waits for the end. */
  end(signal?: NodeJS.Signals): Promise<Exit>;
};

const keptMax = 1_000_000;

const ends = new WeakMap<TestContext, (() => unknown)[]>();

/** Done at the end of the test, the last first, each whatever became of the others: what was begun is ended before what it stands on. */
export function atEnd(t: TestContext, work: () => unknown): void {
  const known = ends.get(t);
  if (known !== undefined) return void known.push(work);
  const works = [work];
  ends.set(t, works);
  t.after(async () => {
    const faults: unknown[] = [];
    for (let one = works.pop(); one !== undefined; one = works.pop()) {
      try {
        await one();
      } catch (error) {
        faults.push(error);
      }
    }
    if (faults.length > 0) throw new AggregateError(faults, "not everything could be cleaned up");
  });
}

/** A home that does not exist yet, in a folder that goes with the test. */
export function newHome(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "everturn-process-"));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));
  return join(folder, "home");
}

/** A process of any program that ends with the test at the latest. */
export function start(t: TestContext, program: string, words: readonly string[], options: SpawnOptions): Started {
  const child = spawn(program, words, { stdio: ["pipe", "pipe", "pipe"], ...options });
  const exit = new Promise<Exit>((found, fail) => {
    child.once("error", fail);
    child.once("exit", (code, signal) => found(code ?? signal ?? assert.fail("a process ended without a reason")));
  });
  exit.catch(() => undefined);
  const out = keep(child.stdout);
  const err = keep(child.stderr);
  child.stdin?.on("error", () => undefined);
  const end = async (signal: NodeJS.Signals = "SIGINT") => {
    child.kill(signal);
    return within(exit, `process ${child.pid} did not end after ${signal}; it said ${err()}`);
  };
  atEnd(t, () => end("SIGKILL").catch(() => undefined));
  const home = options.env?.["EVERTURN_HOME"] ?? "";
  return { child, pid: child.pid ?? 0, home, out, err, exit, end };
}

function keep(stream: NodeJS.ReadableStream | null): () => string {
  let text = "";
  stream?.setEncoding("utf8");
  stream?.on("data", (chunk: string) => {
    text += chunk;
    if (text.length > 2 * keptMax) text = text.slice(-keptMax);
  });
  stream?.on("error", () => undefined);
  return () => text;
}

export type Settings = {
  readonly port?: number;
  readonly words?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A program and its arguments that start the gateway in its place. */
  readonly through?: readonly string[];
};

export type Gateway = Started & { readonly url: string; readonly token: string; readonly port: number };

export function environmentOf(home: string, { port = 0, env = {} }: Settings = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("EVERTURN_") && !name.startsWith("npm_"),
  );
  // A test runner's own variable would make every child report to it.
  const clean = Object.fromEntries(kept.filter(([name]) => name !== "NODE_TEST_CONTEXT"));
  return { ...clean, EVERTURN_HOME: home, EVERTURN_CONTROL__PORT: String(port), ...env };
}

/** `gateway run` under way; it may be killed before it is ready. */
export function spawnGateway(t: TestContext, home: string, settings: Settings = {}): Started {
  const command = [...(settings.through ?? []), process.execPath, entry, "gateway", "run", ...(settings.words ?? [])];
  const [program = "", ...words] = command;
  const started = start(t, program, words, { cwd: root, env: environmentOf(home, settings) });
  atEnd(t, () => endWhoeverServes(home));
  return started;
}

/** After a hand-over that is another process than the one that was started. */
export function endWhoeverServes(home: string): void {
  if (!existsSync(join(home, "gateway_state.json"))) return;
  const { pid } = stateOf(home);
  if (isAlive(pid)) signal(pid, "SIGKILL");
}

/** A gateway that has said that it is running. */
export async function runGateway(t: TestContext, home: string, settings: Settings = {}): Promise<Gateway> {
  return whenReady(spawnGateway(t, home, settings));
}

export async function whenReady(started: Started): Promise<Gateway> {
  let ended: Exit | null = null;
  const exit = started.exit.then((code) => (ended = code));
  exit.catch(() => (ended = 1));
  const url = await until(
    () => addressIn(started.out()),
    (found) => found !== undefined || ended !== null,
    () => `the gateway is running, which said ${started.err()}`,
    5,
  );
  if (url === undefined) assert.fail(`it ended with ${ended} and said:\n${started.err()}`);
  return { ...started, url, token: tokenOf(started.home), port: Number(new URL(url).port) };
}

/** The address stands in the greeting, and what stops the gateway comes after it. */
function addressIn(said: string): string | undefined {
  return /Web chat: (http:\/\/127\.0\.0\.1:\d+)[\s\S]*stops the gateway[^\n]*\n/.exec(said)?.[1];
}

/** It is never printed. */
export function tokenOf(home: string): string {
  return readFileSync(join(home, "control.token"), "utf8").trim();
}

/** A command of the program from its start to its end. */
export async function run(
  t: TestContext,
  home: string,
  words: readonly string[],
  settings: Settings = {},
): Promise<{ readonly code: Exit; readonly out: string; readonly err: string }> {
  const [program = "", ...rest] = [...(settings.through ?? []), process.execPath, entry, ...words];
  const started = start(t, program, rest, { cwd: root, env: environmentOf(home, settings) });
  started.child.stdin?.end();
  const closed = new Promise((resolve) => started.child.once("close", resolve));
  const code = await within(started.exit, `\`${words.join(" ")}\` did not end`);
  await closed;
  return { code, out: started.out(), err: started.err() };
}

/** A start that must be refused; one that is not is told at once instead of being waited for. */
export async function refusedStart(
  t: TestContext,
  home: string,
  settings: Settings = {},
): Promise<{ readonly code: Exit; readonly out: string; readonly err: string }> {
  const started = spawnGateway(t, home, settings);
  const closed = new Promise((resolve) => started.child.once("close", resolve));
  const served = whenReady(started).then(
    () => assert.fail("it serves, although it should have refused to start"),
    () => undefined,
  );
  await Promise.race([closed, served.then(() => closed)]);
  return { code: await started.exit, out: started.out(), err: started.err() };
}

/** What `gateway_state.json` says. */
export function stateOf(home: string): State {
  return JSON.parse(readFileSync(join(home, "gateway_state.json"), "utf8")) as State;
}

export type State = {
  readonly pid: number;
  readonly start_time: number | null;
  readonly url: string | null;
  readonly gateway_state: string;
  readonly desired_state: string;
  readonly restart_requested: boolean;
  readonly exit_reason: string | null;
  readonly platforms: Readonly<Record<string, { readonly state: string }>>;
};

export function isServed(home: string): boolean {
  return existsSync(join(home, "gateway_state.json")) && isAlive(stateOf(home).pid);
}

/** A process that has ended and waits for a parent that does not care is not alive. */
export function isAlive(pid: number): boolean {
  if (!signal(pid, 0)) return false;
  if (process.platform !== "linux") return true;
  const stat = readProc(`${pid}/stat`);
  return stat !== "" && !/\) Z /.test(stat);
}

/** Contents of a file below /proc, or "" when its process has ended. The process may end between any check and the read. */
export function readProc(file: string): string {
  try {
    return readFileSync(`/proc/${file}`, "utf8");
  } catch (error) {
    assert.match((error as NodeJS.ErrnoException).code ?? "", /^(ENOENT|ESRCH)$/);
    return "";
  }
}

/** False when there is nobody to hear it; a negative pid is a group. */
export function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, "ESRCH");
    return false;
  }
}

/** Looks again and again until it holds; says what it saw last when it never does. */
export async function until<T>(
  look: () => T | Promise<T>,
  holds: (seen: T) => unknown,
  what: string | (() => string),
  everyMs = 20,
): Promise<T> {
  const deadline = Date.now() + patienceMs;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (Date.now() > deadline)
      assert.fail(
        `waited in vain until ${typeof what === "string" ? what : what()}; seen last: ${JSON.stringify(seen)?.slice(0, 2_000)}`,
      );
    await pause(everyMs);
  }
}

export async function within<T>(work: Promise<T>, complaint: string, ms = patienceMs): Promise<T> {
  const over = new AbortController();
  const late = pause(ms, undefined, { signal: over.signal }).then(() => assert.fail(complaint));
  late.catch(() => undefined);
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort();
  }
}

export type Dice = { between(low: number, high: number): number; chance(probability: number): boolean };

/** Chance that can be repeated: set EVERTURN_SEED to the seed that a run has printed. */
export function dice(seed: number): Dice {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return { between: (low, high) => low + next() * (high - low), chance: (probability) => next() < probability };
}

export function seedOfRun(): number {
  return Number(process.env["EVERTURN_SEED"] ?? Date.now() % 1_000_000_007);
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return Math.round(sorted[Math.floor(sorted.length / 2)] ?? Number.NaN);
}
