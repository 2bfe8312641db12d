// The words in which a call asks for leave, and what its user's answer means. Pure.

import { type ApprovalChoice, type Verdict, approvalChoices, readApproval } from "../approval.ts";
import type { TurnId } from "../ids.ts";
import { visible, visibleLine } from "./visible.ts";

/** What the answer to an approval is. `nobody`: the time was over. */
export type Decision =
  | { readonly type: "approve" }
  | { readonly type: "always" }
  | { readonly type: "deny"; readonly words: string }
  | { readonly type: "nobody" };

const denyWords = "deny: ";

/** As it is stored. */
export function denial(words: string): string {
  const said = words.trim();
  return said === "" ? "deny" : `${denyWords}${said}`;
}

/** A stored answer; what is not an approval is a denial, with whatever words it has. */
export function readDecision(choice: string | null): Decision {
  if (choice === null) return { type: "nobody" };
  if (choice.startsWith(denyWords)) return { type: "deny", words: choice.slice(denyWords.length) };
  const read = readApproval(choice);
  if (read === "approve" || read === "always") return { type: read };
  return { type: "deny", words: read === "deny" ? "" : choice };
}

/**
 * What was typed or pressed, as the answer to store; null when it is none. A number counts among the choices that were
 * given, and "always" is only once where it was not among them.
 */
export function readAnswer(typed: string, choices: readonly string[]): string | null {
  const words = typed.trim();
  if (words.toLowerCase().startsWith("deny:")) return denial(words.slice("deny:".length));
  const read = /^\d+$/.test(words) ? readApproval(choices[Number(words) - 1] ?? "") : readApproval(words);
  return read === "always" && !choices.includes("always") ? "approve" : read;
}

/** What "always" would allow from then on, as it is kept; null where it is not offered: nobody allows what was not seen. */
export function subjectOffered({ what, subject }: Asking): string | null {
  return subject !== null && subject.length <= subjectMax && shownOf(what).left === 0 ? subject : null;
}

/** How an approval ends where its reader may give it. */
export const answerLine = "Answer /approve or /deny.";

/** Rules need something to hold on to. */
export function choicesFor(subject: string | null): readonly ApprovalChoice[] {
  return approvalChoices.filter((choice) => choice !== "always" || subject !== null);
}

/** Of a very long call the beginning and the end are shown; the answer holds for all of it. */
const headMax = 2_400;
const tailMax = 600;
/** A rule must be short enough to be read in a question and in a list. */
const subjectMax = 1_000;

type Asking = Verdict & { readonly type: "approve" };

export function approvalText(tool: string, verdict: Asking, changed: boolean, turn: TurnId): string {
  const { what } = verdict;
  const { text, left } = shownOf(what);
  const fence = fenceFor(text, 3);
  const again = changed ? ["What would be done has changed since you were asked, so I ask again."] : [];
  const subject = subjectOffered(verdict);
  return [
    ...again,
    ...reasonsIn(tool, verdict),
    ...(left === 0
      ? []
      : [
          `NOT ALL OF IT IS SHOWN: ${left} of ${what.length} characters are left out below, and an approval is for those too. All of it: \`everturn turns show ${turn} --json\``,
        ]),
    `${fence}\n${text}\n${fence}`,
    subject === null
      ? `Only this once, not for good: ${whyOnce(verdict, left)}.`
      : `"always" also allows, from now on without asking: ${inCode(visibleLine(subject))}`,
    answerLine,
  ].join("\n\n");
}

function reasonsIn(tool: string, { why, effects }: Asking): readonly string[] {
  const question = `May I do this with ${visibleLine(tool)}?`;
  if (effects === undefined) return [`${question} I ask because ${visibleLine(why)}.`];
  return [effects.map((one) => visibleLine(one)).join("\n"), question];
}

function whyOnce({ subject }: Asking, left: number): string {
  if (subject === null) return "no rule could say for sure what it allows";
  return left > 0 ? "not all of it is shown" : "a rule for it would be too long to read";
}

/** The first line of what a question shows, to tell it from others. */
export function gist(text: string): string {
  const lines = text.split("\n");
  const at = lines.findIndex((line) => line.startsWith("```"));
  return (lines[at + 1] ?? "").slice(0, 100).toWellFormed();
}

/** `left`: how many characters are not in it. What is too long is longer than head and tail, so they never overlap. */
function shownOf(what: string): { readonly text: string; readonly left: number } {
  const max = headMax + tailMax;
  const whole = what.length <= max ? visible(what) : null;
  if (whole !== null && whole.length <= max) return { text: whole, left: 0 };
  const head = fitting(Array.from(what.slice(0, headMax)), headMax).join("");
  const end = Array.from(what.slice(-tailMax)).toReversed();
  const tail = fitting(end, tailMax).toReversed().join("");
  const left = what.length - head.length - tail.length;
  return { text: `${visible(head)}\n[… ${left} characters not shown …]\n${visible(tail)}`, left };
}

/** As many of them as there is room for when they are written out. */
function fitting(characters: readonly string[], room: number): readonly string[] {
  let used = 0;
  const end = characters.findIndex((one) => (used += visible(one).length) > room);
  return end < 0 ? characters : characters.slice(0, end);
}

function inCode(text: string): string {
  const fence = fenceFor(text, 1);
  const gap = text.startsWith("`") || text.endsWith("`") ? " " : "";
  return `${fence}${gap}${text}${gap}${fence}`;
}

/** Longer than any fence inside, so that what is shown cannot end its own block. */
function fenceFor(text: string, min: number): string {
  const longest = Math.max(min - 1, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  return "`".repeat(longest + 1);
}
