// A configuration that nobody has looked at yet, and what comes out when somebody has.

import type { ConfigFault, KeyPath, Origin } from "../faults.ts";
import type { Config } from "../schema.ts";

/** A value and where its parts were written. */
export type Raw = {
  readonly value: unknown;
  originOf(path: KeyPath): Origin;
  /** Whether the value came from a variable, and so must not be repeated in a message. */
  isFilled(path: KeyPath): boolean;
  /** Keys that already have a fault; nothing more is said about them. */
  readonly faulty: readonly KeyPath[];
};

export type Checked =
  | { readonly type: "right"; readonly config: Config }
  /** `rest`: what is left without the faulty values, so that more can be checked; null where nothing usable is. */
  | { readonly type: "wrong"; readonly faults: readonly ConfigFault[]; readonly rest: Config | null };

export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, key) => (isGroup(at) && Object.hasOwn(at, key) ? at[key] : undefined), value);
}

export function isGroup(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
