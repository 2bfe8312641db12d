// A home with a workspace in a folder of its own, for tests of tools that touch files. Gone when the test is over.

import { spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TestContext } from "node:test";
import type { Sandbox } from "../../src/ports/sandbox.ts";
import type { VetContext } from "../../src/ports/tool.ts";
import { openSandbox } from "../../src/sandbox/index.ts";
import { anAddress, at, sessionId } from "../../src/testing/samples.ts";
import type { FileToolOptions } from "../../src/tools/files/vet.ts";
import type { Misbehavior } from "./file-worker.ts";
import { type FileWorkersOptions, openFileWorkers } from "../../src/tools/files/workers.ts";

export type TestRoom = FileToolOptions & {
  readonly home: string;
  readonly workspace: string;
  readonly sandbox: Sandbox;
  readonly userHome: string;
  /** Files of conversations. */
  readonly files: string;
  /** Below the workspace. */
  put(path: string, content: string | Uint8Array): string;
  read(path: string): string;
  has(path: string): boolean;
};

export type RoomOptions = {
  readonly sandbox?: "auto" | "off";
  /** In which folder it is made. A sandbox has a /tmp of its own, so files outside of it must not lie there. */
  readonly in?: string;
  readonly approvals?: FileToolOptions["approvals"];
  readonly workers?: Partial<FileWorkersOptions>;
};

/** Without a sandbox unless it is asked for. */
export function makeRoom(more: RoomOptions = {}): TestRoom & { remove(): void } {
  const outer = realpathSync(mkdtempSync(join(more.in ?? tmpdir(), "everturn-room-")));
  // Others may pass through, so that a test can become somebody else.
  chmodSync(outer, 0o755);
  const home = join(outer, "home");
  const [workspace, files, userHome] = [join(home, "workspace"), join(home, "files"), join(outer, "user")];
  for (const folder of [workspace, files]) mkdirSync(folder, { recursive: true });
  const inside = (path: string): string => join(workspace, path);
  const environment = { PATH: process.env["PATH"] ?? "", HOME: userHome };
  const sandbox = openSandbox({ choice: more.sandbox ?? "off", isUnsafeAccepted: true, home, userHome, environment });
  const workers = openFileWorkers({
    sandbox,
    workspaceFor: async ({ person }) => ({ person, folder: workspace, files }),
    closed: [home],
    allowRoot: true,
    spawn: (program, words, options) => spawn(program, words, { ...options, detached: true }),
    environment,
    ...more.workers,
  });
  return {
    workers,
    workspace,
    files,
    home,
    sandbox,
    userHome,
    closed: [home],
    notes: join(home, "notes"),
    approvals: more.approvals ?? "dangerous",
    put(path, content) {
      mkdirSync(dirname(inside(path)), { recursive: true });
      writeFileSync(inside(path), content);
      return inside(path);
    },
    read: (path) => readFileSync(inside(path), "utf8"),
    has: (path) => existsSync(inside(path)),
    remove() {
      workers.close();
      rmSync(outer, { recursive: true, force: true });
    },
  };
}

export function aRoom(t: TestContext, more: RoomOptions = {}): TestRoom {
  const room = makeRoom(more);
  t.after(() => room.remove());
  return room;
}

/** Starts workers that misbehave: the first as the first one says, and so on; those after them are real. */
export function misbehaving(...how: readonly Misbehavior[]): Pick<FileWorkersOptions, "spawn"> {
  const left = [...how];
  const program = join(import.meta.dirname, "file-worker.ts");
  return {
    spawn: (node, _words, options) =>
      spawn(node, [program, JSON.stringify(left.shift() ?? {})], { ...options, detached: true }),
  };
}

/** Why tests that need a sandbox are left out; false where there is one. */
export async function withoutSandbox(): Promise<string | false> {
  const room = makeRoom({ sandbox: "auto" });
  const state = await room.sandbox.state();
  room.remove();
  return state.type === "on" ? false : `no sandbox here: ${state.why}`;
}

export function aVet(more: Partial<VetContext> = {}): VetContext {
  const requester = { party: "owner", person: "owner" } as const;
  return { session: sessionId("s1"), address: anAddress(), requester, outside: false, now: () => at(0), ...more };
}

/** Does it as a user without rights, where this one has all of them. */
export async function asNobody<T>(work: () => Promise<T>): Promise<T> {
  if (process.geteuid?.() !== 0) return work();
  process.seteuid?.(65_534);
  try {
    return await work();
  } finally {
    process.seteuid?.(0);
  }
}
