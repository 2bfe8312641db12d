// Containers for supervisors that want to be process 1: real systemd over an overlay of this machine, real s6 in a
// process name space. Whatever happens to a test or to its runner, processes and mounts go with it: the kernel ends a
// name space with its first process, and that one with the test.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Started, atEnd, environmentOf, readProc, root, start, until, within } from "../process/stage.ts";

export type Said = { readonly code: number | NodeJS.Signals; readonly out: string; readonly err: string };

export type Container = {
  /** Where processes of this machine find its first one. */
  readonly leader: number;
  /** Runs a program inside, to its end. */
  run(words: readonly string[], env?: Readonly<Record<string, string>>): Promise<Said>;
  /** The same, and it must succeed; what it printed. */
  must(words: readonly string[], env?: Readonly<Record<string, string>>): Promise<string>;
  /** Everything it ever printed. */
  said(): string;
  /** Ends as `docker kill` does. */
  kill(): Promise<void>;
  /** All of it ended. */
  readonly gone: Promise<unknown>;
};

/** Dies with its starter, and everything in it dies with it; its mounts are seen by nobody else. */
const cage = [
  ["setpriv", "--pdeathsig", "KILL", "--"],
  ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child=KILL", "--mount-proc", "--"],
].flat();

export function newFolder(t: TestContext, name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `everturn-${name}-`));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));
  return folder;
}

function spawnCaged(t: TestContext, words: readonly string[], env: NodeJS.ProcessEnv): Started {
  const [program = "", ...rest] = [...cage, ...words];
  return start(t, program, rest, { stdio: ["ignore", "pipe", "pipe"], env });
}

/** Processes whose parent this is. */
function childrenOf(pid: number): readonly number[] {
  return readProc(`${pid}/task/${pid}/children`).trim().split(" ").filter(Boolean).map(Number);
}

function isSystemd(pid: number): boolean {
  return readProc(`${pid}/comm`) === "systemd\n";
}

function inside(t: TestContext, cell: Started, leader: number): Container {
  const run: Container["run"] = async (words, env = {}) => {
    const set = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    const all = ["--target", String(leader), "--all", "--", "env", ...set, ...words];
    const one = start(t, "nsenter", all, { stdio: ["ignore", "pipe", "pipe"], env: environmentOf("") });
    const closed = new Promise((resolve) => one.child.once("close", resolve));
    const code = await within(one.exit, `\`${words.join(" ")}\` did not end: ${one.out()} ${one.err()}`);
    await closed;
    return { code, out: one.out(), err: one.err() };
  };
  return {
    leader,
    run,
    async must(words, env) {
      const said = await run(words, env);
      assert.equal(said.code, 0, `\`${words.join(" ")}\` ended with ${said.code}: ${said.out}${said.err}`);
      return said.out.trim();
    },
    said: () => `${cell.out()}${cell.err()}`,
    async kill() {
      await cell.end("SIGKILL");
    },
    gone: cell.exit,
  };
}

/** A machine with systemd that sees this one's files, and may change only those in `shared`. */
export async function bootSystemd(
  t: TestContext,
  shared: readonly string[],
  more: readonly string[] = [],
): Promise<Container> {
  const group = `everturn-test-${process.pid}-${Math.trunc(performance.now() * 1000)}`;
  const work = newFolder(t, "systemd");
  atEnd(t, () => until(() => removeGroups(group), Boolean, "its control groups can be removed"));
  const binds = [`--bind-ro=${root}`, ...shared.map((folder) => `--bind=${folder}`), ...more];
  const cell = spawnCaged(t, ["bash", join(import.meta.dirname, "boot.sh"), group, work, ...binds], process.env);
  let ended = false;
  void cell.exit.finally(() => (ended = true));
  const leader = await until(
    () => childrenOf(cell.pid).flatMap(childrenOf).find(isSystemd),
    (pid) => pid !== undefined || ended,
    () => `systemd starts, which said ${cell.out()}${cell.err()}`,
  );
  assert.ok(leader !== undefined, `systemd did not start: ${cell.out()}${cell.err()}`);
  const container = inside(t, cell, leader);
  await until(
    async () => (await container.run(["systemctl", "is-system-running"])).out.trim(),
    (state) => state === "running" || state === "degraded",
    () => `systemd is up, which said ${container.said()}`,
    50,
  );
  return container;
}

/** Empty ones only, the deepest first; true when none is left. */
function removeGroups(group: string): boolean {
  for (const base of ["/sys/fs/cgroup", "/sys/fs/cgroup/systemd", "/sys/fs/cgroup/unified"]) {
    const folder = join(base, group);
    if (!existsSync(folder)) continue;
    try {
      const below = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isDirectory());
      const paths = below.map((one) => join(one.parentPath, one.name)).toSorted((a, b) => b.length - a.length);
      for (const path of [...paths, folder]) rmdirSync(path);
    } catch (error) {
      // Busy while a process is in it; gone when its owner removed it first.
      assert.match((error as NodeJS.ErrnoException).code ?? "", /^(EBUSY|ENOENT|ENODEV)$/);
      return false;
    }
  }
  return true;
}

/** A container whose process 1 is this program. */
export async function bootContainer(
  t: TestContext,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Container & { readonly cell: Started }> {
  const cell = spawnCaged(t, words, environmentOf("", { env }));
  const leader = await until(
    () => childrenOf(cell.pid)[0],
    (pid) => pid !== undefined,
    "its first process is there",
  );
  return { ...inside(t, cell, leader ?? assert.fail()), cell };
}
