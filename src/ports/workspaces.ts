// The folders that the tools of one person work in. No tool of another person reads or writes them.

import type { Requester } from "../core/requester.ts";
import type { Blobs } from "./blobs.ts";

export type Workspace = {
  /** Whose it is: `Requester.person`, or the owner where the workspace is shared. */
  readonly person: string;
  /** Where tools read and write. Absolute, exists, links resolved. */
  readonly folder: string;
  /** Where the files that were sent in this person's conversations lie for their tools, which only read there. Exists. */
  readonly files: string;
  /** The stored files; `path` makes one readable in `files`. */
  readonly blobs: Blobs;
  /** A conversation with text from outside wrote into it, so what is read there is text from outside. */
  readonly isMarked: boolean;
};

export interface Workspaces {
  /** Made when it is missing. */
  workspaceFor(requester: Requester): Promise<Workspace>;
  /** Stored when it resolves; only the owner takes it back. */
  mark(workspace: Workspace): Promise<void>;
}
