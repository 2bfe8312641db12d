// What people attach, as a model gets it: pictures and documents where it can take them, the text of text files, and for
// everything else a description that says where the file is. What is read is bounded, the newest first.

import { Fault, sentenceOf } from "../../../core/fault.ts";
import type { ToolResult } from "../../../core/journal.ts";
import type { FileRef } from "../../../core/message.ts";
import type { Blobs } from "../../../ports/blobs.ts";
import { guess, readLetters } from "../../../ports/letters.ts";
import type { Abilities } from "../providers/abilities.ts";
import { fromOutside, trimmed } from "./results.ts";

export type FilePart =
  | { readonly type: "text"; readonly text: string }
  | {
      readonly type: "file";
      readonly filename: string;
      readonly mediaType: string;
      readonly data: { readonly type: "data"; readonly data: Uint8Array };
    };

/** The content of a file, or why there is none. */
export type Loaded = { readonly bytes: Uint8Array } | { readonly missing: string };
export type Contents = ReadonlyMap<string, Loaded>;

const eachMax = 5_000_000;
const allMax = 16_000_000;
const countMax = 12;
const textMax = 24_000;

/** The files that a result names beside its text. Checked, because other tools have data of their own there. */
export function resultFiles(result: ToolResult): readonly FileRef[] {
  const output = result.type === "ok" ? result.output : null;
  if (typeof output !== "object" || output === null || !("files" in output) || !Array.isArray(output.files)) return [];
  return (output.files as readonly unknown[]).filter(isFileRef);
}

function isFileRef(value: unknown): value is FileRef {
  if (typeof value !== "object" || value === null) return false;
  const { name, mime, blob, bytes } = value as Partial<FileRef>;
  const isStored = typeof blob === "string" && typeof bytes === "number";
  return isStored && typeof name === "string" && typeof mime === "string";
}

/** How a file reaches this model. */
export function wayOf(file: FileRef, abilities: Abilities): "image" | "pdf" | "text" | "description" {
  const mime = file.mime.toLowerCase().split(";")[0] ?? "";
  if (file.bytes <= eachMax) {
    if (/^image\/(?:png|jpeg|gif|webp)$/.test(mime) && abilities.images) return "image";
    if (mime === "application/pdf" && abilities.pdf) return "pdf";
  }
  const isText =
    mime.startsWith("text/") ||
    /^application\/(?:json|xml|yaml|x-yaml|toml|javascript|x-sh|sql|x-ndjson)$|\+(?:json|xml)$/.test(mime) ||
    /\.(?:txt|md|csv|tsv|json|ya?ml|toml|ini|log|xml|html?|css|[cm]?[jt]sx?|py|rs|go|java|c|h|cpp|sh|sql)$/i.test(
      file.name,
    );
  return isText && file.bytes <= eachMax ? "text" : "description";
}

/** Reads what will be shown; the files come newest first. */
export async function loadFiles(
  files: readonly FileRef[],
  abilities: Abilities,
  blobs: Blobs | null,
): Promise<Contents> {
  const contents = new Map<string, Loaded>();
  let left = allMax;
  for (const file of files) {
    if (contents.has(file.blob) || blobs === null || contents.size >= countMax) continue;
    if (wayOf(file, abilities) === "description" || file.bytes > left) continue;
    left -= file.bytes;
    contents.set(
      file.blob,
      await blobs.read(file.blob).then(
        (bytes) => ({ bytes }),
        (error: unknown) => ({ missing: sentenceOf(error) }),
      ),
    );
  }
  return contents;
}

export function fileParts(
  file: FileRef,
  abilities: Abilities,
  contents: Contents,
  blobs: Pick<Blobs, "path"> | null,
): readonly FilePart[] {
  const name = plain(file.name);
  const path = blobs === null ? null : pathOf(file, blobs);
  const about = `${name}, ${plain(file.mime)}, ${sizeOf(file.bytes)}${path === null ? "" : `, saved as ${path}`}`;
  const content = contents.get(file.blob);
  if (content !== undefined && "missing" in content) {
    return [{ type: "text", text: `[Attached, but it cannot be read (${content.missing}): ${about}]` }];
  }
  const way = content === undefined ? "description" : wayOf(file, abilities);
  if (content === undefined || way === "description") {
    return [{ type: "text", text: `[Attached: ${about}. Its content is not shown here.]` }];
  }
  if (way === "text") return [{ type: "text", text: textOf(content.bytes, about, path) }];
  const mediaType = way === "pdf" ? "application/pdf" : (file.mime.toLowerCase().split(";")[0] ?? file.mime);
  return [
    { type: "text", text: `[Attached: ${about}]` },
    { type: "file", filename: name, mediaType, data: { type: "data", data: content.bytes } },
  ];
}

/** A file without a path is still described: one attachment must not fail every later turn of its conversation. */
function pathOf({ blob, name }: FileRef, blobs: Pick<Blobs, "path">): string | null {
  try {
    return blobs.path(blob, name);
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}

const lettersWords = {
  certain: "",
  guessed: `. Its letters are guessed (${guess}): some may be wrong.`,
  broken: ". Some of its letters could not be read.",
} as const;

function textOf(bytes: Uint8Array, about: string, path: string | null): string {
  const read = readLetters(bytes);
  if (read === null) return `[Attached: ${about}. It is not text that can be read, so its content is not shown here.]`;
  const shown = trimmed(read.text, textMax, () => path);
  return `[Attached: ${about}${lettersWords[read.letters]}]\n${fromOutside(shown, "text of the file")}`;
}

function sizeOf(bytes: number): string {
  return bytes < 1_000
    ? `${bytes} bytes`
    : bytes < 1_000_000
      ? `${Math.round(bytes / 1_000)} kB`
      : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Whoever sends a file chooses these words: they cannot end the line, nor look like a mark of ours. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}<>[\]]/gu, "_").slice(0, 200);
}
