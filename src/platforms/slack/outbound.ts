// What is sent for an item, as Slack's own data: text, buttons, and the key by which it is found again. Pure.

import type { Question } from "../../core/message.ts";
import type { OutboxItem } from "../../core/outbox.ts";
import type { Metadata, SlackFile, SlackMessage } from "./api.ts";
import { beginningOf, isTooLong, sectionsOf, toMrkdwn } from "./markup.ts";

export type Block = Readonly<Record<string, unknown>> & { readonly type: string };

/** What stands in a message; `whole` is the answer that goes behind it as a file. */
export type Content = { readonly text: string; readonly blocks?: readonly Block[]; readonly whole?: string };

const itemType = "everturn_item";
/** An empty message on its way to be filled. */
export const emptyDraft = "…";
/** Limits of Slack's buttons and blocks. */
const buttonMax = 75;
const valueMax = 2_000;
const rowMax = 25;
const sectionsMax = 40;

export function contentOf({ text, question, files }: Pick<OutboxItem, "text" | "question" | "files">): Content {
  if (isTooLong(text)) {
    const note = "_The whole answer is in the file below._";
    return { text: `${toMrkdwn(beginningOf(text))}\n\n${note}`, whole: text, ...asked(question, beginningOf(text)) };
  }
  // A message without a word would be refused; files are found again by the message before them.
  const shown = text.trim() === "" ? files.map(({ name }) => name).join(", ") || emptyDraft : text;
  return { text: toMrkdwn(shown), ...asked(question, shown) };
}

function asked(question: Question | undefined, text: string): Pick<Content, "blocks"> {
  if (question === undefined || question.choices.length === 0) return {};
  const sections = sectionsOf(text).slice(0, sectionsMax).map(section);
  const buttons = question.choices.slice(0, rowMax).map((choice, n) => ({
    type: "button",
    action_id: `everturn:${n}`,
    text: { type: "plain_text", text: shorter(choice, buttonMax), emoji: false },
    value: JSON.stringify({ question: question.id, choice: shorter(choice, valueMax / 4) }),
  }));
  return { blocks: [...sections, { type: "actions", block_id: "everturn", elements: buttons }] };
}

function section(text: string): Block {
  return { type: "section", text: { type: "mrkdwn", text } };
}

function shorter(text: string, max: number): string {
  return text.length <= max
    ? text
    : `${[...text]
        .slice(0, max - 1)
        .join("")
        .slice(0, max - 1)}…`;
}

/** What a button of ours says when it is pressed; null when it is nobody's or somebody else's. */
export function readPress(value: unknown): { readonly question: string; readonly choice: string } | null {
  if (typeof value !== "string" || !value.startsWith("{")) return null;
  try {
    const { question, choice } = JSON.parse(value) as { readonly question?: unknown; readonly choice?: unknown };
    return typeof question === "string" && typeof choice === "string" ? { question, choice } : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

/** The question once it is answered: its words without buttons, and what was chosen. */
export function answered(message: SlackMessage, choice: string, by: string): Content {
  const kept = (message.blocks ?? []).filter(({ type }) => type !== "actions");
  const line = `✓ ${toMrkdwn(choice)} — <@${by}>`;
  const note = { type: "context", elements: [{ type: "mrkdwn", text: line }] };
  return { text: `${message.text ?? ""}\n${line}`, blocks: [...kept, note] };
}

export function keyOf(item: { readonly id: string }): Metadata {
  return { event_type: itemType, event_payload: { item: item.id } };
}

export function isKeyed({ metadata }: SlackMessage, item: { readonly id: string }): boolean {
  return metadata?.event_type === itemType && metadata.event_payload?.["item"] === item.id;
}

/** Whether it may have been sent before: only then is it looked for. */
export function mayBeThere({ now }: Pick<OutboxItem, "now">): boolean {
  return now.state === "sending" && (now.attempts > 1 || wasUncertain({ now }) || now.renewedAt !== undefined);
}

/** An earlier send may have arrived, and may still be on its way inside of Slack. */
export function wasUncertain({ now }: Pick<OutboxItem, "now">): boolean {
  return now.state === "sending" && (now.doubts ?? 0) + (now.cuts ?? 0) > 0;
}

/** Whether a message with files follows the words. */
export function hasFiles({ text, files }: Pick<OutboxItem, "text" | "files">): boolean {
  return files.length > 0 || isTooLong(text);
}

/** A file that is to stand behind a message. */
export type Behind = { readonly name: string; readonly mime: string; readonly bytes: number };

/** Our files behind a message: all of them and no others, later than it. */
export function holdsFiles(message: SlackMessage, wanted: readonly Behind[], after: string, us: string): boolean {
  const found = message.files ?? [];
  if (message.user !== us || message.ts <= after || found.length !== wanted.length) return false;
  return wanted.every((one) => found.some((file) => isFile(file, one)));
}

/** Slack takes out of pictures what a camera noted in them, and may write texts in its own way; all else keeps its size. */
const rewritten = /^(?:image|text)\/|[/+](?:json|xml|yaml|javascript)$/;

function isFile({ name, title, size }: SlackFile, { name: ours, mime, bytes }: Behind): boolean {
  if ((title ?? name ?? "") !== ours) return false;
  return size === undefined || size === bytes || rewritten.test(mime);
}
