// edit_file: one text inside a file is replaced by another. After a death it is known by the digests of the whole file
// before and after whether it happened, so it is never applied twice.

import * as v from "valibot";
import type { Tool } from "../../ports/tool.ts";
import { define, failed, ok } from "../define.ts";
import { maybe, pathText } from "../input.ts";
import { type Changes, checkChange } from "./change.ts";
import { exactText, looksBinary, readWhole } from "./content.ts";
import { applyEdit } from "./match.ts";
import { type Room, usedPlace, vetPath } from "./room.ts";
import { fileText } from "./write.ts";

const bytesMax = 10_000_000;

export function editFileTool(room: Room, changes: Changes): Tool {
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
      oldText: v.pipe(v.string(), v.nonEmpty("must not be empty; write_file makes new files")),
      newText: fileText,
      replaceAll: maybe(v.boolean()),
    }),
    vet: (input, context) => {
      const every = input.replaceAll === true ? "(every occurrence)\n" : "";
      const text = `${every}- ${input.oldText}\n+ ${input.newText}`;
      const call = { tool: "edit_file", effect: "checkable", use: "write", path: input.path, input, text } as const;
      return vetPath(room, call, context);
    },
    async run({ path, oldText, newText, replaceAll = false }, { key }) {
      const place = await usedPlace(room, path, "write");
      return changes(key, place, async () => {
        const { shown } = place;
        const found = await readWhole(place, room.untouchable, bytesMax);
        if (found === null) return { result: failed(`${shown} does not exist; write_file makes new files.`) };
        const text = exactText(found.bytes);
        if (text === null || looksBinary(found.bytes)) {
          return { result: failed(`${shown} is not plain UTF-8 text, so it is not edited.`) };
        }
        const edited = applyEdit(text, { oldText, newText, replaceAll });
        if (edited.type === "not-edited") return { result: failed(`${shown}: ${edited.why}`) };
        const says = saying(shown, edited.lines, oldText, newText);
        return { found, bytes: Buffer.from(edited.text), says, result: ok(says) };
      });
    },
    check: (_, { key }) => checkChange(room, key),
  });
}

function saying(shown: string, lines: readonly number[], oldText: string, newText: string): string {
  const count = (text: string): string => {
    const n = text === "" ? 0 : text.replace(/\n$/, "").split("\n").length;
    return n === 1 ? "1 line" : `${n} lines`;
  };
  const where = lines.length === 1 ? `at line ${lines[0]}` : `in ${lines.length} places, first at line ${lines[0]}`;
  return `Edited ${shown} ${where}: ${count(oldText)} became ${count(newText)}.`;
}
