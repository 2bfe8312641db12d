// What a message says beside its text. Forwarded messages, and most posts of apps, have an empty text: their words and files
// are in attachments and blocks. All words here are Slack's own, to be made plain by whoever shows them. Pure.

import type { SlackFile, SlackMessage } from "./api.ts";
import { addressOf, escaped } from "./markup.ts";

/** As far as we read it. Slack writes down no more than a part of this, so nothing is relied upon. */
export type Attachment = {
  /** Forwarded by a person. Slack sets `is_msg_unfurl` and `from_url` as well, as for a link to a message. */
  readonly is_share?: boolean;
  readonly is_msg_unfurl?: boolean;
  readonly is_app_unfurl?: boolean;
  readonly from_url?: string;
  readonly original_url?: string;
  readonly app_unfurl_url?: string;
  readonly author_name?: string;
  readonly pretext?: string;
  readonly title?: string;
  readonly text?: string;
  readonly fallback?: string;
  readonly fields?: readonly { readonly title?: string; readonly value?: string }[];
  readonly blocks?: readonly unknown[];
  readonly message_blocks?: readonly { readonly message?: { readonly blocks?: readonly unknown[] } }[];
  readonly files?: readonly SlackFile[];
};

export type Said = {
  readonly text: string;
  /** What hangs below it: somebody else's words, or the rest of an app's. */
  readonly attached: readonly string[];
  readonly files: readonly SlackFile[];
};

export function saidIn({ text = "", blocks = [], attachments = [], files = [] }: SlackMessage): Said {
  const kept = attachments.filter((one) => !isPreview(one));
  return {
    text: text === "" ? wordsIn(blocks) : text,
    attached: kept.map(attachedWords).filter((one) => one !== ""),
    files: [...files, ...kept.flatMap((one) => one.files ?? [])],
  };
}

/** What Slack or an app has unfolded below a link says nothing that whoever wrote the link has said. */
function isPreview(one: Attachment): boolean {
  const { from_url, original_url, app_unfurl_url } = one;
  const isUnfolded = one.is_msg_unfurl === true || one.is_app_unfurl === true;
  return one.is_share !== true && (isUnfolded || (from_url ?? original_url ?? app_unfurl_url) !== undefined);
}

/** What stands for the words where Slack has none. */
const noPreview = "[no preview available]";

function attachedWords(one: Attachment): string {
  const { pretext, title, text, fields = [], files = [], fallback } = one;
  const inner = [...(one.message_blocks ?? []).flatMap(({ message }) => message?.blocks ?? []), ...(one.blocks ?? [])];
  const told = fields.map(({ title: name, value }) => [name, value].filter(isSome).join(": "));
  const words = lines([pretext, title, isSome(text) ? text : wordsIn(inner), ...told]);
  const shown = words === "" && files.length === 0 && fallback !== noPreview ? fallback : words;
  const author = isSome(one.author_name) ? one.author_name : "";
  if (one.is_share !== true) return lines([author, shown]);
  const by = author.replaceAll(/[\s\]]+/g, " ").trim();
  return lines([by === "" ? "[forwarded]" : `[forwarded from ${by}]`, shown]);
}

type Part = Readonly<Record<string, unknown>>;

/** Blocks are trees; what is deeper than Slack ever builds them is left out. */
const depthMax = 10;
/** Their elements are one line; those of all others are lines. */
const inline: ReadonlySet<unknown> = new Set(["rich_text_section", "rich_text_quote", "rich_text_preformatted"]);

function wordsIn(blocks: readonly unknown[]): string {
  return lines(blocks.map((block) => wordsOf(block, 0)));
}

function wordsOf(given: unknown, depth: number): string {
  if (typeof given === "string") return given;
  if (typeof given !== "object" || given === null || depth > depthMax) return "";
  if (Array.isArray(given)) return given.map((one) => wordsOf(one, depth + 1)).join(" | ");
  const part = given as Part;
  return leafWords(part) ?? branchWords(part, depth + 1);
}

/** Elements of rich text, in the way they are written in a text; null for what has parts. */
function leafWords(part: Part): string | null {
  const word = (key: string): string => (typeof part[key] === "string" ? part[key] : "");
  switch (part["type"]) {
    case "text":
    case "raw_text":
      return escaped(word("text"));
    case "link":
      return `<${addressOf(word("url"))}${word("text") === "" ? "" : `|${escaped(word("text"))}`}>`;
    case "user":
      return `<@${word("user_id")}>`;
    case "channel":
      return `<#${word("channel_id")}>`;
    case "usergroup":
      return `<!subteam^${word("usergroup_id")}>`;
    case "broadcast":
      return `<!${word("range")}>`;
    case "emoji":
      return `:${word("name")}:`;
    case "date":
      return escaped(word("fallback"));
    case "image":
      return word("alt_text");
    // Buttons and menus are for people to press.
    case "actions":
      return "";
    default:
      return null;
  }
}

function branchWords({ type, text, fields, elements, rows }: Part, depth: number): string {
  const parts = (of: unknown): readonly string[] =>
    Array.isArray(of) ? of.map((one: unknown) => wordsOf(one, depth)) : [];
  const inner = parts(elements);
  const mark = type === "rich_text_list" ? "- " : "";
  const below = inline.has(type) ? [inner.join("")] : inner.map((one) => mark + one);
  return lines([wordsOf(text, depth), ...parts(fields), ...below, ...parts(rows)]);
}

/** Apps write what they like; what is no text is nothing. */
function isSome(words: unknown): words is string {
  return typeof words === "string" && words !== "";
}

function lines(all: readonly unknown[]): string {
  return all.filter(isSome).join("\n");
}
