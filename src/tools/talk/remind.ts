// remind: a timer that survives everything. The wish goes into the commit of the result, so it is set once.

import * as v from "valibot";
import type { Instant } from "../../core/ids.ts";
import { needsLeave } from "../../core/outside.ts";
import type { Tool } from "../../ports/tool.ts";
import { define, failed } from "../define.ts";
import { maybe, words } from "../input.ts";

const textMax = 2_000;
const yearMs = 366 * 24 * 3_600_000;
const furthestYears = 5;

export type When = { readonly at?: string | undefined; readonly inSeconds?: number | undefined };
export type Due = { readonly type: "due"; readonly at: Instant } | { readonly type: "wrong"; readonly why: string };

export function remindTool(): Tool {
  return define({
    name: "remind",
    description: "Wakes this conversation later with a text, once. Give at or inSeconds.",
    effect: "pure",
    face: {
      properties: {
        text: { type: "string", description: "what is to be done or said then" },
        at: { type: "string", description: "ISO 8601 with offset: 2030-01-31T09:00:00+01:00" },
        inSeconds: { type: "number" },
      },
      required: ["text"],
    },
    schema: v.strictObject({ text: words(textMax), at: maybe(words(40)), inSeconds: maybe(v.number()) }),
    async vet({ text, ...when }, { outside, now }) {
      // Strangers must not be able to wake the agent with words that it takes for its user's own.
      if (!needsLeave(outside, "schedule")) return { type: "run" };
      const due = dueAt(when, now());
      if (due.type === "wrong") return { type: "run" };
      const why = "it wakes the agent later, and this conversation holds text from outside";
      const what = `remind, ${when.at ?? `in ${when.inSeconds} s`}: ${text.trim()}`;
      return { type: "approve", why, what, bound: JSON.stringify([text, when.at, when.inSeconds]), subject: null };
    },
    async run({ text, ...when }, { now }) {
      const due = dueAt(when, now());
      if (due.type === "wrong") return failed(due.why);
      const output = `Set for ${new Date(due.at).toISOString()}.`;
      return { type: "ok", output, wishes: [{ type: "wake", at: due.at, text: text.trim() }] };
    },
  });
}

const isoTime =
  /^(\d{4})-(\d{2})-(\d{2})T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-](?:0\d|1[0-4]):?[0-5]\d)$/;

/** When it is meant; a time that is over, or further away than anybody plans, is a mistake. */
export function dueAt({ at, inSeconds }: When, now: Instant): Due {
  if ((at === undefined) === (inSeconds === undefined)) return wrong('Give either "at" or "inSeconds".');
  const due = at === undefined ? now + Math.round((inSeconds ?? 0) * 1_000) : parsed(at);
  const clock = `it is ${new Date(now).toISOString()} now`;
  if (due === null) return wrong(`"at" must be a real time like 2030-01-31T09:00:00+01:00, with its offset; ${clock}.`);
  if (!(due > now)) return wrong(`That time is over: ${clock}.`);
  if (!(due <= now + furthestYears * yearMs)) return wrong(`That is more than ${furthestYears} years away: ${clock}.`);
  return { type: "due", at: due as Instant };
}

/** Null for what is no time, also a day that its month does not have. */
function parsed(text: string): number | null {
  const parts = isoTime.exec(text.trim());
  if (parts === null) return null;
  const [year, month, day] = [Number(parts[1]), Number(parts[2]), Number(parts[3])];
  const real = new Date(Date.UTC(year, month - 1, day));
  if (real.getUTCMonth() !== month - 1 || real.getUTCDate() !== day) return null;
  const at = Date.parse(text.trim().replace(/([+-]\d{2})(\d{2})$/, "$1:$2"));
  return Number.isNaN(at) ? null : at;
}

function wrong(why: string): Due {
  return { type: "wrong", why };
}
