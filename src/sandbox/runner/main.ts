// The process around a sandbox whose program was granted hosts or credentials, or has folders that end with it. It serves
// them on sockets that only this sandbox sees, and starts and ends with its program, so it needs no gateway. An entry of
// its own in the bundle; its arguments are the order as JSON and the command.

import { execFile, spawn } from "node:child_process";
import { constants } from "node:os";
import { utimes, writeFile } from "node:fs/promises";
import type { Server } from "node:net";
import { removeSwappable } from "../folders.ts";
import { openGitBroker } from "./git.ts";
import { openProxy, publicNetwork } from "./proxy.ts";
import type { RunnerOrder } from "./order.ts";
import { knownHosts, openAgentBroker, userAgent } from "./ssh.ts";

const touchMs = 3_600_000;

/** `network` is another one in tests alone. */
export async function runOrder(
  order: RunnerOrder,
  command: readonly string[],
  network = publicNetwork,
): Promise<number> {
  // Relative, because the path of a socket may have 107 bytes at most.
  process.chdir(order.sockets);
  if (order.hosts.length > 0) await listening(openProxy(order.hosts, network), "proxy");
  if (order.hosts.length > 0 && typeof order.port === "number")
    await listening(openProxy(order.hosts, network), { host: "127.0.0.1", port: order.port });
  const endBrokers = await openBrokers(order);
  const folders = [order.sockets, ...order.removed];
  // The gateway tidies away what was not touched for days.
  setInterval(
    () => void Promise.allSettled(folders.map((one) => utimes(one, new Date(), new Date()))),
    touchMs,
  ).unref();
  try {
    return await started(command);
  } finally {
    process.chdir("/");
    await endBrokers();
    if (order.container !== undefined) await endContainer(order.container);
    await Promise.allSettled(folders.map(removeSwappable));
  }
}

/** Resolves with what ends them. */
async function openBrokers({ credentials, user }: RunnerOrder): Promise<() => Promise<void>> {
  const hostsOf = (kind: string) => credentials.filter((one) => one.kind === kind).map(({ host }) => host);
  const git = hostsOf("git-credential");
  if (git.length > 0) await listening(openGitBroker(git, user), "git");
  const ssh = await Promise.all(hostsOf("ssh-agent").map((host) => knownHosts(host, user)));
  if (ssh.length === 0) return () => Promise.resolve();
  await writeFile("known_hosts", `${ssh.flatMap(({ lines }) => lines).join("\n")}\n`);
  const agent = await userAgent(user);
  await listening(openAgentBroker(agent.path, new Set(ssh.flatMap(({ keys }) => [...keys]))), "agent");
  return agent.end;
}

/** It is gone already where its program has ended by itself. */
function endContainer([program, name]: readonly [string, string]): Promise<void> {
  return new Promise((resolve) => {
    execFile(program, ["kill", name], { timeout: 10_000 }, () => resolve());
  });
}

function listening(server: Server, at: string | { readonly host: string; readonly port: number }): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(at, resolve);
  });
}

/** Its exit code, as a shell gives it. */
function started([program = "", ...words]: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { stdio: "inherit", cwd: "/" });
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => child.kill(signal));
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}

if (import.meta.main) {
  const [order = "{}", ...command] = process.argv.slice(2);
  // Sockets that are still open would keep it.
  process.exit(await runOrder(JSON.parse(order) as RunnerOrder, command));
}
