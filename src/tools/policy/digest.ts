// Binds an approval to exactly what was shown: if any of it is another one when the answer comes, the digest is too, and
// the call is asked for again. Pure.

import { createHash } from "node:crypto";

export function digestOf(value: unknown): string {
  return createHash("sha256").update(canonical(value)).digest("hex");
}

/** The same text for the same value, in whatever order its members were written. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((one) => canonical(one)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, one]) => `${JSON.stringify(key)}:${canonical(one)}`);
  return `{${members.join(",")}}`;
}
