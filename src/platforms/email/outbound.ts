// From an item of the outbox to a mail; pure. Its id is made from the item, so a mail that had to be sent twice is known as
// one by mailboxes that look.

import { createHash } from "node:crypto";
import type { SendMailOptions } from "nodemailer";
import type { Question } from "../../core/message.ts";
import type { OutboxItem } from "../../core/outbox.ts";
import { toHtml } from "./markup.ts";

export type Sender = { readonly address: string; readonly name: string };

export type Attachment = { readonly filename: string; readonly contentType: string; readonly path: string };

export function toMail(item: OutboxItem, from: Sender, files: readonly Attachment[]): SendMailOptions {
  const hint = (name: string): string | null => {
    const value = item.hints?.[name];
    return typeof value === "string" && value !== "" ? value : null;
  };
  const text = withChoices(item.text, item.question);
  const answered = hint("message_id");
  // A conversation that we begin ourselves has no mail to answer; its thread is its name all the same.
  const references = hint("references") ?? (isId(item.to.thread) ? item.to.thread : null);
  return {
    messageId: messageIdOf(item, from.address),
    from: { name: from.name, address: from.address },
    to: item.to.chat,
    subject: subjectOf(hint("subject"), item.text, answered !== null),
    date: new Date(item.createdAt),
    text,
    html: toHtml(text),
    ...(answered === null ? {} : { inReplyTo: answered }),
    ...(references === null ? {} : { references: references.split(" ") }),
    attachments: [...files],
    headers: {
      // So that other programs do not answer by themselves.
      "Auto-Submitted": answered === null ? "auto-generated" : "auto-replied",
      "X-Auto-Response-Suppress": "All",
      "X-Everturn": item.id,
    },
  };
}

export function messageIdOf({ id }: Pick<OutboxItem, "id">, address: string): string {
  const domain = address.split("@")[1] ?? "everturn.invalid";
  return `<${createHash("sha256").update(id).digest("hex").slice(0, 32)}@${domain}>`;
}

function isId(thread: string | undefined): thread is string {
  return thread !== undefined && /^<[^<>\s]+>$/.test(thread);
}

function subjectOf(subject: string | null, text: string, isAnswer: boolean): string {
  if (subject !== null) return isAnswer && !/^re:/i.test(subject) ? `Re: ${subject}` : subject;
  const [first = ""] = text
    .replaceAll(/[*_`#>]/g, "")
    .trim()
    .split("\n");
  const title = first.length > 70 ? `${first.slice(0, 69).toWellFormed()}…` : first;
  return isAnswer ? `Re: ${title}` : title || "A message for you";
}

/** There are no buttons: the number or the words of a choice are an answer. */
function withChoices(text: string, question: Question | undefined): string {
  if (question === undefined || question.choices.length === 0) return text;
  if (question.kind === "approval") return `${text}\n\nAnswer this mail with one word: ${question.choices.join(", ")}.`;
  return `${text}\n\n${question.choices.map((choice, i) => `${i + 1}. ${choice}`).join("\n")}\n\nAnswer with a number or in your own words.`;
}
