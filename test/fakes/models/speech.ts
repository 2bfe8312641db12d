// Transcriptions as OpenAI and servers like it make them: a form with a model and a recording, answered with a text. What
// lacks a field, or an ending by which its format is known, is refused as the service refuses it.

import type { IncomingMessage } from "node:http";
import { openaiError } from "./openai.ts";
import type { Refusal } from "./plan.ts";

/** A recording as it came in. */
export type Recording = {
  readonly key: string | null;
  readonly model: string;
  readonly name: string;
  readonly mime: string;
  readonly content: string;
  /** The first is 1. */
  readonly nth: number;
};
/** The words that are understood, or a refusal. */
export type Ears = (recording: Recording) => string | Refusal | Promise<string | Refusal>;

const formats = ["flac", "m4a", "mp3", "mp4", "mpeg", "mpga", "oga", "ogg", "wav", "webm"];

export async function readRecording(
  request: IncomingMessage,
  key: string | null,
  nth: number,
): Promise<Recording | Refusal> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const headers = { "content-type": request.headers["content-type"] ?? "" };
  const form = await new Response(Buffer.concat(parts), { headers }).formData();
  const [model, file] = [form.get("model"), form.get("file")];
  if (typeof model !== "string" || !(file instanceof File)) return wrong("you must provide a model and a file");
  const end = file.name.slice(file.name.lastIndexOf(".") + 1);
  if (!formats.includes(end))
    return wrong(`Unrecognized file format. Supported formats: ${JSON.stringify(formats)} (unsupported_format)`);
  return { key, model, name: file.name, mime: file.type, content: await file.text(), nth };
}

function wrong(message: string): Refusal {
  return { status: 400, body: openaiError(message, "invalid_request_error") };
}
