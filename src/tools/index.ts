// All tools that every agent of ours has. What they need is handed in; which of them exist is decided here alone.

import type { Blobs } from "../ports/blobs.ts";
import type { Archive } from "../ports/store.ts";
import type { Tool } from "../ports/tool.ts";
import { fileChanges } from "./files/change.ts";
import { editFileTool } from "./files/edit.ts";
import { readFileTool } from "./files/read.ts";
import { searchFilesTool } from "./files/search.ts";
import type { FileToolOptions } from "./files/vet.ts";
import { writeFileTool } from "./files/write.ts";
import { recallTool } from "./memory/recall.ts";
import { rememberTool } from "./memory/remember.ts";
import { askTool } from "./talk/ask.ts";
import { remindTool } from "./talk/remind.ts";
import { sendFileTool } from "./talk/send-file.ts";
import { fetchUrlTool } from "./web/fetch.ts";

export type BuiltinOptions = FileToolOptions & {
  readonly web: { readonly allowPrivate: boolean };
  readonly blobs: Pick<Blobs, "put">;
  readonly archive: Pick<Archive, "recall">;
};

export function builtinTools(options: BuiltinOptions): readonly Tool[] {
  const { approvals, web, blobs, archive } = options;
  // One for both, so that a write and an edit of one file wait for each other.
  const changes = fileChanges(options);
  return [
    readFileTool(options),
    writeFileTool(options, changes),
    editFileTool(options, changes),
    searchFilesTool(options),
    fetchUrlTool({ ...web, approvals }),
    rememberTool(),
    recallTool(archive),
    remindTool(),
    askTool(),
    sendFileTool(options, blobs),
  ];
}
