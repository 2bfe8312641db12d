// Files that people send: fetched and stored before their message is accepted. One that cannot be had, also
// not at the third try, becomes a line that says which and why, because words are never held back by what hangs on them.

import { Fault, sentenceOf } from "../../core/fault.ts";
import type { FileRef } from "../../core/message.ts";
import { later } from "../../core/ids.ts";
import { contentOf } from "../../ports/content.ts";
import type { Surroundings } from "../../ports/platform.ts";
import type { Api, SlackFile } from "./api.ts";

export const fileMax = 50 * 1024 * 1024;

const triesMax = 3;
const pauseMs = 500;

type Around = Surroundings & { readonly api: Pick<Api, "download">; readonly apiRoot: string };

export type FilesIn = { readonly files: readonly FileRef[]; readonly lost: readonly string[] };

export async function fetchFiles(given: readonly SlackFile[], around: Around, signal: AbortSignal): Promise<FilesIn> {
  const files: FileRef[] = [];
  const lost: string[] = [];
  for (const file of given) {
    const name = file.name ?? file.title ?? "file";
    const refusal = refusalOf(file, around.apiRoot);
    const got = refusal ?? (await fetchPatiently(file, name, around, signal));
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

/** The file, or why not. What our own disk refuses is thrown: the message comes again. */
async function fetchPatiently(
  file: SlackFile,
  name: string,
  around: Around,
  signal: AbortSignal,
): Promise<FileRef | string> {
  const { world } = around;
  for (let tries = 1; ; tries++) {
    try {
      return await fetchOne(file, name, around, signal);
    } catch (error) {
      if (signal.aborted || (error instanceof Fault && error.code.startsWith("store-"))) throw error;
      if (error instanceof Fault || tries >= triesMax) return sentenceOf(error).replace(/\.$/, "");
      await world.sleep(later(world.now(), pauseMs * tries), signal);
    }
  }
}

/** A Fault where another try is of no use. */
async function fetchOne(file: SlackFile, name: string, { api, blobs }: Around, signal: AbortSignal): Promise<FileRef> {
  const mime = file.mimetype ?? "application/octet-stream";
  const answer = await api.download(addressOf(file) ?? "", signal);
  const { ok, status, headers } = answer;
  const type = headers.get("content-type") ?? "";
  // Without the permission Slack answers with the page where people sign in.
  const isSignIn = ok && type.startsWith("text/html") && mime !== "text/html";
  if (ok && !isSignIn) return blobs.put(contentOf(answer), { name, mime });
  await answer.body?.cancel();
  if (isSignIn) throw new Fault("denied", "the app lacks the scope files:read");
  const why = `Slack answered with ${status}`;
  throw status < 500 && status !== 429 ? new Fault("not-found", why) : new Error(why);
}
