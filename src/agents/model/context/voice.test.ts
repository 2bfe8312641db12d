// What a model reads of a voice message: the words, why there are none, or that it cannot hear.

import assert from "node:assert/strict";
import type { Entry } from "../../../core/journal.ts";
import { anInbound } from "../../../testing/samples.ts";
import { table } from "../../../testing/table.ts";
import { type Message, type Scene, inboundMessage, journalPieces } from "./turn.ts";

const scene: Scene = {
  model: "openai/x",
  resultMax: 1_000,
  keptAt: () => null,
  files: ({ name }) => [{ type: "text", text: `(${name})` }],
  hears: true,
  ids: new Set(),
};
const files = [{ name: "v.ogg", mime: "audio/ogg", blob: "v", bytes: 3 }];
const spoken = anInbound("", { body: { kind: "text", text: "", files } });
const both = anInbound("", { body: { kind: "text", text: "look:", files } });
const heard: Entry = { type: "heard", blob: "v", text: "buy bread" };
const unheard: Entry = { type: "heard", blob: "v", text: "", why: "too large" };

function told(message: Message | undefined): readonly string[] {
  if (message?.role !== "user") return [];
  return message.content.map((part) => (part.type === "text" ? part.text.replace(/^\[[^\]]* UTC\] /, "") : part.type));
}

table(
  "a voice message in a request",
  [
    { name: "heard", input: spoken, journal: [heard], says: "[voice message, transcribed: buy bread]" },
    {
      name: "behind typed words",
      input: both,
      journal: [heard],
      says: "look:\n\n[voice message, transcribed: buy bread]",
    },
    {
      name: "in vain",
      input: spoken,
      journal: [unheard],
      says: "[A voice message came that could not be transcribed (too large). Tell the user so.]",
    },
    { name: "not tried", input: spoken, journal: [], says: "[A voice message that was not transcribed.]" },
    {
      name: "nobody hears",
      input: spoken,
      journal: [],
      hears: false,
      says: "[A voice message came that you cannot hear, because no speech model is set (agent.speech). Tell the user so.]",
    },
    {
      name: "heard once, and nobody hears any more",
      input: spoken,
      journal: [heard],
      hears: false,
      says: "[voice message, transcribed: buy bread]",
    },
  ],
  ({ input, journal, hears = true, says }: { input: typeof spoken; journal: Entry[]; hears?: boolean; says: string }) =>
    assert.deepEqual(told(inboundMessage(input, journal, { ...scene, hears })), [says, "(v.ogg)"]),
);

table(
  "one that joined",
  [
    { name: "heard right behind it", journal: [heard] },
    {
      name: "heard behind more that joined",
      journal: [{ type: "joined", message: anInbound("more") } as Entry, heard],
    },
  ],
  ({ journal }) => {
    const all = journalPieces([{ type: "joined", message: spoken }, ...journal], 0, null, scene);
    assert.deepEqual(told(all[0]?.messages[0]), ["[voice message, transcribed: buy bread]", "(v.ogg)"]);
  },
);
