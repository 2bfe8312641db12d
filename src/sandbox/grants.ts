// Which granted paths may be bound into a sandbox, and as what. Pure.

import { Fault } from "../core/fault.ts";
import type { PathGrant } from "../core/grant.ts";
import { isBelow, isWithin } from "./mounts.ts";

export type GrantedPath = PathGrant & {
  /** With links resolved at the moment of the call. */
  readonly real: string;
  readonly isFolder: boolean;
};

/** Sockets and devices there reach other programs and the machine itself, whatever is read-only. */
const never = ["/proc", "/sys", "/dev", "/run", "/var/run"];

/** The folder or file to bind. A file that is to be written is replaced by a rename, which needs its folder. */
export function boundPath({ real, isFolder, access }: GrantedPath): string {
  if (isFolder || access === "read") return real;
  return real.slice(0, real.lastIndexOf("/")) || "/";
}

/** `hidden`: the gateway's home under all of its paths. */
export function checkGranted(granted: GrantedPath, hidden: readonly string[]): void {
  const { path, real } = granted;
  const refuse = (why: string) => {
    throw new Fault("not-possible", `${path} cannot be opened to a program in the sandbox: ${why}`);
  };
  if (path !== real) refuse(`it leads to ${real}. Ask for that path instead.`);
  const bound = boundPath(granted);
  if (bound === "/") refuse("that would be the whole machine. Ask for a folder in it.");
  if (never.some((one) => isWithin(bound, one)))
    refuse("it belongs to the system, and other programs are reached by it.");
  if (hidden.some((one) => isWithin(bound, one))) refuse("it is a part of the gateway's own folder.");
  if (granted.access === "write" && hidden.some((one) => isBelow(one, bound)))
    refuse("the gateway's own folder is inside of it. Ask for a folder beside that.");
}
