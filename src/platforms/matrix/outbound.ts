// From an item of the outbox to the contents of events; pure. Where an answer was streamed, its first event replaces the
// placeholder, which may be repeated as often as one likes.

import type { Address, Hints, Question } from "../../core/message.ts";
import type { OutboxItem } from "../../core/outbox.ts";
import { toHtml } from "./markup.ts";

type Content = Readonly<Record<string, unknown>>;

/** Text, and where it belongs. The notice of a program would be drawn pale; answers are for people. */
export function textContent(item: Pick<OutboxItem, "text" | "question" | "to" | "hints" | "edits">): Content {
  const words = body(withChoices(item.text, item.question));
  if (item.edits !== undefined) return replacing(words, item.edits);
  return { ...words, ...relation(item.to, item.hints) };
}

export function placeholder(to: Address, hints: Hints): Content {
  return { msgtype: "m.text", body: "…", ...relation(to, hints) };
}

export function replacing(words: Content, event: string): Content {
  const shown = `* ${String(words["body"])}`;
  return { ...words, body: shown, "m.new_content": words, "m.relates_to": { rel_type: "m.replace", event_id: event } };
}

export function body(markdown: string): Content {
  return {
    msgtype: "m.text",
    body: markdown,
    format: "org.matrix.custom.html",
    formatted_body: toHtml(markdown),
    // Nobody is called by what a model happens to write.
    "m.mentions": {},
  };
}

export type Upload = { readonly mxc: string; readonly name: string; readonly mime: string; readonly bytes: number };

export function fileContent(file: Upload, to: Address, hints: Hints | undefined): Content {
  const [kind = ""] = file.mime.split("/", 1);
  const msgtype = ["image", "audio", "video"].includes(kind) ? `m.${kind}` : "m.file";
  const info = { mimetype: file.mime, size: file.bytes };
  return { msgtype, body: file.name, filename: file.name, url: file.mxc, info, ...relation(to, hints) };
}

/** There are no buttons: the number or the words of a choice are an answer. */
function withChoices(text: string, question: Question | undefined): string {
  if (question === undefined || question.choices.length === 0) return text;
  if (question.kind === "approval") return `${text}\n\nAnswer with ${listed(question.choices)}.`;
  return `${text}\n\n${question.choices.map((choice, i) => `${i + 1}. ${choice}`).join("\n")}`;
}

function listed(choices: readonly string[]): string {
  const quoted = choices.map((choice) => `**${choice}**`);
  return quoted.length < 2 ? quoted.join("") : `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}

/** A thread is named by its first event; clients without threads show it as an answer to the last one. */
function relation({ thread }: Address, hints: Hints | undefined): Content {
  const answered = hints?.["reply_to"];
  const reply = typeof answered === "string" ? { "m.in_reply_to": { event_id: answered } } : {};
  if (thread !== undefined) {
    const fallback = { is_falling_back: true, "m.in_reply_to": { event_id: thread }, ...reply };
    return { "m.relates_to": { rel_type: "m.thread", event_id: thread, ...fallback } };
  }
  return hints?.["quote"] === true && answered !== undefined ? { "m.relates_to": reply } : {};
}
