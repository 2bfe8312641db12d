// edit_file: one text inside a file is replaced by another. After a death it is known by the digests of the whole file
// before and after whether it happened, so it is never applied twice.

import * as v from "valibot";
import type { Tool } from "../../ports/tool.ts";
import { define } from "../define.ts";
import { maybe, pathText } from "../input.ts";
import type { FileChanges } from "./change.ts";
import { type FileToolOptions, vetFile } from "./vet.ts";
import { fileText } from "./write.ts";

export function editFileTool(options: FileToolOptions, changes: FileChanges): Tool {
  return define({
    name: "edit_file",
    description: "Replaces oldText in a file by newText. oldText must be exactly as in the file and occur once.",
    effect: "checkable",
    face: {
      properties: {
        path: { type: "string", description: "relative to the workspace, or absolute" },
        oldText: { type: "string", description: "with enough lines around it to occur once" },
        newText: { type: "string" },
        replaceAll: { type: "boolean", description: "replace every occurrence" },
      },
      required: ["path", "oldText", "newText"],
    },
    schema: v.strictObject({
      path: pathText,
      oldText: v.pipe(fileText, v.nonEmpty("must not be empty; write_file makes new files")),
      newText: fileText,
      replaceAll: maybe(v.boolean()),
    }),
    vet: (input, context) => {
      const every = input.replaceAll === true ? "(every occurrence)\n" : "";
      const text = `${every}- ${input.oldText}\n+ ${input.newText}`;
      return vetFile(options, { tool: "edit_file", path: input.path, input, text }, context);
    },
    run: ({ path, oldText, newText, replaceAll = false }, context) =>
      changes.run(context, { op: "edit", path, oldText, newText, replaceAll }),
    check: (_, context) => changes.check(context),
  });
}
