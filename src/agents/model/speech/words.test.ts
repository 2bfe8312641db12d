// The name under which a recording is sent, and what is said when nothing came back.

import assert from "node:assert/strict";
import { test } from "node:test";
import { table } from "../../../testing/table.ts";
import { recordingName, tooLarge, whyUnheard } from "./words.ts";

table(
  "the ending by which a server knows the format",
  [
    { name: "voice.oga", mime: "audio/ogg", sent: "voice.oga" },
    { name: "private name.MP3", mime: "audio/mpeg", sent: "voice.mp3" },
    { name: "recording", mime: "audio/ogg; codecs=opus", sent: "voice.ogg" },
    { name: "note.opus", mime: "audio/opus", sent: "voice.ogg" },
    { name: "memo.caf", mime: "audio/x-m4a", sent: "voice.m4a" },
    { name: "memo.amr", mime: "audio/amr", sent: "voice.amr" },
    { name: "memo", mime: "audio/unheard-of", sent: "voice.ogg" },
    { name: "x.constructor", mime: "audio/constructor", sent: "voice.ogg" },
  ],
  ({ sent, ...file }) => assert.equal(recordingName(file), sent),
);

test("what is too large says how large", () => {
  assert.equal(tooLarge({ bytes: 30 * 1024 * 1024 }), "it has 30.0 MB, and at most 25 MB can be transcribed");
});

const speech = { model: "openai/whisper-1", keys: [] };
table(
  "why there is no transcript",
  [
    {
      name: "the key",
      kind: "wrong-key",
      error: { statusCode: 401, responseBody: '{"error":{"message":"Incorrect API key: sk-abcdefghijk."}}' },
      why: "openai/whisper-1 gave no transcript (status 401): Incorrect API key: (key); agent.speech.apiKey must be a valid key",
    },
    {
      name: "the model",
      kind: "unknown-model",
      error: { statusCode: 404, responseBody: '{"error":{"message":"The model does not exist"}}' },
      why: "openai/whisper-1 gave no transcript (status 404): The model does not exist; agent.speech.model must be one that it has",
    },
    {
      name: "the line",
      kind: "offline",
      error: new TypeError("fetch failed"),
      why: "openai/whisper-1 gave no transcript: fetch failed",
    },
  ] as const,
  ({ kind, error, why }) => assert.equal(whyUnheard(error, { kind }, speech, 0), why),
);
