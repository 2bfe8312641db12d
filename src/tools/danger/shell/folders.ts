// Where a script may be while it runs. Pure as seen from outside: it only keeps what it is told.
// A change of folder may fail, and then the script goes on where it was. What follows with && runs only where it went well;
// everything else is also looked at as if it had not.

import { posix } from "node:path";
import type { Pipeline } from "./script.ts";

/** Null is a folder that cannot be known. */
export type Folder = string | null;

/** Of more folders it is not known which. */
const most = 16;
/** A longer path is not followed. */
const longest = 1_024;

export class Folders {
  /** Where it is if everything goes well. */
  #sure: readonly Folder[];
  /** Where it may be besides. */
  #doubt: readonly Folder[] = [];
  /** Where it may be as soon as something does not depend on what went before. */
  #late: readonly Folder[] = [];
  #isMixed = false;
  /** With `set -e` nothing follows what failed. */
  isStrict = false;

  constructor(first: string) {
    this.#sure = [first];
  }

  get sure(): readonly Folder[] {
    return this.#sure;
  }

  get doubt(): readonly Folder[] {
    return this.#doubt;
  }

  /** Before each pipeline. `leaves`: it ends the script, so what comes after it is as if all had gone well. */
  join(after: Pipeline["after"], leaves: boolean): void {
    if (after === ";") this.#isMixed = false;
    if (after === "||" && leaves) {
      this.#late = [];
      return;
    }
    if (after === "||") this.#isMixed = true;
    if (after === "&&" && !this.#isMixed) return;
    this.#doubt = few([...this.#doubt, ...this.#late]);
    this.#late = [];
  }

  /** To a folder as it was typed; null where that cannot be known. */
  go(to: string | null): void {
    const moved = (from: Folder): Folder => {
      if (to === null || (from === null && !to.startsWith("/"))) return null;
      const path = posix.resolve(from ?? "/", to);
      return path.length > longest ? null : path;
    };
    if (!this.isStrict) this.#late = few([...this.#late, ...this.#sure, ...this.#doubt]);
    this.#sure = few(this.#sure.map(moved));
    this.#doubt = few(this.#doubt.map(moved));
  }

  /** Runs something that takes nobody with it where it goes. */
  apart<T>(run: () => T): T {
    const before = [this.#sure, this.#doubt, this.#late, this.#isMixed, this.isStrict] as const;
    const result = run();
    [this.#sure, this.#doubt, this.#late, this.#isMixed, this.isStrict] = before;
    return result;
  }
}

function few(folders: readonly Folder[]): readonly Folder[] {
  const unique = [...new Set(folders)];
  // Of several, one that cannot be known is enough.
  return unique.length > most || unique.includes(null) ? [null] : unique;
}
