// The mounts of one view: what the machine shows to everybody, the workspace, the folders of the person and what was
// granted; never the gateway's home. Pure.

import { type GrantedPath, boundPath, checkGranted } from "./grants.ts";
import type { EtcFolder, PersonFolders } from "./folders.ts";
import { type Mount, arrangeMounts, isBelow, isWithin } from "./mounts.ts";

/** Where the gateway's own program is inside. */
export const insideRuntime = { node: "/run/everturn/node", folder: "/run/everturn/package" } as const;

export type ViewFacts = {
  readonly system: readonly Mount[];
  /** The program of Node, and the folders and files of the package that are shown. */
  readonly runtime: { readonly node: string; readonly folder: string; readonly shown: readonly string[] };
  /** The gateway's home, under all of its paths. */
  readonly hidden: readonly string[];
  readonly workspace: string;
  readonly folders: Pick<PersonFolders, "home" | "tmp">;
  /** Files that stand for files of /etc, by their name there. */
  readonly settings: Readonly<Record<string, string>>;
  readonly etc: EtcFolder;
  readonly granted: readonly GrantedPath[];
  readonly programs: readonly string[];
  /** Other binds, such as the sockets of the runner. */
  readonly more: readonly Mount[];
  /** Files of the person's conversations; they lie in the gateway's home. */
  readonly files: string | null;
  /** A folder below them that this program writes. */
  readonly output: string | null;
};

export type ViewPlan = {
  readonly mounts: readonly Mount[];
  readonly home: string;
  /** Where files that are not kept for long go. */
  readonly tmp: string;
  /** What was granted, as it is bound. */
  readonly bound: readonly string[];
};

const tmpFolders = ["/tmp", "/var/tmp"];

export function planView(facts: ViewFacts): ViewPlan {
  const { system, runtime, hidden, workspace, folders, settings, etc, programs, more } = facts;
  const outside = facts.granted.filter(({ real }) => !isWithin(real, workspace));
  for (const one of outside) checkGranted(one, hidden);
  const granted = outside.map((one) => bind(boundPath(one), one.access));
  const shown = programs.filter((one) => !hidden.some((other) => isWithin(one, other))).map((one) => bind(one));
  const files = [
    ...(facts.files === null ? [] : [bind(facts.files)]),
    ...(facts.output === null ? [] : [bind(facts.output, "write")]),
  ];
  const chosen: readonly Mount[] = [bind(workspace, "write"), ...granted.toSorted(writableFirst), ...shown, ...files];
  // A mount point cannot be made in a folder that is read-only, so with something else below /etc its parts come one by one.
  const isShared = chosen.some(({ at }) => isBelow(at, "/etc"));
  const parts = isShared
    ? etc.names.map((name) => bind(`${etc.folder}/${name}`, "read", `/etc/${name}`))
    : [bind(etc.folder, "read", "/etc")];
  const replaced = [...Object.entries(settings).map(([name, from]) => bind(from, "read", `/etc/${name}`)), ...parts];
  const visible: readonly Mount[] = [
    ...chosen,
    ...more,
    ...[...system, ...replaced].filter((mount) => !isInGranted(mount, granted)),
    bind(runtime.node, "read", insideRuntime.node),
    ...runtime.shown.map((name) => bind(`${runtime.folder}/${name}`, "read", `${insideRuntime.folder}/${name}`)),
  ];
  const paths = visible.map(({ at }) => at);
  const home = homeFor(paths);
  // A mount point inside of a folder that programs can write could be swapped for a link before the next call.
  const isFree = (folder: string) => !paths.some((path) => isBelow(path, folder));
  const own: readonly Mount[] = [
    bind(folders.home, "write", home),
    ...tmpFolders.map(
      (at): Mount => (isFree(at) ? bind(folders.tmp, "write", at) : { type: "memory", at, isSealed: false }),
    ),
    bind(folders.tmp, "write", "/dev/shm"),
  ];
  return {
    mounts: arrangeMounts([...hiding(hidden, workspace, [...visible, ...own]), ...own, ...visible]),
    home,
    tmp: tmpFolders.find(isFree) ?? "/dev/shm",
    bound: granted.map(({ at }) => at),
  };
}

/** A granted folder is shown as it is. What hides something in it stays. */
function isInGranted({ type, at }: Mount, granted: readonly Mount[]): boolean {
  return (type === "bind" || type === "link") && granted.some((folder) => isBelow(at, folder.at));
}

function bind(from: string, access: "read" | "write" = "read", at: string = from): Mount {
  return { type: "bind", at, from, access };
}

function writableFirst(a: Mount, b: Mount): number {
  const rank = (mount: Mount) => (mount.type === "bind" && mount.access === "write" ? 0 : 1);
  return rank(a) - rank(b);
}

/** Nothing else lies below it, for the same reason as with /tmp. */
function homeFor(paths: readonly string[]): string {
  const candidates = ["/home/sandbox", "/home/sandbox-home", "/home/.sandbox", "/sandbox-home"];
  return candidates.find((home) => !paths.some((path) => isWithin(path, home) || isWithin(home, path))) ?? "/.sandbox";
}

/** An empty folder wherever one of the mounts would show the gateway's home; a part of it may be the workspace. */
function hiding(hidden: readonly string[], workspace: string, mounts: readonly Mount[]): readonly Mount[] {
  return mounts.flatMap((mount) => {
    if (mount.type !== "bind") return [];
    return hidden.flatMap((home): readonly Mount[] =>
      isWithin(home, mount.from) && home !== workspace
        ? [{ type: "memory", at: mount.at + home.slice(mount.from.length), isSealed: true }]
        : [],
    );
  });
}
