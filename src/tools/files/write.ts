// write_file: a whole file, new or in place of another. After a death it is known by its content whether it happened.

import * as v from "valibot";
import type { Tool } from "../../ports/tool.ts";
import { define } from "../define.ts";
import { pathText } from "../input.ts";
import { sizeText } from "../size.ts";
import type { FileChanges } from "./change.ts";
import { type FileToolOptions, vetFile } from "./vet.ts";

const bytesMax = 10_000_000;

export function writeFileTool(options: FileToolOptions, changes: FileChanges): Tool {
  return define({
    name: "write_file",
    description: "Writes a whole text file, making folders as needed. Use edit_file to change parts of one.",
    effect: "checkable",
    face: {
      properties: {
        path: { type: "string", description: "relative to the workspace, or absolute" },
        content: { type: "string" },
      },
      required: ["path", "content"],
    },
    schema: v.strictObject({ path: pathText, content: fileText }),
    vet: (input, context) =>
      vetFile(options, { tool: "write_file", path: input.path, input, text: input.content }, context),
    run: ({ path, content }, context) => changes.run(context, { op: "write", path }, Buffer.from(content)),
    check: (_, context) => changes.check(context),
  });
}

/** A text that a file can hold. */
export const fileText: v.GenericSchema<string> = v.pipe(
  v.string(),
  v.maxBytes(bytesMax, `must be at most ${sizeText(bytesMax)}`),
  v.check((text) => text.isWellFormed(), "holds half a character"),
);
