// Whether a folder can be a home, said before anything is tried there: Node's own way to make folders never returns below
// /proc, and the words of the system for a file in the way, or for somebody else's folder, do not say what to do.

import { type Stats, accessSync, constants, statSync, statfsSync } from "node:fs";
import { dirname } from "node:path";
import { Fault, sentenceOf } from "../core/fault.ts";
import { shellWord } from "../core/shell.ts";

/** The nearest thing on the way to the home that exists: the home itself, or the folder that would hold it. */
export type Ground = {
  readonly path: string;
  readonly isFolder: boolean;
  /** What kind of file system it is on, as statfs tells it. */
  readonly magic: number;
  /** Why this user may not look into the home, where it is there: it is somebody else's, or closed to its own owner. */
  readonly closed?: "others" | "own" | null;
};

/** File systems that show the kernel's own state and keep nothing. */
const madeUp: Readonly<Record<number, string>> = {
  0x9fa0: "proc",
  0x62656572: "sysfs",
  0x27e0eb: "cgroup",
  0x63677270: "cgroup2",
  0x64626720: "debugfs",
  0x1cd1: "devpts",
};

/** What statfs calls them; others are told by their number. */
const names: Readonly<Record<number, string>> = {
  ...madeUp,
  0xef53: "ext4",
  0x58465342: "xfs",
  0x9123683e: "btrfs",
  0x2fc12fc1: "zfs",
  0xf2f52010: "f2fs",
  0x01021994: "tmpfs",
  0x858458f6: "ramfs",
  0x794c7630: "overlay",
  0x65735546: "fuse",
  0x01021997: "9p",
  0x6969: "nfs",
  0x517b: "smb",
  0xff534d42: "cifs",
  0xfe534d42: "smb2",
};

export function fileSystemName(magic: number): string {
  return names[magic] ?? `0x${magic.toString(16)}`;
}

/** Null when nothing speaks against it. */
export function judgeGround(home: string, { path, isFolder, magic, closed }: Ground): Fault | null {
  const todo = "Set EVERTURN_HOME (or --home) to a folder on a local disk.";
  if (!isFolder) {
    const what = path === home ? "is a file, not a folder" : `cannot be a folder, because ${path} is a file`;
    return new Fault("home-unusable", `The home ${home} ${what}. ${todo}`);
  }
  if (closed === "own")
    return new Fault(
      "home-unusable",
      `The home ${home} is closed even to its owner. Open it: \`chmod 700 ${shellWord(home)}\`.`,
    );
  if (closed === "others")
    return new Fault(
      "home-unusable",
      `The home ${home} belongs to another user, and this one may not read it. Run the command as its owner (with sudo, for instance), or set EVERTURN_HOME (or --home) to a folder of your own.`,
    );
  const kind = madeUp[magic];
  if (kind === undefined) return null;
  return new Fault(
    "home-unusable",
    `The home ${home} is on a ${kind} file system, which the kernel makes up and which keeps no files. ${todo}`,
  );
}

/** Throws a Fault when the home can never be one for this user; whether it may be written to is not asked. */
export function checkGround(home: string): void {
  const fault = judgeGround(home, groundOf(home));
  if (fault !== null) throw fault;
}

function groundOf(home: string): Ground {
  for (let path = home; ; path = dirname(path)) {
    const facts = look(path);
    if (facts !== null) {
      const isFolder = facts.isDirectory();
      const closed = path === home && isFolder && !mayUse(path, constants.R_OK | constants.X_OK) ? whose(facts) : null;
      return { path, isFolder, magic: statfsSync(path).type, closed };
    }
    if (dirname(path) === path) return { path, isFolder: true, magic: 0 };
  }
}

function whose({ uid }: Stats): "own" | "others" {
  return uid === process.getuid?.() ? "own" : "others";
}

/** Asks the system without opening anything. */
export function mayUse(path: string, right: number): boolean {
  try {
    accessSync(path, right);
    return true;
  } catch (error) {
    if (error instanceof Error) return false;
    throw error;
  }
}

function look(path: string): Stats | null {
  try {
    return statSync(path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : null;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    const todo = "Give this user the right to look there, or set EVERTURN_HOME (or --home) to another folder.";
    throw new Fault("home-unusable", `The home ${path} cannot be looked at (${sentenceOf(error)}). ${todo}`, error);
  }
}
