// What is in the way inside of a home: a file where a folder must be, a folder where a file must be, or something that this
// user may not use. The words of the system for these (EEXIST, EISDIR, EACCES) do not say what to do. Nothing is opened.

import { constants, statSync } from "node:fs";
import { Fault } from "../core/fault.ts";
import { mayUse } from "./place.ts";

/** What a path of the home must be where it is there at all, and what a gateway does with it. */
export type Wanted = { readonly path: string; readonly kind: "file" | "folder"; readonly use: "read" | "write" };

export type Sight = Wanted & {
  /** Null where nothing is there. */
  readonly found: "file" | "folder" | "neither a file nor a folder" | null;
  /** This user has the rights for that use. */
  readonly mayUse: boolean;
};

export type Obstacle = { readonly what: string; readonly todo: string };

/** Null when it is as it should be, or will be made. */
export function judgeSight({ path, kind, use, found, mayUse: isAllowed }: Sight): Obstacle | null {
  if (found === null) return null;
  if (found !== kind) {
    const what = found.startsWith("neither") ? found : `a ${found}`;
    return { what: `${path} is ${what}, and must be a ${kind}`, todo: "Move it away; what is needed is made anew." };
  }
  if (isAllowed) return null;
  const verb = use === "read" ? "read" : kind === "folder" ? "write in" : "write to";
  return {
    what: `this user may not ${verb} ${path}`,
    todo: `Give this user the right to ${verb} it (\`ls -ld\` shows its owner), or set EVERTURN_HOME to another folder.`,
  };
}

export function obstaclesIn(wanted: readonly Wanted[]): readonly Obstacle[] {
  return wanted.flatMap((one) => judgeSight(see(one)) ?? []);
}

/** Throws a Fault that tells of all that is in the way. */
export function refuseObstacles(wanted: readonly Wanted[]): void {
  const [first, ...rest] = obstaclesIn(wanted);
  if (first === undefined) return;
  const whats = [first, ...rest].map((one) => one.what).join("; ");
  throw new Fault("home-unusable", `The gateway cannot start: ${whats}. ${first.todo}`);
}

function see(wanted: Wanted): Sight {
  const { path, kind, use } = wanted;
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts === undefined) return { ...wanted, found: null, mayUse: true };
  const found = facts.isFile() ? "file" : facts.isDirectory() ? "folder" : "neither a file nor a folder";
  const right = constants.R_OK | (use === "write" ? constants.W_OK : 0) | (kind === "folder" ? constants.X_OK : 0);
  return { ...wanted, found, mayUse: mayUse(path, right) };
}
