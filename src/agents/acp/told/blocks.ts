// A message as the agent takes it: its text, its images where the agent can see, and links to whatever else is attached.

import { pathToFileURL } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import { sentenceOf } from "../../../core/fault.ts";
import type { Entry } from "../../../core/journal.ts";
import type { FileRef, Inbound } from "../../../core/message.ts";
import type { AcpOptions } from "../options.ts";

const imageBytes = 10e6;

export type Seeing = Pick<AcpOptions, "blobs"> & { readonly image: boolean };

export async function blocksOf(text: string, files: readonly FileRef[], seeing: Seeing): Promise<ContentBlock[]> {
  const attached = await Promise.all(files.map((file) => blockOf(file, seeing)));
  return [{ type: "text", text: text.trim() === "" ? "(a message without words)" : text }, ...attached];
}

async function blockOf(file: FileRef, { blobs, image }: Seeing): Promise<ContentBlock> {
  const { name, mime, bytes, blob } = file;
  const missing = (why: string): ContentBlock => ({
    type: "text",
    text: `[attached: ${name}, ${mime}, ${bytes} bytes, ${why}]`,
  });
  if (blobs === undefined) return missing("which cannot be passed on");
  try {
    if (image && mime.startsWith("image/") && bytes <= imageBytes) {
      const data = Buffer.from(await blobs.read(blob)).toString("base64");
      return { type: "image", data, mimeType: mime };
    }
    const uri = pathToFileURL(blobs.path(blob)).href;
    return { type: "resource_link", uri, name, mimeType: mime, size: bytes };
  } catch (error) {
    return missing(`which cannot be read: ${sentenceOf(error)}`);
  }
}

/** The files of a turn: those of its message and of all that joined it. */
export function filesOf(input: Inbound, journal: readonly Entry[]): readonly FileRef[] {
  const joined = journal.flatMap((entry) => (entry.type === "joined" ? [entry.message] : []));
  return [input, ...joined].flatMap(({ body }) => (body.kind === "text" ? body.files : []));
}
