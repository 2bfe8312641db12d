// A home with a workspace in a folder of its own, for tests of tools that touch files. Gone when the test is over.

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
import type { VetContext } from "../../src/ports/tool.ts";
import { anAddress, at, sessionId } from "../../src/testing/samples.ts";
import type { Room } from "../../src/tools/files/room.ts";

export type TestRoom = Room & {
  /** Below the workspace. */
  put(path: string, content: string | Uint8Array): string;
  read(path: string): string;
  has(path: string): boolean;
};

export function makeRoom(more: Partial<Room> = {}): TestRoom & { remove(): void } {
  const outer = realpathSync(mkdtempSync(join(tmpdir(), "everturn-room-")));
  // Others may pass through, so that a test can become somebody else.
  chmodSync(outer, 0o755);
  const home = join(outer, "home");
  const workspace = join(home, "workspace");
  mkdirSync(workspace, { recursive: true });
  const inside = (path: string): string => join(workspace, path);
  return {
    workspace,
    home,
    userHome: join(outer, "user"),
    notes: join(home, "notes"),
    untouchable: [],
    approvals: "dangerous",
    put(path, content) {
      mkdirSync(dirname(inside(path)), { recursive: true });
      writeFileSync(inside(path), content);
      return inside(path);
    },
    read: (path) => readFileSync(inside(path), "utf8"),
    has: (path) => existsSync(inside(path)),
    remove: () => rmSync(outer, { recursive: true, force: true }),
    ...more,
  };
}

export function aRoom(t: TestContext, more: Partial<Room> = {}): TestRoom {
  const room = makeRoom(more);
  t.after(() => room.remove());
  return room;
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
