// remember: something for every later conversation of the same people, or the end of it. The wish goes into the commit of the
// result, so it happens once.

import * as v from "valibot";
import type { Wish } from "../../core/journal.ts";
import { needsLeave } from "../../core/outside.ts";
import type { Tool } from "../../ports/tool.ts";
import { define, failed } from "../define.ts";
import { maybe, words } from "../input.ts";

const textMax = 2_000;

export function rememberTool(): Tool {
  return define({
    name: "remember",
    description: "Keeps a short fact for later conversations, or forgets one. Never for secrets.",
    effect: "pure",
    face: {
      properties: {
        text: { type: "string", description: "the fact, as a sentence of its own" },
        forget: { type: "string", description: "id of a memory that is wrong or outdated" },
      },
      required: [],
    },
    schema: v.strictObject({ text: maybe(words(textMax)), forget: maybe(words(200)) }),
    async vet({ text, forget }, { outside }) {
      // Strangers must not be able to leave something behind that later conversations take for their user's own.
      if (!needsLeave(outside, "remember")) return { type: "run" };
      const what = [
        text === undefined ? [] : [`remember: ${text.trim()}`],
        forget === undefined ? [] : [`forget: ${forget}`],
      ].flat();
      const why = "it would be read in every later conversation, and this one holds text from outside";
      return { type: "approve", why, what: what.join("\n"), bound: JSON.stringify([text, forget]), subject: null };
    },
    async run({ text, forget }) {
      const wishes: Wish[] = [];
      if (forget !== undefined) wishes.push({ type: "forget", memory: forget });
      if (text !== undefined) wishes.push({ type: "remember", text: text.trim() });
      if (wishes.length === 0) return failed('Give "text" to remember, or "forget" with the id of a memory.');
      const done = [
        forget === undefined ? [] : [`forgotten: ${forget}`],
        text === undefined ? [] : ["remembered"],
      ].flat();
      return { type: "ok", output: `${done.join("; ")}.`, wishes };
    },
  });
}
