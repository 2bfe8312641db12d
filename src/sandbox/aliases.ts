// Other paths that lead to the same folder because a file system, or a part of it, is mounted more than once.

import { existsSync, readFileSync } from "node:fs";
import { isBelow, isWithin } from "./mounts.ts";

type MountLine = { readonly device: string; readonly root: string; readonly at: string };

/** Pure: all paths of a folder and of folders in it, by what /proc/self/mountinfo says; the folder itself first. */
export function aliasesIn(mountinfo: string, folder: string): readonly string[] {
  const mounts = mountinfo.split("\n").flatMap((line): readonly MountLine[] => {
    const [, , device, root, at] = line.split(" ");
    if (device === undefined || root === undefined || at === undefined) return [];
    return [{ device, root: unescaped(root), at: unescaped(at) }];
  });
  const containing = mounts.filter(({ at }) => isWithin(folder, at));
  const own = containing.toSorted((a, b) => a.at.length - b.at.length).at(-1);
  if (own === undefined) return [folder];
  const inside = joined(own.root, folder.slice(own.at === "/" ? 0 : own.at.length));
  const found = mounts.flatMap(({ device, root, at }): readonly string[] => {
    if (device !== own.device) return [];
    if (isWithin(inside, root)) return [joined(at, inside.slice(root === "/" ? 0 : root.length))];
    // A part of it, mounted elsewhere; inside of itself it is covered with the rest.
    return isBelow(root, inside) && !isWithin(at, folder) ? [at] : [];
  });
  return [...new Set([folder, ...found])];
}

function joined(folder: string, rest: string): string {
  return rest === "" ? folder : `${folder === "/" ? "" : folder}${rest}`;
}

/** Spaces and the like are written as numbers there. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCodePoint(Number.parseInt(octal, 8)));
}

export function readAliases(folder: string): readonly string[] {
  if (process.platform !== "linux") return [folder];
  return aliasesIn(readFileSync("/proc/self/mountinfo", "utf8"), folder).filter(
    (one) => one === folder || existsSync(one),
  );
}
