// What a server answered, as the result of a call: texts together, files kept or described, all of it bounded. It is text
// from outside, also of a trusted server, which may pass on what strangers wrote; a failure can carry orders as well.

import type { ToolResult } from "../../core/journal.ts";
import type { FileRef } from "../../core/message.ts";
import type { Blobs } from "../../ports/blobs.ts";
import { endingOf, mimeOf, typeIn } from "../media.ts";

const textMax = 400_000;
const complaintMax = 4_000;
const filesMax = 20;

/** As the protocol has it; what we do not know is described by its type. */
export type Content = {
  readonly type: string;
  readonly text?: unknown;
  readonly data?: unknown;
  readonly mimeType?: unknown;
  readonly uri?: unknown;
  readonly name?: unknown;
  readonly description?: unknown;
  readonly resource?: unknown;
};

export type Answer = {
  readonly content?: readonly Content[] | undefined;
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
};

export type Keeping = { readonly blobs?: Pick<Blobs, "put"> };

export async function resultOf(answer: Answer, keeping: Keeping): Promise<ToolResult> {
  const pieces: string[] = [];
  const files: FileRef[] = [];
  for (const one of answer.content ?? []) {
    const { text, file } = await piece(one, files.length + 1, files.length < filesMax ? keeping.blobs : undefined);
    pieces.push(text);
    if (file !== null) files.push(file);
  }
  const structured = answer.structuredContent;
  // A server repeats as text what it has as data; then once is enough.
  if (structured !== undefined && structured !== null && !pieces.some((text) => text !== "")) {
    pieces.push(JSON.stringify(structured));
  }
  const text = bounded(pieces.join("\n\n"), textMax);
  if (answer.isError === true) return complaint(text);
  const output = files.length === 0 ? text : { text, files };
  return { type: "ok", output, outside: true };
}

/** A tool that says it failed. */
export function complaint(text: string): ToolResult {
  const said = bounded(text.trim() === "" ? "it did not say why" : text, complaintMax);
  return { type: "failed", why: said, outside: true };
}

type Piece = { readonly text: string; readonly file: FileRef | null };

/** `nth` keeps the names of several files of one result apart. */
async function piece(one: Content, nth: number, blobs: Keeping["blobs"]): Promise<Piece> {
  switch (one.type) {
    case "text":
      return { text: words(one.text), file: null };
    case "image":
    case "audio":
      return kept(one.type, words(one.data), words(one.mimeType), `${one.type}-${nth}`, blobs);
    case "resource_link":
      return { text: linkText(one), file: null };
    case "resource":
      return embedded(one.resource, blobs);
    default:
      return { text: `[content of the kind ${one.type.slice(0, 40)}, which cannot be shown]`, file: null };
  }
}

function linkText(one: Content): string {
  const about = words(one.description);
  return `[link to ${words(one.name) || "a resource"}: ${words(one.uri)}${about === "" ? "" : `, ${about}`}]`;
}

async function embedded(resource: unknown, blobs: Keeping["blobs"]): Promise<Piece> {
  const { uri, text, blob, mimeType } = (resource ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof text === "string") return { text: `[resource ${words(uri)}]\n${text}`, file: null };
  return kept("resource", words(blob), words(mimeType), nameIn(words(uri)), blobs);
}

/** The last part of its path. */
function nameIn(uri: string): string {
  const path = uri.replace(/^[a-z][\w+.-]*:\/*/i, "").split(/[?#]/, 1)[0] ?? "";
  const last = path.split("/").findLast((part) => part !== "") ?? "";
  try {
    return decodeURIComponent(last) || "resource";
  } catch (error) {
    if (error instanceof URIError) return last;
    throw error;
  }
}

/** What the content shows counts more than what the server says; a name without the right ending gets it. */
export function namedAs(
  name: string,
  declared: string,
  content: Uint8Array,
): { readonly name: string; readonly mime: string } {
  const mime = typeIn(content) ?? (declared || mimeOf(name));
  const base = name.slice(0, 100);
  const ending = endingOf(mime);
  const isRight = ending === "" || endingOf(mimeOf(base)) === ending;
  return { name: isRight ? base : `${base}${ending}`, mime };
}

async function kept(
  kind: string,
  data: string,
  declared: string,
  wanted: string,
  blobs: Keeping["blobs"],
): Promise<Piece> {
  const bytes = Buffer.from(data, "base64");
  const { name, mime } = namedAs(wanted, declared, bytes);
  const size = bytes.length < 1_000 ? `${bytes.length} bytes` : `${Math.round(bytes.length / 1_000)} kB`;
  if (blobs === undefined) return { text: `[${kind} ${mime}, ${size}, not kept]`, file: null };
  try {
    const file = await blobs.put(bytes, { name, mime });
    return { text: `[${kind} ${mime}, ${size}, kept as file ${file.name}]`, file };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { text: `[${kind} ${mime}, ${size}, not kept: ${why}]`, file: null };
  }
}

function bounded(text: string, max: number): string {
  if (text.length <= max) return text.toWellFormed();
  return `${text.slice(0, max).toWellFormed()}\n[cut: ${text.length - max} more characters]`;
}

function words(value: unknown): string {
  return typeof value === "string" ? value : "";
}
