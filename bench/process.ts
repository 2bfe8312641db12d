// Runs the built program as a process of its own and asks it over its port, as a user's machine would.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type IncomingMessage, get } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export const program = join(import.meta.dirname, "../dist/main.js");
export const launcher = join(import.meta.dirname, "../bin/everturn.js");

export type Running = {
  readonly child: ChildProcess;
  readonly port: number;
  readonly home: string;
  /** From the spawn to the first 200 of /readyz. */
  readonly readyMs: number;
};

export function newHome(): string {
  return mkdtempSync(join(tmpdir(), "everturn-home-"));
}

export function removeHome(home: string): void {
  rmSync(home, { recursive: true, force: true });
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}

/** NODE_EXTRA_CA_CERTS costs every start time that is not ours; a gateway that needs it pays the same. */
function environment(home: string, port: number, more: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: _left, ...rest } = process.env;
  return { ...rest, EVERTURN_HOME: home, EVERTURN_CONTROL__PORT: String(port), EVERTURN_LOG__LEVEL: "warn", ...more };
}

export type How = {
  readonly command?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** A free one, unless told. */
  readonly port?: number;
  readonly words?: readonly string[];
};

const direct: readonly string[] = [process.execPath, program];

export async function start(home: string, how: How = {}): Promise<Running> {
  const { command = direct, env = {}, port = await freePort(), words = [] } = how;
  const from = performance.now();
  const child = spawnIn(home, port, [...command, "gateway", "run", ...words], env);
  while ((await status(port, "/readyz")) !== 200) {
    if (child.exitCode !== null) throw new Error(`the gateway exited with ${child.exitCode}`);
    if (performance.now() - from > 60_000) throw new Error("the gateway did not become ready in a minute");
  }
  return { child, port, home, readyMs: performance.now() - from };
}

/** Another command of the program, for the same home and port. */
export function command({ home, port }: Pick<Running, "home" | "port">, ...words: readonly string[]): ChildProcess {
  return spawnIn(home, port, [...direct, ...words], {});
}

function spawnIn(home: string, port: number, words: readonly string[], more: NodeJS.ProcessEnv): ChildProcess {
  const [file = "", ...rest] = words;
  const child = spawn(file, rest, { env: environment(home, port, more), stdio: "ignore" });
  child.on("error", (error) => console.error(error));
  return child;
}

/** Looks until it holds; a minute is for ever. */
export async function until(look: () => boolean | Promise<boolean>, what: string, everyMs = 5): Promise<void> {
  for (const from = performance.now(); !(await look()); await sleep(everyMs))
    if (performance.now() - from > 60_000) throw new Error(`waited in vain until ${what}`);
}

/** The process that serves a home, which need not be the one that was started. */
export function servingPid(home: string): number {
  return (JSON.parse(readFileSync(join(home, "gateway_state.json"), "utf8")) as { pid: number }).pid;
}

export async function end({ child }: Running, signal: NodeJS.Signals): Promise<number> {
  const from = performance.now();
  const gone = once(child, "exit");
  child.kill(signal);
  await gone;
  return performance.now() - from;
}

export function status(port: number, path: string): Promise<number> {
  return new Promise((resolve) => {
    get({ host: "127.0.0.1", port, path, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    }).on("error", () => setTimeout(() => resolve(0), 1));
  });
}

export function bearer(home: string): Record<string, string> {
  return { authorization: `Bearer ${readFileSync(join(home, "control.token"), "utf8").trim()}` };
}

/** An event stream held open, as a page does. */
export function openPage({ port, home }: Running, chat: string): Promise<IncomingMessage> {
  const path = `/api/chat/web/${chat}/events`;
  return new Promise((resolve, reject) => {
    const request = get({ host: "127.0.0.1", port, path, headers: bearer(home), agent: false }, (response) => {
      response.on("error", () => undefined);
      response.once("data", () => resolve(response));
    });
    request.on("error", reject);
  });
}

export async function api<T>({ port, home }: Running, path: string, body?: unknown): Promise<T> {
  const method = body === undefined ? "GET" : "POST";
  const headers = { ...bearer(home), "content-type": "application/json" };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, ...sent });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}

/** Resident memory of a process in MB. */
export function residentMb(pid: number): number {
  const found = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
  return Number(found?.[1]) / 1_024;
}

/** What a process has used of the processors so far. */
export function cpuMs(pid: number): number {
  // Behind the name, which may hold anything: state is field 3, time in user and system mode are fields 14 and 15.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

const inFlight = 64;

/** 64 turns under way that would go on for minutes. */
export async function keepBusy(gateway: Running): Promise<void> {
  await Promise.all(
    Array.from({ length: inFlight }, (_, chat) =>
      api(gateway, `/api/chat/web/c${chat}/messages`, { id: `m${chat}`, text: "count to 900 slowly" }),
    ),
  );
  await untilRunning(gateway);
}

export async function untilRunning(gateway: Running): Promise<void> {
  type Status = { readonly running: readonly { readonly turn: string }[] };
  const running = async () => (await api<Status>(gateway, "/api/status")).running.length;
  await until(async () => (await running()) >= inFlight, "the turns run");
}
