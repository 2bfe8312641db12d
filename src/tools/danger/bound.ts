// Binds an approval to exactly what was shown: the arguments, the folder, the sandbox, and the content of the scripts that
// would run. If any of it is another one when the answer comes, the digest is too, and the call is asked for again. Pure.

import { createHash } from "node:crypto";

export type Parts = {
  readonly input: unknown;
  readonly cwd?: string;
  /** How it would be kept from the rest of the machine. */
  readonly sandbox?: unknown;
  /** A digest of each script that would run. */
  readonly scripts?: Readonly<Record<string, string>>;
};

export function boundTo(parts: Parts): string {
  return createHash("sha256").update(canonical(parts)).digest("hex");
}

/** The same text for the same value, in whatever order its members were written. */
export function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map((one) => canonical(one)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value)
    .filter(([, one]) => one !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, one]) => `${JSON.stringify(key)}:${canonical(one)}`);
  return `{${members.join(",")}}`;
}
