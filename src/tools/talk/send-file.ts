// send_file: a file for the user, before the answer is finished. What is sent is the content of this moment: it is kept by the
// gateway, and the wish to send it goes into the commit of the result.

import { basename, extname } from "node:path";
import * as v from "valibot";
import type { Blobs } from "../../ports/blobs.ts";
import type { Tool } from "../../ports/tool.ts";
import { define } from "../define.ts";
import { openPlain, piecesOf, sizeText } from "../files/content.ts";
import { type Room, usedPlace, vetPath } from "../files/room.ts";
import { maybe, pathText, words } from "../input.ts";
import { Fault } from "../../core/fault.ts";

const bytesMax = 50_000_000;
const captionMax = 1_000;

export function sendFileTool(room: Room, blobs: Pick<Blobs, "put">): Tool {
  return define({
    name: "send_file",
    description: "Sends a file to the user in this conversation.",
    effect: "pure",
    face: {
      properties: { path: { type: "string" }, caption: { type: "string" } },
      required: ["path"],
    },
    schema: v.strictObject({ path: pathText, caption: maybe(words(captionMax)) }),
    vet: (input, context) =>
      vetPath(room, { tool: "send_file", effect: "pure", use: "read", path: input.path, input }, context),
    async run({ path, caption = "" }, { signal, turn }) {
      const place = await usedPlace(room, path, "read");
      const opened = await openPlain(place, room.untouchable);
      await using handle = opened.handle;
      const { bytes } = opened.facts;
      if (bytes > bytesMax) {
        throw new Fault(
          "too-large",
          `${place.shown} is ${sizeText(bytes)}; at most ${sizeText(bytesMax)} can be sent.`,
        );
      }
      const name = basename(place.real);
      const file = await blobs.put(piecesOf(handle, bytesMax, signal), { name, mime: mimeOf(name), turn });
      const output = `${name} (${sizeText(file.bytes)}) goes to the user.`;
      return { type: "ok", output, wishes: [{ type: "send", text: caption.trim(), files: [file] }] };
    },
  });
}

const mimes: Readonly<Record<string, string>> = {
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
  ".mp4": "video/mp4",
  ".webm": "video/webm",
  ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
  ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
};

export function mimeOf(name: string): string {
  return mimes[extname(name).toLowerCase()] ?? "application/octet-stream";
}
