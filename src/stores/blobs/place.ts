// Where the content of a file lies. A name is a digest and nothing else, so it cannot lead out of the folder.

import { join } from "node:path";
import { Fault } from "../../core/fault.ts";

export function placeOf(folder: string, blob: string): string {
  if (!/^[0-9a-f]{64}$/.test(blob)) throw lost(blob);
  return join(folder, blob.slice(0, 2), blob);
}

export function lost(blob: string): Fault {
  const name = blob.replace(/[^\w-]/g, "_").slice(0, 64);
  return new Fault("not-found", `There is no stored file ${name}; it was removed, or never came here.`);
}
