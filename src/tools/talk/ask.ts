// ask: a question to the user. Vetting it makes it one; the answer, whenever it comes, is the result of the call, so there is
// nothing to run.

import * as v from "valibot";
import { later } from "../../core/ids.ts";
import type { Tool } from "../../ports/tool.ts";
import { define, failed } from "../define.ts";
import { maybe, words } from "../input.ts";

const textMax = 2_000;
const choicesMax = 10;
const choiceMax = 100;
const hourMs = 3_600_000;
const hoursMax = 7 * 24;

const choices = v.pipe(
  v.array(words(choiceMax)),
  v.maxLength(choicesMax, `must be at most ${choicesMax}`),
  v.check((list) => new Set(list.map((one) => one.trim().toLowerCase())).size === list.length, "must differ"),
);

export function askTool(): Tool {
  return define({
    name: "ask",
    description: "Asks the user and waits for the answer. Only when you cannot go on without it.",
    effect: "pure",
    face: {
      properties: {
        question: { type: "string" },
        choices: {
          type: "array",
          items: { type: "string" },
          description: `up to ${choicesMax} short answers; none: free text`,
        },
        waitHours: { type: "number", description: `default and at most ${hoursMax}` },
      },
      required: ["question"],
    },
    schema: v.strictObject({
      question: words(textMax),
      choices: maybe(choices),
      waitHours: maybe(
        v.pipe(
          v.number(),
          v.check((hours) => hours > 0 && hours <= hoursMax, `must be above 0 and at most ${hoursMax}`),
        ),
      ),
    }),
    async vet({ question, choices = [], waitHours = hoursMax }, { now }) {
      const until = later(now(), Math.round(waitHours * hourMs));
      return { type: "question", text: question.trim(), choices: choices.map((one) => one.trim()), until };
    },
    run: async () => failed("The question was not put to the user, so there is no answer."),
  });
}
