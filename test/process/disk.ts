// Disks that can be made to fail: a small one in memory that is filled up, a limit that lets every write of a process
// fail, and a real file system that turns read-only by itself, as one does after a fault. What the machine does not
// allow is null.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { TestContext } from "node:test";
import { atEnd } from "./stage.ts";

export const isRoot = process.getuid?.() === 0;

/** Whether a program could be run and was content. */
function can(program: string, ...words: readonly string[]): boolean {
  return spawnSync(program, words, { stdio: "ignore", timeout: 30_000 }).status === 0;
}

function must(program: string, ...words: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, words, { encoding: "utf8", timeout: 30_000 });
  assert.equal(status, 0, `${program} ${words.join(" ")}: ${stderr}`);
  return stdout.trim();
}

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "everturn-disk-"));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 }));
  return folder;
}

export type Disk = {
  readonly folder: string;
  /** What starts a program that meets the same trouble. */
  readonly through: readonly string[];
  fill(pid: number): void;
  free(pid: number): void;
};

export type Mounted = Disk & { remount(how: "ro" | "rw"): void };

/** A file system of a few megabytes. */
export function smallDisk(t: TestContext): Mounted | null {
  const folder = newFolder(t);
  if (!isRoot || !can("mount", "-t", "tmpfs", "-o", "size=4m,mode=0755", "none", folder)) return null;
  atEnd(t, () => must("umount", "-l", folder));
  const filler = join(folder, "filler");
  return {
    folder,
    through: [],
    fill() {
      const file = openSync(filler, "w");
      // Large pieces first, then small ones into what they left.
      for (const size of [65_536, 4_096, 1]) while (hasWritten(file, size));
      closeSync(file);
    },
    free: () => rmSync(filler),
    remount: (how) => void must("mount", "-o", `remount,${how}`, folder),
  };
}

function hasWritten(file: number, size: number): boolean {
  try {
    return writeSync(file, Buffer.alloc(size)) === size;
  } catch (error) {
    assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
    return false;
  }
}

/** Not a disk but a limit of the process: every write to a file fails, also for those without any rights. */
export function limitedDisk(t: TestContext): Disk | null {
  if (!can("prlimit", "--version")) return null;
  const limit = (pid: number, to: string) => void must("prlimit", "--pid", String(pid), `--fsize=${to}:unlimited`);
  return {
    folder: newFolder(t),
    through: ["prlimit", "--fsize=0:unlimited"],
    fill: (pid) => limit(pid, "0"),
    free: (pid) => limit(pid, "unlimited"),
  };
}

export type Fragile = {
  readonly folder: string;
  /** The file system reports a fault of its own and takes no write any more. */
  turnReadOnly(): void;
  /** As an operator does it: unmount, check, mount. Nothing may use it meanwhile. */
  repair(): void;
};

export function fragileDisk(t: TestContext): Fragile | null {
  const place = newFolder(t);
  const image = join(place, "image");
  const folder = join(place, "disk");
  mkdirSync(folder);
  const mount = (of: string) => can("mount", "-o", "loop,errors=remount-ro", of, folder);
  if (!isRoot || !can("truncate", "-s", "16M", image) || !can("mkfs.ext4", "-q", image) || !mount(image)) return null;
  atEnd(t, () => must("umount", "-l", folder));
  const trigger = () => {
    const device = basename(must("findmnt", "-n", "-o", "SOURCE", folder));
    return `/sys/fs/ext4/${device}/trigger_fs_error`;
  };
  if (!existsSync(trigger())) return null;
  return {
    folder,
    turnReadOnly: () => void must("sh", "-c", `echo 1 > ${trigger()}`),
    repair() {
      must("umount", folder);
      // A mount namespace of another test, such as a sandbox, may still hold the broken file system. A copy is free of it.
      const copy = `${image}-repaired`;
      must("cp", image, copy);
      // 0: nothing found, 1: found and repaired.
      const { status } = spawnSync("fsck.ext4", ["-fy", copy], { stdio: "ignore", timeout: 60_000 });
      assert.ok(status === 0 || status === 1, `fsck ended with ${status}`);
      assert.ok(mount(copy), "it cannot be mounted again");
    },
  };
}

/**
 * A folder that this user may read and not write. The super-user may write everywhere, so the program is then started
 * without that right.
 */
export function forbiddenFolder(t: TestContext): { readonly folder: string; readonly through: readonly string[] } {
  const folder = join(newFolder(t), "forbidden");
  mkdirSync(folder);
  chmodSync(folder, 0o555);
  atEnd(t, () => chmodSync(folder, 0o755));
  if (!isRoot) return { folder, through: [] };
  chownSync(folder, 65_534, 65_534);
  return { folder, through: ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] };
}
