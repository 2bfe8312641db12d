// The same files, for whoever opens them long before anybody sends one: the code is loaded with the first.

import type { Blobs } from "../../ports/blobs.ts";
import { placeOf } from "./place.ts";

export function blobsLater(folder: string): Blobs {
  let opened: Promise<Blobs> | null = null;
  const open = (): Promise<Blobs> => (opened ??= import("./index.ts").then(({ openBlobs }) => openBlobs(folder)));
  return {
    put: async (content, as) => (await open()).put(content, as),
    read: async (blob) => (await open()).read(blob),
    path: (blob) => placeOf(folder, blob),
  };
}
