// What the agent is told when there is more to tell than the user's message: what came before, when its own session is
// gone, and what it had done, when its work was cut short. Pure. Honest about what nobody knows.

import { strangersText } from "../../../core/access/strangers.ts";
import type { Entry } from "../../../core/journal.ts";
import type { Message } from "../../../core/message.ts";
import { type ToolNote, decisionsIn, joinedIn, saidIn, toolsIn } from "./record.ts";

const historyMax = 40_000;
const messageMax = 8_000;
const saidMax = 8_000;

/** Our notes begin like this, so that they can be told from the user's words in the agent's own records. */
export const noteBegin = "[System note:";

/**
 * Asked to go on in the middle of a turn. It repeats the user's words, because the agent may not have them. Without
 * a resume note it was the agent's own process that ended.
 */
export function goOnText(message: string, journal: readonly Entry[], note: string | null): string {
  return [
    note ??
      `${noteBegin} your work on the message below was cut short. What is listed as finished is finished; do not repeat it. Go on from there, and answer the user. Do not speak of this note.]`,
    `The message:\n${quoted(message)}`,
    ...doneText(journal),
  ].join("\n\n");
}

/** The first prompt of a session that stands for one that is gone. */
export function rebuiltText(
  history: readonly Message[],
  message: string,
  journal: readonly Entry[] | null,
  note: string | null,
): string {
  const past = historyText(history);
  const before = past === "" ? [] : [`${noteBegin} this conversation began earlier. So far:]`, past];
  return journal === null
    ? introduced(note, before, message)
    : [...before, goOnText(message, journal, note)].join("\n\n");
}

/** What was said since the agent's own record of the conversation ends, before the message itself. */
export function missedText(missed: readonly Message[], message: string, note: string | null): string {
  const past = historyText(missed);
  return introduced(note, past === "" ? [] : [`${noteBegin} meanwhile this was said without you:]`, past], message);
}

/** A message the agent has not seen, after the resume note and whatever else comes first. */
function introduced(note: string | null, before: readonly string[], message: string): string {
  const parts = note === null ? before : [note, ...before];
  return parts.length === 0 ? message : [...parts, `${noteBegin} now the user says:]`, message].join("\n\n");
}

function doneText(journal: readonly Entry[]): readonly string[] {
  const tools = toolsIn(journal);
  const parts: string[] = [];
  const add = (title: string, lines: readonly string[]) => {
    if (lines.length > 0) parts.push(`${title}\n${lines.map((line) => `- ${line}`).join("\n")}`);
  };
  const said = saidIn(journal);
  if (said !== "") parts.push(`You have told the user:\n${quoted(said.slice(-saidMax).toWellFormed())}`);
  add("Finished:", tools.filter((tool) => tool.status !== "begun").map(toolText));
  add(
    "Under way when it was cut short; nobody knows whether it happened, so look before you do it again:",
    tools.filter((tool) => tool.status === "begun").map(toolText),
  );
  add(
    "The user has decided:",
    decisionsIn(journal).map(({ what, choice }) => `${oneLine(what)}: ${choice ?? "no answer, so no"}`),
  );
  add("The user has said since:", joinedIn(journal).map(oneLine));
  return parts;
}

function toolText({ title, status }: ToolNote): string {
  return status === "failed" ? `${title} (it failed)` : title;
}

/** The newest that fit, oldest first. */
function historyText(history: readonly Message[]): string {
  const lines: string[] = [];
  let room = historyMax;
  for (const { role, text, outside } of history.toReversed()) {
    const words = outside === true ? strangersText(cut(text, messageMax)) : cut(text, messageMax);
    const line = `${role === "user" ? "User" : role === "assistant" ? "You" : "Notice"}: ${words}`;
    room -= line.length;
    if (room < 0) break;
    lines.push(line);
  }
  return lines.toReversed().join("\n\n");
}

export function toolLines(tools: Iterable<ToolNote>): string {
  const lines = [...tools].slice(-3).map(({ title, status }) => {
    const mark = status === "begun" ? "…" : status === "failed" ? " ✗" : " ✓";
    return `▸ ${cut(oneLine(title), 100)}${mark}`;
  });
  return lines.join("\n");
}

function quoted(text: string): string {
  return text
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n");
}

function oneLine(text: string): string {
  return cut(text.replace(/\s+/g, " ").trim(), 1_000);
}

function cut(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max).toWellFormed()}…`;
}
