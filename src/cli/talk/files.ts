// Files in a terminal's conversation: `/file` sends one, `/save` keeps one that was shown, by its number. Both are done by
// this program; whatever else begins with a slash goes to the gateway.

import { createWriteStream, openAsBlob, statSync } from "node:fs";
import { basename, extname, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import type { Client } from "../../control/client.ts";
import { Fault, sentenceOf } from "../../core/fault.ts";
import type { FileRef } from "../../core/message.ts";
import { oneLine, sizeText } from "../print.ts";

export type FileOrder =
  | { readonly type: "attach"; readonly path: string; readonly words: string }
  | { readonly type: "save"; readonly number: number; readonly to: string | null }
  | { readonly type: "wrong"; readonly why: string };

const attachUsage =
  'Say which file: /file <path> [words]; a path with spaces in quotes, as in /file "my notes.txt" look.';
const saveUsage = "Say which file, by its number: /save <number> [where].";

/** What a typed line wants with a file; null when it is something else. Pure. */
export function readFileOrder(line: string): FileOrder | null {
  const match = /^\s*\/(file|save)(?:\s+([\s\S]*))?$/.exec(line);
  if (match === null) return null;
  const [, name, rest = ""] = match;
  const parts = /^(?:"([^"]+)"|(\S+))(?:\s+([\s\S]*))?$/.exec(rest.trim());
  const first = parts?.[1] ?? parts?.[2];
  const more = parts?.[3]?.trim() ?? "";
  if (name === "file")
    return first === undefined ? { type: "wrong", why: attachUsage } : { type: "attach", path: first, words: more };
  if (first === undefined || !/^[1-9]\d{0,5}$/.test(first)) return { type: "wrong", why: saveUsage };
  return { type: "save", number: Number(first), to: more === "" ? null : more.replaceAll(/^"|"$/g, "") };
}

export type FileDesk = {
  /** How a file is shown; it can be saved by the number it gets. */
  label(file: FileRef): string;
  /** Hands a file to the gateway. Rejects with a Fault that says why not. */
  attach(path: string): Promise<FileRef>;
  /** Answers where it was put; never over something else. */
  save(number: number, to: string | null): Promise<string>;
};

/** `path`: the address of the conversation. */
export function fileDesk(connect: () => Client, path: string, userHome: string): FileDesk {
  const shown: FileRef[] = [];
  const place = (given: string) => resolve(given.replace(/^~(?=$|[/\\])/, userHome));

  return {
    label(file) {
      const known = shown.findIndex((one) => one.blob === file.blob && one.name === file.name);
      const number = known === -1 ? shown.push(file) : known + 1;
      return `${fileLabel(file)}; /save ${number} keeps it`;
    },
    async attach(given) {
      const file = place(given);
      if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true)
        throw new Fault("not-found", `There is no file ${file}.`);
      const name = basename(file);
      const body = await openAsBlob(file, { type: mimes[extname(name).toLowerCase()] ?? "application/octet-stream" });
      const query = new URLSearchParams({ name }).toString();
      return (await connect().upload<{ readonly file: FileRef }>(`${path}/files?${query}`, body)).file;
    },
    async save(number, to) {
      const file = shown[number - 1];
      if (file === undefined) throw new Fault("not-found", `No file with the number ${number} was shown here.`);
      const target = place(to ?? basename(file.name));
      const body = await connect().download(`${path}/files/${file.blob}`);
      try {
        await pipeline(body, createWriteStream(target, { flags: "wx" }));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EEXIST")
          throw new Fault(
            "not-possible",
            `${target} already exists. Say another place: /save ${number} <where>.`,
            error,
          );
        throw new Fault("not-possible", `${target} could not be written: ${sentenceOf(error)}`, error);
      }
      return target;
    },
  };
}

export function fileLabel({ name, bytes }: FileRef): string {
  return `[file] ${oneLine(name)}, ${sizeText(bytes)}`;
}

/** What a model can look at; the rest is told by its name. */
const mimes: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
  ".avif": "image/avif",
  ".svg": "image/svg+xml",
  ".pdf": "application/pdf",
  ".txt": "text/plain",
  ".md": "text/markdown",
  ".csv": "text/csv",
  ".html": "text/html",
  ".json": "application/json",
  ".mp3": "audio/mpeg",
  ".wav": "audio/wav",
  ".mp4": "video/mp4",
  ".zip": "application/zip",
};
