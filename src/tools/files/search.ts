// search_files: names by glob, content by pattern.

import * as v from "valibot";
import type { Tool } from "../../ports/tool.ts";
import { define } from "../define.ts";
import { maybe, pathText, words } from "../input.ts";
import { textResult } from "./text.ts";
import { keyedQueue } from "./keyed-queue.ts";
import { type FileToolOptions, vetFile } from "./vet.ts";

const searchMs = 20_000;
/** Searches at the same time: each has a thread of its own. */
const seats = 2;

export function searchFilesTool(options: FileToolOptions, msMax: number = searchMs): Tool {
  const inTurn = keyedQueue();
  let seat = 0;
  return define({
    name: "search_files",
    description:
      "Lists files by name, or finds lines that match a regular expression. Skips .git, node_modules and binary files.",
    effect: "pure",
    face: {
      properties: {
        pattern: { type: "string", description: "JavaScript regular expression, tried on each line" },
        glob: { type: "string", description: "names of files: *.ts, src/**/*.md" },
        path: { type: "string", description: "folder or file; default: the workspace" },
        ignoreCase: { type: "boolean" },
      },
      required: [],
    },
    schema: v.strictObject({
      pattern: maybe(words(1_000)),
      glob: maybe(words(500)),
      path: maybe(pathText),
      ignoreCase: maybe(v.boolean()),
    }),
    vet: (input, context) => vetFile(options, { tool: "search_files", path: input.path ?? ".", input }, context),
    run({ pattern = null, glob = null, path = ".", ignoreCase = false }, context) {
      const request = { op: "search", path, pattern, glob, ignoreCase, msMax } as const;
      return inTurn(`${context.requester.person} ${seat++ % seats}`, async () =>
        textResult(await options.workers.ask(context, request, context.signal)),
      );
    },
  });
}
