// Which folder a command gets for a path outside of the workspace that it wants. Pure: the caller has looked at the disk.

import { posix } from "node:path";
import type { PathGrant } from "../../core/grant.ts";

export type PathWish = {
  /** Absolute, with the links of everything that exists resolved. */
  readonly real: string;
  readonly access: PathGrant["access"];
  readonly kind: "folder" | "file" | "missing";
  /** It is itself removed or renamed. */
  readonly isMoved: boolean;
  /** The model asked for it in so many words; others are guesses from the command. */
  readonly isExplicit: boolean;
};

export type GrantPlaces = {
  readonly workspace: string;
  /** The gateway's own folder. */
  readonly home: string;
  readonly userHome: string | null;
};

export type PathDecision =
  | { readonly type: "grant"; readonly grant: PathGrant }
  | { readonly type: "needless" }
  | { readonly type: "refuse"; readonly why: string };

/** Processes, devices and sockets: a program that reaches those has more than files. */
const special = /^\/(?:proc|sys|dev|run|var\/run)(?:\/|$)/;

export function decidePath(wish: PathWish, places: GrantPlaces): PathDecision {
  const { real, access, kind, isExplicit } = wish;
  if (isInside(real, places.workspace)) return { type: "needless" };
  if (kind === "missing" && access === "read")
    return isExplicit ? { type: "refuse", why: `There is no ${real}.` } : { type: "needless" };
  if (special.test(real))
    return isExplicit ? { type: "refuse", why: `${real} cannot be given to a command.` } : { type: "needless" };
  if (isInside(real, places.home))
    return { type: "refuse", why: `${real} belongs to the gateway itself, and no command may reach that.` };
  if (access === "read") return { type: "grant", grant: { path: real, access } };
  // A file is replaced, and anything is removed, through its folder.
  const path = kind === "folder" && !wish.isMoved ? real : posix.dirname(real);
  const isWide = path === "/" || [places.home, places.userHome].some((one) => one !== null && isInside(one, path));
  if (!isWide) return { type: "grant", grant: { path, access } };
  const why = `Not run: changing ${real} from the sandbox would open all of ${path}. Tell the user to type the command in a terminal of their own.`;
  return { type: "refuse", why };
}

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}
