// The lines of a text file with their numbers, so that they can be referred to and read on from.

import { Fault } from "../../../core/fault.ts";
import { sizeText } from "../../size.ts";
import type { FileRequest, FileScope } from "../protocol.ts";
import { looksBinary, openExisting, piecesOf } from "./content.ts";
import { type Lines, takeLines } from "./lines.ts";
import { absolutePath } from "./paths.ts";

const bytesMax = 100_000;
const lineMax = 4_000;
/** Beyond this nothing is looked at: it would take long, and a model cannot read it line by line. */
const scanMax = 256_000_000;

type ReadRequest = FileRequest & { readonly op: "read" };

export async function readLines(scope: FileScope, request: ReadRequest, signal: AbortSignal): Promise<string> {
  const { offset, limit } = request;
  const opened = await openExisting(scope, absolutePath(scope, request.path));
  const { shown, facts } = opened;
  await using handle = opened.handle;
  const { value: head = Buffer.alloc(0) } = await piecesOf(handle, 8 * 1024, signal).next();
  if (looksBinary(head)) throw new Fault("not-possible", binarySentence(shown, head, facts.bytes));
  const found = await takeLines(piecesOf(handle, scanMax, signal), { from: offset, count: limit, bytesMax, lineMax });
  return asText(found, shown, offset, facts.bytes > scanMax);
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
