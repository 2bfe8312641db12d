// A voice message becomes words: one recording, sent to the speech model that was configured. It always ends with something
// to store, the words or why there are none, because nobody's turn may hang on a recording; only an abort is thrown.

import { sentenceOf } from "../../../core/fault.ts";
import type { Heard } from "../../../core/journal.ts";
import type { FileRef } from "../../../core/message.ts";
import type { AgentJob } from "../../../ports/agent.ts";
import type { Blobs } from "../../../ports/blobs.ts";
import { mayPass } from "../errors/last.ts";
import { type Failure, translate } from "../errors/translate.ts";
import type { ModelOptions, Speech } from "../options.ts";
import { known, parseModel } from "../providers/names.ts";
import { recordingMax, recordingName, tooLarge, whyUnheard } from "./words.ts";

/** What passes by itself is waited for, a few times. */
const pauses = [1_000, 4_000] as const;
const pauseMax = 30_000;
const answerMs = 120_000;
/** A day of speech has less. */
const textMax = 500_000;

type Line = Pick<ModelOptions, "fetch" | "connected" | "silenceMs"> & { readonly speech: Speech };
type Job = Pick<AgentJob, "draft" | "now" | "pause">;
type Missed = { readonly error: unknown; readonly failure: Failure };

export async function hear(line: Line, blobs: Blobs, file: FileRef, job: Job, signal: AbortSignal): Promise<Heard> {
  const nothing = (why: string): Heard => ({ type: "heard", blob: file.blob, text: "", why });
  if (file.bytes > recordingMax) return nothing(tooLarge(file));
  let bytes: Uint8Array;
  try {
    bytes = await blobs.read(file.blob);
  } catch (error) {
    return nothing(`it cannot be read: ${sentenceOf(error)}`);
  }
  for (let tries = 0; ; tries++) {
    job.draft("(listening …)");
    const given = await askKeys(line, file, bytes, job, signal);
    if (typeof given === "string") {
      const text = given.trim().slice(0, textMax).toWellFormed();
      return text === "" ? nothing("no words were understood in it") : { type: "heard", blob: file.blob, text };
    }
    const { error, failure } = given;
    const pause = pauses[tries];
    if (pause === undefined || !mayPass(failure)) return nothing(whyUnheard(error, failure, line.speech, job.now()));
    await job.pause(Math.min(pauseMax, Math.max(pause, failure.afterMs ?? 0)));
    signal.throwIfAborted();
  }
}

/** One key after the other; what may pass by itself counts more than what may not. */
async function askKeys(
  line: Line,
  file: FileRef,
  bytes: Uint8Array,
  job: Job,
  signal: AbortSignal,
): Promise<string | Missed> {
  const { keys } = line.speech;
  let missed: Missed | null = null;
  for (const key of keys.length === 0 ? [null] : keys) {
    try {
      return await ask(line, key, file, bytes, signal);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const failure = translate(error, whereOf(line.speech, job.now()));
      if (missed === null || !mayPass(missed.failure)) missed = { error, failure };
      if (failure.next !== "next-key") break;
    }
  }
  return missed ?? "";
}

async function ask(
  { speech, connected = fetch, fetch: own = connected, silenceMs = answerMs }: Line,
  key: string | null,
  file: FileRef,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<string> {
  const { model, baseUrl } = whereOf(speech, 0);
  const form = new FormData();
  form.set("model", model.slice(model.indexOf("/") + 1));
  form.set("response_format", "json");
  form.set("file", new Blob([new Uint8Array(bytes)], { type: file.mime }), recordingName(file));
  const answer = await own(`${baseUrl}/audio/transcriptions`, {
    method: "POST",
    headers: { ...speech.headers, ...(key === null ? {} : { authorization: `Bearer ${key}` }) },
    body: form,
    signal: AbortSignal.any([signal, AbortSignal.timeout(silenceMs)]),
  });
  const body = await answer.text();
  if (!answer.ok) throw refusal(answer, body);
  const said = (JSON.parse(body) as { readonly text?: unknown } | null)?.text;
  if (typeof said !== "string") throw new TypeError("its answer has no text");
  return said;
}

/** In the shape in which the packages of the providers throw. */
function refusal(answer: Response, body: string): Error {
  const told = new Error(`${answer.status} ${answer.statusText}`.trim());
  return Object.assign(told, {
    statusCode: answer.status,
    responseBody: body,
    responseHeaders: Object.fromEntries(answer.headers),
  });
}

function whereOf({ model, baseUrl }: Speech, now: number) {
  const provider = parseModel(model)?.provider ?? "openai-compatible";
  return { model, provider, baseUrl: (baseUrl ?? known[provider].baseUrl).replace(/\/+$/, ""), now };
}
