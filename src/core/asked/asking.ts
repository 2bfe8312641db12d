// The words in which a call asks for leave, and what its user's answer means. Pure.

import { type ApprovalChoice, type Verdict, approvalChoices, readApproval } from "../approval.ts";

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

/** Rules need something to hold on to. */
export function choicesFor(subject: string | null): readonly ApprovalChoice[] {
  return approvalChoices.filter((choice) => choice !== "always" || subject !== null);
}

/** Of a very long call the beginning and the end are shown; the answer holds for all of it. */
const headMax = 2_400;
const tailMax = 600;

export function approvalText(tool: string, verdict: Verdict & { type: "approve" }, changed: boolean): string {
  const { why, what, subject } = verdict;
  const fence = fenceFor(what);
  const again = changed ? "What would be done has changed since you were asked, so I ask again. " : "";
  const always = subject === null ? "" : ` "always" also allows the same from now on.`;
  return [
    `${again}May I do this with ${tool}? I ask because ${why}.`,
    `${fence}\n${shortened(what)}\n${fence}`,
    `Answer /approve or /deny, or press a button.${always}`,
  ].join("\n\n");
}

/** The first line of what a question shows, to tell it from others. */
export function gist(text: string): string {
  const lines = text.split("\n");
  const at = lines.findIndex((line) => line.startsWith("```"));
  return (lines[at + 1] ?? "").slice(0, 100).toWellFormed();
}

function shortened(what: string): string {
  if (what.length <= headMax + tailMax) return what;
  const left = what.length - headMax - tailMax;
  return `${what.slice(0, headMax)}\n[… ${left} characters not shown …]\n${what.slice(-tailMax)}`;
}

/** Longer than any fence inside, so that what is shown cannot end its own block. */
function fenceFor(what: string): string {
  const longest = Math.max(2, ...[...what.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  return "`".repeat(longest + 1);
}
