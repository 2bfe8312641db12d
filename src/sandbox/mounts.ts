// What a program in the sandbox finds at which path, as a list of mounts in the order in which they are made. Pure: paths
// are absolute and have their links resolved.

export type Mount =
  | { readonly type: "bind"; readonly at: string; readonly from: string; readonly access: "read" | "write" }
  | { readonly type: "link"; readonly at: string; readonly to: string }
  /** In memory and gone with the program; with `isSealed` nothing can be put there. */
  | { readonly type: "memory"; readonly at: string; readonly isSealed: boolean }
  /** Hides a file. */
  | { readonly type: "cover"; readonly at: string };

export function isBelow(path: string, folder: string): boolean {
  return path !== folder && path.startsWith(folder === "/" ? "/" : `${folder}/`);
}

export function isWithin(path: string, folder: string): boolean {
  return path === folder || isBelow(path, folder);
}

/**
 * Outer mounts first. A bind that its enclosing bind shows already is left out. Where a mount lies inside of a folder that
 * can be written, the folders between are bound onto themselves: a mount point cannot be renamed from inside, so a program
 * cannot move a hidden folder away and put a link in its place.
 */
export function arrangeMounts(mounts: readonly Mount[]): readonly Mount[] {
  const arranged: Mount[] = [];
  for (const mount of byDepth(mounts)) {
    const outer = enclosing(arranged, mount.at);
    if (arranged.some(({ at }) => at === mount.at) || isShownBy(outer, mount)) continue;
    arranged.push(...pinsFor(outer, mount.at, arranged), mount);
  }
  return arranged;
}

/** Of mounts at the same path the first one counts. */
function byDepth(mounts: readonly Mount[]): readonly Mount[] {
  const depth = ({ at }: Mount) => at.split("/").filter(Boolean).length;
  return mounts.toSorted((a, b) => depth(a) - depth(b));
}

/** The innermost of them that the path lies in. */
function enclosing(mounts: readonly Mount[], path: string): Mount | null {
  return mounts.findLast(({ at }) => isBelow(path, at)) ?? null;
}

function isShownBy(outer: Mount | null, mount: Mount): boolean {
  if (outer?.type !== "bind" || mount.type !== "bind") return false;
  const isSamePlace = mount.from === outer.from + mount.at.slice(outer.at === "/" ? 0 : outer.at.length);
  return isSamePlace && (outer.access === mount.access || mount.access === "read");
}

function pinsFor(outer: Mount | null, path: string, arranged: readonly Mount[]): readonly Mount[] {
  if (outer?.type !== "bind" || outer.access === "read") return [];
  const between = path
    .slice(outer.at.length + 1)
    .split("/")
    .slice(0, -1);
  return between.flatMap((_, at): readonly Mount[] => {
    const inside = between.slice(0, at + 1).join("/");
    const pin = `${outer.at}/${inside}`;
    if (arranged.some((mount) => mount.at === pin)) return [];
    return [{ type: "bind", at: pin, from: `${outer.from}/${inside}`, access: "write" }];
  });
}
