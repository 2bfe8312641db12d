// The start of a container whose supervisor is s6: should the gateway come up with it? The home remembers what was wanted
// when the container ended; the answer becomes a `down` file in the service's folder, or none.

import { rm } from "node:fs/promises";
import type { ReadStateFile } from "../host/identity.ts";
import { writeWhole } from "./files.ts";
import { downFile, s6Files } from "./s6.ts";
import type { Place } from "./kinds.ts";

/** Iff it was wanted; a file that does not tell what was wanted tells at least what was. */
export function shouldAutostart(state: Pick<ReadStateFile, "desired_state" | "gateway_state"> | null): boolean {
  if (state === null) return false;
  return (state.desired_state ?? state.gateway_state) === "running";
}

/** Makes the folder anew in the scan folder; nothing of it is kept between two lives of a container. */
export async function prepareFolder(
  place: Place,
  folder: string,
  drainSeconds: number,
  starts: boolean,
): Promise<readonly string[]> {
  const down = { path: downFile(folder), text: "", mode: 0o644 };
  const files = s6Files(place, folder, drainSeconds);
  // First: a supervisor that looks in between must not start what shall stay down.
  if (starts) await rm(down.path, { force: true });
  else await writeWhole(down);
  for (const file of files) await writeWhole(file);
  return [...files.map(({ path }) => path), ...(starts ? [] : [down.path])];
}
