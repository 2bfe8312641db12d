// The digest of a value that is plain data. Pure.

import { createHash } from "node:crypto";

export function digest(of: unknown): string {
  return createHash("sha256").update(JSON.stringify(of)).digest("hex");
}
