// The types of files: by the ending of a name, by their first bytes, and the ending that a type has. Pure.

import { extname } from "node:path";

const types: Readonly<Record<string, string>> = {
  ".txt": "text/plain",
  ".log": "text/plain",
  ".md": "text/markdown",
  ".csv": "text/csv",
  ".html": "text/html",
  ".json": "application/json",
  ".xml": "application/xml",
  ".pdf": "application/pdf",
  ".zip": "application/zip",
  ".gz": "application/gzip",
  ".tar": "application/x-tar",
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".svg": "image/svg+xml",
  ".mp3": "audio/mpeg",
  ".ogg": "audio/ogg",
  ".wav": "audio/wav",
  ".m4a": "audio/mp4",
  ".mp4": "video/mp4",
  ".webm": "video/webm",
  ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
};

export const unknownType = "application/octet-stream";

export function mimeOf(name: string): string {
  return types[extname(name).toLowerCase()] ?? unknownType;
}

const aliases: Readonly<Record<string, string>> = {
  "image/jpg": "image/jpeg",
  "audio/mp3": "audio/mpeg",
  "audio/x-wav": "audio/wav",
  "audio/wave": "audio/wav",
  "text/xml": "application/xml",
};

/** With its dot; empty for a type that is not known. */
export function endingOf(mime: string): string {
  const plain = (mime.split(";", 1)[0] ?? "").trim().toLowerCase();
  const type = aliases[plain] ?? plain;
  return Object.keys(types).find((ending) => types[ending] === type) ?? "";
}

const signatures: readonly (readonly [mime: string, at: number, hex: string])[] = [
  ["image/png", 0, "89504e470d0a1a0a"],
  ["image/jpeg", 0, "ffd8ff"],
  ["image/gif", 0, "47494638"],
  ["image/webp", 8, "57454250"],
  ["application/pdf", 0, "255044462d"],
  ["audio/wav", 8, "57415645"],
  ["audio/ogg", 0, "4f676753"],
  ["audio/mpeg", 0, "494433"],
];

/** The type that the content shows; null where it shows none. */
export function typeIn(content: Uint8Array): string | null {
  const head = Buffer.from(content.subarray(0, 32)).toString("hex");
  return signatures.find(([, at, hex]) => head.startsWith(hex, at * 2))?.[0] ?? null;
}
