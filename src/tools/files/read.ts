// read_file: lines of a text file with their numbers.

import * as v from "valibot";
import type { Tool } from "../../ports/tool.ts";
import { define } from "../define.ts";
import { maybe, pathText, whole } from "../input.ts";
import { textResult } from "./text.ts";
import { type FileToolOptions, vetFile } from "./vet.ts";

const linesMax = 2_000;

export function readFileTool(options: FileToolOptions): Tool {
  return define({
    name: "read_file",
    description: `Reads a text file as numbered lines ("12<tab>text"; the numbers are not part of the file), at most ${linesMax} at once.`,
    effect: "pure",
    face: {
      properties: {
        path: { type: "string", description: "relative to the workspace, or absolute" },
        offset: { type: "integer", description: "first line, from 1" },
        limit: { type: "integer", description: "number of lines" },
      },
      required: ["path"],
    },
    schema: v.strictObject({
      path: pathText,
      offset: maybe(whole(1, Number.MAX_SAFE_INTEGER)),
      limit: maybe(whole(1, Number.MAX_SAFE_INTEGER)),
    }),
    vet: (input, context) => vetFile(options, { tool: "read_file", path: input.path, input }, context),
    async run({ path, offset = 1, limit = linesMax }, context) {
      const request = { op: "read", path, offset, limit: Math.min(limit, linesMax) } as const;
      return textResult(await options.workers.ask(context, request, context.signal));
    },
  });
}
