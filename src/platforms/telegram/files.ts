// Files both ways. What comes in is on our disk before its message is accepted; what cannot be had, also not at the third
// try, becomes a line that says so, and never holds the words back; only our own disk does, and then all comes again. What goes out is sent as what people expect to see: pictures, voice, else documents.

import { Fault, sentenceOf } from "../../core/fault.ts";
import { later } from "../../core/ids.ts";
import type { FileRef } from "../../core/message.ts";
import type { Surroundings } from "../../ports/platform.ts";
import { type Bot, theirs } from "./api.ts";
import type { Attached, Parcel } from "./inbound.ts";
import type { Inbound } from "../../core/message.ts";

/** Telegram's own servers hand bots no larger files; our own limit is in the store of files. */
const photoBytesMax = 10_000_000;
const fetchMs = 120_000;
/** At once, so that a slow one costs the others nothing. */
const fetchesMax = 4;
const triesMax = 3;
const pauseMs = 500;

/** The message as it is accepted: with its files, and with a word about those that are missing. */
export async function withFiles(bot: Bot, around: Surroundings, parcel: Parcel, signal: AbortSignal): Promise<Inbound> {
  const { message, files } = parcel;
  const { body } = message;
  if (files.length === 0 || body.kind !== "text") return message;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(fetchMs)]);
  const fetched: (FileRef | string)[] = [];
  for (let n = 0; n < files.length; n += fetchesMax) {
    const some = files.slice(n, n + fetchesMax).map((file) => fetchPatiently(bot, around, file, limit));
    fetched.push(...(await Promise.all(some)));
  }
  const missing = fetched.filter((one) => typeof one === "string");
  const text = [body.text, ...missing].filter((one) => one !== "").join("\n");
  return { ...message, body: { ...body, text, files: fetched.filter((one) => typeof one !== "string") } };
}

async function fetchPatiently(
  bot: Bot,
  around: Surroundings,
  file: Attached,
  signal: AbortSignal,
): Promise<FileRef | string> {
  const { world } = around;
  for (let tries = 1; ; tries++) {
    try {
      return await fetchFile(bot, around, file, signal);
    } catch (error) {
      if (error instanceof Fault && error.code.startsWith("store-")) throw error;
      if (isFinal(error) || tries >= triesMax || signal.aborted)
        return `[the file ${safeName(file.name).slice(0, 200).toWellFormed()} could not be fetched: ${reasonOf(error)}]`;
      await world.sleep(later(world.now(), pauseMs * tries), signal);
    }
  }
}

async function fetchFile(bot: Bot, { blobs }: Surroundings, file: Attached, signal: AbortSignal): Promise<FileRef> {
  const raw = await bot.raw();
  const { file_path: path } = await raw.getFile({ file_id: file.id }, theirs(signal));
  if (path === undefined) throw new Fault("not-found", "Telegram does not hand it over");
  return blobs.put(await bot.download(path, signal), { name: safeName(file.name), mime: file.mime });
}

/** Whether another try is of no use: Telegram said no, or the file is larger than we keep. */
function isFinal(error: unknown): boolean {
  if (error instanceof Fault) return true;
  const code = error instanceof Error && "error_code" in error ? Number(error.error_code) : 500;
  return code < 500 && code !== 429;
}

function reasonOf(error: unknown): string {
  const said = error instanceof Error && "description" in error ? String(error.description) : sentenceOf(error);
  return /file is too big/i.test(said) ? "Telegram hands bots no files above 20 MB" : said;
}

/** Nothing in a name may steer whatever shows or stores it. The store of files cuts it, and keeps its extension. */
function safeName(name: string): string {
  return name.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}/\\]/gu, "_");
}

export type FileKind = "photo" | "voice" | "document";

export function kindOf({ mime, bytes }: Pick<FileRef, "mime" | "bytes">): FileKind {
  if (/^image\/(?:jpeg|png|webp)$/.test(mime)) return bytes <= photoBytesMax ? "photo" : "document";
  return /^audio\/(?:ogg|opus)$/.test(mime) ? "voice" : "document";
}
