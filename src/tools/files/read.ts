// read_file: lines of a text file with their numbers, so that they can be spoken of and read on from.

import * as v from "valibot";
import { Fault } from "../../core/fault.ts";
import type { Tool } from "../../ports/tool.ts";
import { define, failed, ok } from "../define.ts";
import { maybe, pathText, whole } from "../input.ts";
import { looksBinary, openPlain, piecesOf, sizeText } from "./content.ts";
import { type Lines, takeLines } from "./lines.ts";
import { type Room, usedPlace, vetPath } from "./room.ts";

const linesMax = 2_000;
const bytesMax = 100_000;
const lineMax = 4_000;
/** Beyond this nothing is looked at: it would take long, and nobody reads it line by line. */
const scanMax = 256_000_000;

export function readFileTool(room: Room): Tool {
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
    vet: (input, context) =>
      vetPath(room, { tool: "read_file", effect: "pure", use: "read", path: input.path, input }, context),
    async run({ path, offset = 1, limit = linesMax }, { signal }) {
      const place = await usedPlace(room, path, "read");
      const { shown } = place;
      const opened = await openPlain(place, room.untouchable);
      await using handle = opened.handle;
      const { value: head = Buffer.alloc(0) } = await piecesOf(handle, 8 * 1024, signal).next();
      if (looksBinary(head)) return failed(binarySentence(shown, head, opened.facts.bytes));
      const count = Math.min(limit, linesMax);
      const found = await takeLines(piecesOf(handle, scanMax, signal), { from: offset, count, bytesMax, lineMax });
      return ok(asText(found, shown, offset, opened.facts.bytes > scanMax));
    },
  });
}

function asText({ lines, seen, damaged }: Lines, shown: string, offset: number, more: boolean): string {
  if (seen === 0) return `[${shown} is empty]`;
  const last = lines.at(-1);
  if (last === undefined) throw new Fault("not-found", `${shown} has ${seen} lines; line ${offset} is behind its end.`);
  const text = lines.map((line) => `${line.n}\t${line.text}${line.cut ? " [line cut]" : ""}`);
  const notes = [
    last.n < seen
      ? `lines ${offset} to ${last.n} of ${more ? "more than " : ""}${seen}; read on with offset ${last.n + 1}`
      : null,
    damaged ? "parts are not UTF-8 and shown as \ufffd" : null,
  ].filter((note) => note !== null);
  return [...text, ...notes.map((note) => `[${note}]`)].join("\n");
}

const signs: readonly (readonly [begins: string, what: string])[] = [
  ["89504e470d0a1a0a", "a PNG image"],
  ["ffd8ff", "a JPEG image"],
  ["47494638", "a GIF image"],
  ["25504446", "a PDF document"],
  ["504b0304", "a ZIP archive or office document"],
  ["1f8b", "compressed by gzip"],
  ["7f454c46", "a program"],
  ["fffe", "text in UTF-16; convert it with iconv"],
  ["feff", "text in UTF-16; convert it with iconv"],
  ["53514c69746520666f726d6174203300", "an SQLite database"],
];

function binarySentence(shown: string, head: Buffer, bytes: number): string {
  const start = head.subarray(0, 16).toString("hex");
  const what = signs.find(([begins]) => start.startsWith(begins))?.[1] ?? "binary";
  return `${shown} is not plain text: it is ${what}, ${sizeText(bytes)}. send_file gives it to the user as it is.`;
}
