// Runs the built program as a process of its own and asks it over its port, as a user's machine would.

import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type IncomingMessage, get } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

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

export async function start(
  home: string,
  command: readonly string[] = [process.execPath, program],
  more: NodeJS.ProcessEnv = {},
): Promise<Running> {
  const port = await freePort();
  const from = performance.now();
  const [file = "", ...rest] = command;
  const child = spawn(file, [...rest, "gateway", "run"], { env: environment(home, port, more), stdio: "ignore" });
  child.on("error", (error) => console.error(error));
  while ((await status(port, "/readyz")) !== 200) {
    if (child.exitCode !== null) throw new Error(`the gateway exited with ${child.exitCode}`);
    if (performance.now() - from > 60_000) throw new Error("the gateway did not become ready in a minute");
  }
  return { child, port, home, readyMs: performance.now() - from };
}

export async function end({ child }: Running, signal: NodeJS.Signals): Promise<number> {
  const from = performance.now();
  const gone = once(child, "exit");
  child.kill(signal);
  await gone;
  return performance.now() - from;
}

function status(port: number, path: string): Promise<number> {
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
