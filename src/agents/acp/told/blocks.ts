// A message as the agent takes it: its text, its images where the agent can see, and links to whatever else is attached.

import { pathToFileURL } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import { sentenceOf } from "../../../core/fault.ts";
import type { Entry } from "../../../core/journal.ts";
import type { FileRef, Inbound } from "../../../core/message.ts";
import type { Link } from "../link.ts";
import type { AcpOptions } from "../options.ts";

/** Of one file inside of a message. */
const embeddedBytes = 10e6;
const textBytes = 200e3;

export type Seeing = Pick<AcpOptions, "blobs"> & { readonly can: Omit<Link["can"], "load"> };

export async function blocksOf(text: string, files: readonly FileRef[], seeing: Seeing): Promise<ContentBlock[]> {
  const attached = await Promise.all(files.map((file) => blockOf(file, seeing)));
  return [{ type: "text", text: text.trim() === "" ? "(a message without words)" : text }, ...attached];
}

/** An agent in the sandbox sees no files of conversations, so they go inside of the message. */
async function blockOf(file: FileRef, { blobs, can }: Seeing): Promise<ContentBlock> {
  const { name, mime, bytes, blob } = file;
  const missing = (why: string): ContentBlock => ({
    type: "text",
    text: `[attached: ${name}, ${mime}, ${bytes} bytes, ${why}]`,
  });
  if (blobs === undefined) return missing("which cannot be passed on");
  const isText = /^text\/|^application\/(?:json|xml|yaml|x-yaml|javascript|toml)\b/.test(mime);
  const read = async (): Promise<Buffer> => Buffer.from(await blobs.read(blob));
  try {
    if (can.image && mime.startsWith("image/") && bytes <= embeddedBytes)
      return { type: "image", data: (await read()).toString("base64"), mimeType: mime };
    if (can.links)
      return { type: "resource_link", uri: pathToFileURL(blobs.path(blob)).href, name, mimeType: mime, size: bytes };
    const uri = `attachment:///${encodeURIComponent(name)}`;
    if (can.embedded && bytes <= embeddedBytes) {
      const content = isText ? { text: (await read()).toString("utf8") } : { blob: (await read()).toString("base64") };
      return { type: "resource", resource: { uri, mimeType: mime, ...content } };
    }
    if (isText && bytes <= textBytes) {
      return { type: "text", text: `[attached: ${name}]\n${(await read()).toString("utf8")}` };
    }
    return missing(can.embedded ? "which is too large to pass on" : "which this agent cannot take");
  } catch (error) {
    return missing(`which cannot be read: ${sentenceOf(error)}`);
  }
}

/** The files of a turn: those of its message and of all that joined it. */
export function filesOf(input: Inbound, journal: readonly Entry[]): readonly FileRef[] {
  const joined = journal.flatMap((entry) => (entry.type === "joined" ? [entry.message] : []));
  return [input, ...joined].flatMap(({ body }) => (body.kind === "text" ? body.files : []));
}
