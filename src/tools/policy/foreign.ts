// The judgment of tools that other people wrote. Pure.

import { type Judgment, dangerous, plain } from "./verdict.ts";

export type Foreign = {
  /** What the tool's author says about it; worth something only where the author is trusted. */
  readonly readOnly: boolean;
  readonly destructive: boolean;
  readonly trusted: boolean;
};

export function judgeForeign({ readOnly, destructive, trusted }: Foreign): Judgment {
  if (!trusted) return dangerous("its server is not marked as trusted in the configuration");
  if (readOnly) return plain;
  return destructive ? dangerous("its author does not rule out that it destroys something") : plain;
}
