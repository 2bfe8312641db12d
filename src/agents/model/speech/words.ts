// What a speech model is given and what is said when it gives nothing back: the name under which a recording is sent, by
// which servers know its format, and the sentence for whoever spoke in vain. Pure.

import type { FileRef } from "../../../core/message.ts";
import { readError } from "../errors/read.ts";
import { type Failure, type FailureKind, withoutKeys } from "../errors/translate.ts";
import type { Speech } from "../options.ts";

/** What the service takes; a server of one's own may take more, but nobody would wait for it. */
export const recordingMax = 25 * 1024 * 1024;

const takenAs: Readonly<Record<string, string>> = {
  flac: "flac",
  m4a: "m4a",
  mp3: "mp3",
  mp4: "mp4",
  mpeg: "mpeg",
  mpga: "mpga",
  oga: "oga",
  ogg: "ogg",
  wav: "wav",
  webm: "webm",
};
const byMime: Readonly<Record<string, string>> = {
  aac: "m4a",
  flac: "flac",
  m4a: "m4a",
  mp3: "mp3",
  mp4: "m4a",
  mpeg: "mp3",
  ogg: "ogg",
  opus: "ogg",
  vorbis: "ogg",
  wav: "wav",
  wave: "wav",
  webm: "webm",
};

/** Only its ending tells anything: what its sender called it stays here. */
export function recordingName({ name, mime }: Pick<FileRef, "name" | "mime">): string {
  const end = /\.([a-z0-9]{1,5})$/i.exec(name)?.[1]?.toLowerCase() ?? "";
  const kind = /^audio\/(?:x-)?([a-z0-9]+)/i.exec(mime.trim())?.[1]?.toLowerCase() ?? "";
  const known = Object.hasOwn(takenAs, end) ? end : Object.hasOwn(byMime, kind) ? byMime[kind] : undefined;
  return `voice.${known ?? (end === "" ? "ogg" : end)}`;
}

export function tooLarge({ bytes }: Pick<FileRef, "bytes">): string {
  return `it has ${(bytes / 1024 / 1024).toFixed(1)} MB, and at most ${recordingMax / 1024 / 1024} MB can be transcribed`;
}

const todo: Readonly<Partial<Record<FailureKind, string>>> = {
  "wrong-key": "; agent.speech.apiKey must be a valid key",
  "no-credit": "; its account has no credit left",
  "unknown-model": "; agent.speech.model must be one that it has",
  "no-address": "; agent.speech.baseUrl must be where it is",
};

export function whyUnheard(error: unknown, { kind }: Pick<Failure, "kind">, { model }: Speech, now: number): string {
  const { status, message } = readError(error, now);
  const told = withoutKeys(message).replace(/[.\s]+$/, "");
  return `${model} gave no transcript${status === null ? "" : ` (status ${status})`}: ${told}${todo[kind] ?? ""}`;
}
