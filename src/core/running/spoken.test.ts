// Voice messages of a turn: which one is still to be heard, and how its words are shown.

import assert from "node:assert/strict";
import { test } from "node:test";
import { anInbound } from "../../testing/samples.ts";
import { table } from "../../testing/table.ts";
import type { Entry } from "../journal.ts";
import type { FileRef, Inbound } from "../message.ts";
import { isVoice, spokenIn, unheardIn } from "./spoken.ts";

const voice = (blob: string): FileRef => ({ name: `${blob}.ogg`, mime: "audio/ogg", blob, bytes: 3 });
const picture: FileRef = { name: "a.png", mime: "image/png", blob: "p", bytes: 3 };
const withFiles = (text: string, ...files: readonly FileRef[]): Inbound =>
  anInbound(text, { key: `k${text}`, body: { kind: "text", text, files } });
const heard = (blob: string, text = `words of ${blob}`): Entry => ({ type: "heard", blob, text });
const unheard = (blob: string): Entry => ({ type: "heard", blob, text: "", why: "the line is dead" });
const joined = (message: Inbound): Entry => ({ type: "joined", message });

table(
  "which voice message is heard next",
  [
    { name: "there is none", input: withFiles("a"), journal: [], blob: null },
    { name: "only a picture", input: withFiles("a", picture), journal: [], blob: null },
    { name: "one", input: withFiles("a", picture, voice("v1")), journal: [], blob: "v1" },
    { name: "it was heard", input: withFiles("a", voice("v1")), journal: [heard("v1")], blob: null },
    { name: "it was heard in vain", input: withFiles("a", voice("v1")), journal: [unheard("v1")], blob: null },
    { name: "the second", input: withFiles("a", voice("v1"), voice("v2")), journal: [heard("v1")], blob: "v2" },
    { name: "one that joined", input: withFiles("a"), journal: [joined(withFiles("b", voice("v1")))], blob: "v1" },
    {
      name: "the same again",
      input: withFiles("a", voice("v1")),
      journal: [heard("v1"), joined(withFiles("b", voice("v1")))],
      blob: null,
    },
    {
      name: "a button has no files",
      input: anInbound("a", { body: { kind: "answer", question: "q", choice: "yes" } }),
      journal: [],
      blob: null,
    },
  ],
  ({ input, journal, blob }) => assert.equal(unheardIn(input, journal)?.blob ?? null, blob),
);

table(
  "how the transcript tells it",
  [
    {
      name: "without a typed word",
      input: withFiles("", voice("v1")),
      journal: [heard("v1")],
      told: { k: "[voice message, transcribed: words of v1]" },
    },
    {
      name: "behind what was typed",
      input: withFiles("look", picture, voice("v1")),
      journal: [heard("v1")],
      told: { klook: "look\n\n[voice message, transcribed: words of v1]" },
    },
    {
      name: "two of them, the first in vain",
      input: withFiles("", voice("v0"), voice("v1")),
      journal: [unheard("v0"), heard("v1")],
      told: { k: "[voice message, transcribed: words of v1]" },
    },
    {
      name: "two of them",
      input: withFiles("", voice("v0"), voice("v1")),
      journal: [heard("v0"), heard("v1")],
      told: { k: "[voice message, transcribed: words of v0]\n\n[voice message, transcribed: words of v1]" },
    },
    { name: "in vain", input: withFiles("a", voice("v1")), journal: [unheard("v1")], told: {} },
    {
      name: "in the message that joined, and nowhere else",
      input: withFiles("a", picture),
      journal: [joined(withFiles("b", voice("v1"))), heard("v1")],
      told: { kb: "b\n\n[voice message, transcribed: words of v1]" },
    },
  ],
  ({ input, journal, told }) =>
    assert.deepEqual(Object.fromEntries(spokenIn(input, journal, "v1").map(({ key, text }) => [key, text])), told),
);

test("the files of a message stay with its new wording", () => {
  const files = [picture, voice("v1")];
  assert.deepEqual(spokenIn(withFiles("a", ...files), [heard("v1")], "v1")[0]?.files, files);
});

table(
  "what is a voice message",
  [
    { name: "an Opus recording", mime: "audio/ogg; codecs=opus", is: true },
    { name: "in capitals", mime: "Audio/MPEG", is: true },
    { name: "a video", mime: "video/mp4", is: false },
    { name: "something with audio in its name", mime: "application/audio", is: false },
  ],
  ({ mime, is }) => assert.equal(isVoice({ mime }), is),
);
