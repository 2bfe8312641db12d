// Files that people send: fetched and stored before their message is accepted. One that cannot be had becomes a line that
// says which and why, because words are never held back by what hangs on them.

import { Fault, sentenceOf } from "../../core/fault.ts";
import type { FileRef } from "../../core/message.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { Api, SlackFile } from "./api.ts";

export const fileMax = 50 * 1024 * 1024;

export type FilesIn = { readonly files: readonly FileRef[]; readonly lost: readonly string[] };

export async function fetchFiles(
  given: readonly SlackFile[],
  { api, blobs, apiRoot }: { readonly api: Api; readonly blobs: Blobs; readonly apiRoot: string },
  signal: AbortSignal,
): Promise<FilesIn> {
  const files: FileRef[] = [];
  const lost: string[] = [];
  for (const file of given) {
    const name = file.name ?? file.title ?? "file";
    const refusal = refusalOf(file, apiRoot);
    const got = refusal ?? (await fetchOne(file, name, api, blobs, signal));
    if (typeof got === "string") lost.push(`[The file ${name} could not be had: ${got}.]`);
    else files.push(got);
  }
  return { files, lost };
}

/** Why it is not even tried; null when it is. */
export function refusalOf(file: SlackFile, apiRoot: string): string | null {
  const { mode, size = 0 } = file;
  const url = addressOf(file);
  if (mode === "tombstone") return "it was deleted";
  if (mode === "hidden_by_limit") return "the workspace's plan hides it";
  if (size > fileMax) return `it is larger than ${fileMax / 1024 / 1024} MB`;
  if (url === undefined) return "Slack says nothing about where it is";
  return isSlacks(url, apiRoot) ? null : "it lies outside of Slack";
}

/** Where it is fetched from. */
function addressOf({ url_private_download: download, url_private: shown }: SlackFile): string | undefined {
  return download ?? shown;
}

/** The token goes nowhere else. */
function isSlacks(address: string, apiRoot: string): boolean {
  const url = URL.parse(address);
  if (url === null) return false;
  if (url.origin === URL.parse(apiRoot)?.origin) return true;
  return url.protocol === "https:" && /(?:^|\.)slack\.com$/.test(url.hostname);
}

async function fetchOne(
  file: SlackFile,
  name: string,
  api: Api,
  blobs: Blobs,
  signal: AbortSignal,
): Promise<FileRef | string> {
  const mime = file.mimetype ?? "application/octet-stream";
  try {
    const response = await api.download(addressOf(file) ?? "", signal);
    const type = response.headers.get("content-type") ?? "";
    if (!response.ok || response.body === null) return `Slack answered with ${response.status}`;
    // Without the permission Slack answers with the page where people sign in.
    if (type.startsWith("text/html") && mime !== "text/html") return "the app lacks the scope files:read";
    return await blobs.put(bounded(response.body), { name, mime });
  } catch (error) {
    if (signal.aborted || (error instanceof Fault && error.code.startsWith("store"))) throw error;
    return sentenceOf(error).replace(/\.$/, "");
  }
}

async function* bounded(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.byteLength;
    if (bytes > fileMax) throw new Fault("too-large", `it is larger than ${fileMax / 1024 / 1024} MB`);
    yield chunk;
  }
}
