// write_file: a whole file, new or in place of another. After a death it is known by its content whether it happened.

import * as v from "valibot";
import type { Tool } from "../../ports/tool.ts";
import { define, ok } from "../define.ts";
import { pathText } from "../input.ts";
import { type Changes, checkChange } from "./change.ts";
import { readWhole, sizeText } from "./content.ts";
import { type Room, usedPlace, vetPath } from "./room.ts";

const bytesMax = 10_000_000;
/** What is replaced may be larger than what may be written. */
const beforeMax = 100_000_000;

export function writeFileTool(room: Room, changes: Changes): Tool {
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
    vet: (input, context) => {
      const { path, content: text } = input;
      return vetPath(room, { tool: "write_file", effect: "checkable", use: "write", path, input, text }, context);
    },
    async run({ path, content }, { key }) {
      const place = await usedPlace(room, path, "write");
      const bytes = Buffer.from(content);
      return changes(key, place, async () => {
        const found = await readWhole(place, room.untouchable, beforeMax);
        const says = saying(place.shown, found?.bytes ?? null, bytes);
        return { found, bytes, says, result: ok(says) };
      });
    },
    check: (_, { key }) => checkChange(room, key),
  });
}

/** A text that a file can hold. */
export const fileText: v.GenericSchema<string> = v.pipe(
  v.string(),
  v.maxBytes(bytesMax, `must be at most ${sizeText(bytesMax)}`),
  v.check((text) => text.isWellFormed(), "holds half a character"),
);

function saying(shown: string, before: Buffer | null, after: Buffer): string {
  const now = `${linesText(after)}, ${sizeText(after.length)}`;
  if (before === null) return `Created ${shown}: ${now}.`;
  if (before.equals(after)) return `${shown} had this content already: ${now}.`;
  return `Replaced ${shown}: ${now}; before it had ${linesText(before)}, ${sizeText(before.length)}.`;
}

function linesText(bytes: Buffer): string {
  let lines = bytes.length > 0 && bytes.at(-1) !== 10 ? 1 : 0;
  for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines++;
  return lines === 1 ? "1 line" : `${lines} lines`;
}
