// Finds what somebody means by an id or a part of one. Pure.

import { Fault } from "../../core/fault.ts";

/** Null when none fits; a Fault when several do. The whole id always means itself. */
export function pick<T extends { readonly id: string }>(given: string, known: readonly T[], what: string): T | null {
  const exact = known.find((one) => one.id === given);
  if (exact !== undefined) return exact;
  const fits = given === "" ? [] : known.filter(({ id }) => id.startsWith(given) || id.endsWith(given));
  if (fits.length <= 1) return fits[0] ?? null;
  const ids = fits.map((one) => one.id).join(", ");
  throw new Fault(
    "not-possible",
    `"${given}" is the beginning or end of more than one ${what}: ${ids}. Give more of it.`,
  );
}
