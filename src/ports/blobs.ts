// The files that people send and get. Named by their content, so that the same bytes are kept once and a repeat is harmless.

import type { TurnId } from "../core/ids.ts";
import type { FileRef } from "../core/message.ts";

export type BlobFacts = Pick<FileRef, "name" | "mime"> & {
  /** The turn whose tools want it kept; they have room for so much and no more. */
  readonly turn?: TurnId;
};

export interface Blobs {
  /** On the disk when it resolves. Rejects with a Fault when it is larger than may be, or the disk refuses. */
  put(content: Uint8Array | AsyncIterable<Uint8Array>, as: BlobFacts): Promise<FileRef>;
  /** Rejects with a Fault when there is no such content. */
  read(blob: string): Promise<Uint8Array>;
  /**
   * Where it lies, for programs that read files by themselves; under `name` where the files are a person's own and the
   * file system accepts that name. Throws a Fault when there can be no such path.
   */
  path(blob: string, name?: string): string;
}

/** The files of one person's conversations; `path` adds one to them. */
export interface PersonBlobs extends Blobs {
  has(blob: string): boolean;
}
