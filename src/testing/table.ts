// A decision is tested as a table: an array of cases, each with a name, and one check for all of them.

import { describe, test } from "node:test";

export type Case = { readonly name: string };

export function table<C extends Case>(
  what: string,
  cases: readonly C[],
  check: (one: C) => void | Promise<void>,
): void {
  describe(what, () => {
    for (const one of cases) test(one.name, () => check(one));
  });
}
