// Who tries codes: each wrong one counts, in memory at once, so that many at the same time count as many, and in the store,
// so that a restart forgives none.

import type { Pairing, Tries } from "../../core/access/pairing.ts";
import type { Change } from "../../core/change.ts";
import type { Parts } from "../parts.ts";

export type Guessed =
  | { readonly type: "right"; readonly pairing: Pairing }
  | { readonly type: "wrong"; readonly changes: readonly Change[] }
  /** Nobody can have been told this: it is no try. */
  | { readonly type: "no-code" }
  /** No code is looked at for so long. */
  | { readonly type: "closed"; readonly ms: number };

export interface Guesses {
  /** `known`: the requests that it may be for. */
  guess(typed: string, known: readonly Pairing[]): Promise<Guessed>;
}

const factName = "pairing-tries";

export function guesses({ store, world }: Parts): Guesses {
  let tries: Tries | null = null;
  return {
    async guess(typed, known) {
      // Loaded with the first code that anybody tries.
      const core = await import("../../core/access/pairing.ts");
      const { afterWrongCode, closedForMs, pairingOf, readCode, readTries } = core;
      const code = readCode(typed);
      if (code === null) return { type: "no-code" };
      const stored = tries ?? readTries(await store.fact(factName));
      // From here on nobody else is let in between.
      tries ??= stored;
      const at = world.now();
      const ms = closedForMs(tries, at);
      if (ms > 0) return { type: "closed", ms };
      const pairing = pairingOf(code, known, at);
      if (pairing !== null) return { type: "right", pairing };
      tries = afterWrongCode(tries, at);
      return { type: "wrong", changes: [{ put: "fact", name: factName, value: JSON.stringify(tries) }] };
    },
  };
}
