// The ways in which a gateway's life ends or changes hands, as people and machines bring them about, over one home and one
// port. Each way waits until another life serves; what is started here ends with the test.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import type { TestContext } from "node:test";
import { type Client, client } from "./client.ts";
import {
  atEnd,
  type Exit,
  type Gateway,
  type Started,
  isAlive,
  run,
  signal,
  spawnGateway,
  stateOf,
  until,
  within,
} from "./stage.ts";

export const ways = [
  "SIGTERM",
  "SIGKILL",
  "stop and start",
  "gateway restart",
  "SIGUSR1",
  "/restart",
  "run --replace",
] as const;
export type Way = (typeof ways)[number];

export type Stage = {
  readonly ask: Client;
  /** The keys of restarts asked in the chat `ops`. */
  readonly asked: readonly string[];
  /** Until another life serves. */
  go(way: Way): Promise<void>;
  /** Down for good; the answer is what is still there of it. */
  end(): Promise<readonly string[]>;
};

type Status = { readonly boot: string; readonly state: string };

export async function openStage(t: TestContext, home: string, first: Gateway): Promise<Stage> {
  const { port } = first;
  const ask = client(first);
  const asked: string[] = [];
  /** What people see in their terminal: the process they started, which may outlive the one that serves. */
  let terminal: Started | null = first;

  atEnd(t, () => {
    for (const { pid } of processesOf(home)) signal(pid, "SIGKILL");
  });

  const statusNow = () => ask.get<Status>("/api/status").catch(() => null);
  const bootNow = async () => (await until(statusNow, (now) => now?.state === "running", "it serves"))?.boot;

  async function untilAnew(before: string | undefined): Promise<void> {
    await until(
      statusNow,
      (now) => now !== null && now.boot !== before && now.state === "running",
      () => `another life serves; left: ${JSON.stringify(processesOf(home))}; it said ${terminal?.err().slice(-2_000)}`,
    );
  }

  function inTerminal(...words: readonly string[]): void {
    terminal = spawnGateway(t, home, { port, words });
  }

  async function ended(one: Started | null, codes: readonly Exit[]): Promise<void> {
    if (one === null) return;
    const code = await within(one.exit, `the terminal's process ${one.pid} did not end`);
    assert.ok(
      codes.includes(code),
      `it ended with ${code}, not with ${codes.join(" or ")}: ${one.err().slice(-2_000)}`,
    );
  }

  async function command(...words: readonly string[]): Promise<void> {
    const { code, out, err } = await run(t, home, words, { port });
    assert.equal(code, 0, `everturn ${words.join(" ")}: ${out}${err}`);
  }

  const go: Readonly<Record<Way, () => Promise<void>>> = {
    async SIGTERM() {
      signal(stateOf(home).pid, "SIGTERM");
      await ended(terminal, [1]);
      await untilGone(stateOf(home).pid);
      inTerminal();
    },
    async SIGKILL() {
      signal(stateOf(home).pid, "SIGKILL");
      await ended(terminal, ["SIGKILL", 137]);
      await untilGone(stateOf(home).pid);
      inTerminal();
    },
    async "stop and start"() {
      await command("gateway", "stop");
      await ended(terminal, [0]);
      terminal = null;
      await command("gateway", "start");
    },
    "gateway restart": () => command("gateway", "restart"),
    async SIGUSR1() {
      signal(stateOf(home).pid, "SIGUSR1");
    },
    async "/restart"() {
      const key = `restart-${asked.length}`;
      asked.push(key);
      // A platform delivers again what it is not sure of.
      await ask.send("ops", key, "/restart");
      await ask.send("ops", key, "/restart");
    },
    async "run --replace"() {
      const before = terminal;
      inTerminal("--replace");
      await ended(before, [79]);
    },
  };

  async function untilGone(pid: number): Promise<void> {
    await until(
      () => isAlive(pid),
      (alive) => !alive,
      "it is gone",
    );
  }

  return {
    ask,
    asked,
    async go(way) {
      const before = await bootNow();
      await go[way]();
      await untilAnew(before);
    },
    async end() {
      await command("gateway", "stop");
      await ended(terminal, [0]);
      // The wider look at the machine that each stop begins lasts some seconds by itself.
      const left = await until(
        () => processesOf(home),
        (found) => found.length === 0,
        () => `nothing of it runs; left: ${JSON.stringify(processesOf(home))}`,
        100,
      );
      return left.map(({ words }) => words);
    },
  };
}

/** Every process that was given this home, whoever started it. */
export function processesOf(home: string): readonly { readonly pid: number; readonly words: string }[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const environment = readFileSync(`/proc/${name}/environ`, "utf8").split("\0");
        if (!environment.includes(`EVERTURN_HOME=${home}`) || !isAlive(Number(name))) return [];
        return [{ pid: Number(name), words: readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ") }];
      } catch (error) {
        // It ended while we looked, or belongs to somebody else.
        if (["ENOENT", "ESRCH", "EACCES", "EPERM"].includes((error as NodeJS.ErrnoException).code ?? "")) return [];
        throw error;
      }
    });
}
