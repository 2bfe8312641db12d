// Slack's mrkdwn, both ways. Out: our markdown in its dialect, cut so that every part fits once it is written. In: what
// Slack made of the words that somebody typed is turned back into those words. Pure.

import { toFewParts, toParts } from "../../core/parts.ts";
import { dialect, prefixed, write } from "../../markup/index.ts";

/** Slack cuts texts at 40,000 characters and recommends 4,000; a block takes 3,000. */
export const textMax = 3_900;
export const sectionMax = 2_900;
/** An answer of more parts than this is sent as a file. */
export const partsMax = 8;

const mrkdwn = dialect({
  text: escaped,
  bold: (inner) => around("*", inner),
  italic: (inner) => around("_", inner),
  strike: (inner) => around("~", inner),
  // There is no way to write a backtick inside of code.
  code: (words) => `\`${escaped(words.replaceAll("`", "ˋ").replaceAll("\n", " "))}\``,
  block: (words) => `\`\`\`\n${escaped(words.replaceAll("```", "`\u200b`\u200b`"))}\n\`\`\``,
  link: (inner, href, isBare) =>
    isBare ? `<${addressOf(href)}>` : `<${addressOf(href)}|${inner.replaceAll("|", "¦")}>`,
  heading: (inner) => around("*", inner.replace(/\*(\S[^*\n]*)\*/g, "$1")),
  quote: (inner) => prefixed(inner, ">"),
});

/** Marks count only around words, not around spaces. */
function around(mark: string, inner: string): string {
  const words = inner.trim();
  const begin = inner.length - inner.trimStart().length;
  return words === "" ? inner : `${inner.slice(0, begin)}${mark}${words}${mark}${inner.slice(begin + words.length)}`;
}

export function escaped(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

export function addressOf(href: string): string {
  return escaped(href.replaceAll("|", "%7C").replaceAll(">", "%3E").replaceAll("<", "%3C").replaceAll(" ", "%20"));
}

export function toMrkdwn(markdown: string): string {
  return write(markdown, mrkdwn);
}

const sizeOf = (markdown: string): number => toMrkdwn(markdown).length;

export function partsOf(text: string): readonly string[] {
  return toFewParts(text, textMax, partsMax, sizeOf) ?? [text];
}

/** Whether it needs a file; such a text is one part. */
export function isTooLong(text: string): boolean {
  return text.length > textMax && sizeOf(text) > textMax;
}

/** The beginning of an answer that is in the file behind it. */
export function beginningOf(text: string): string {
  const [first = ""] = toParts(text.slice(0, 2 * sectionMax), sectionMax, sizeOf);
  return first;
}

/** A text as it stands in blocks, each of which takes less than a message. */
export function sectionsOf(text: string): readonly string[] {
  return toParts(text, sectionMax, sizeOf)
    .map(toMrkdwn)
    .filter((one) => one.trim() !== "");
}

/** Who is meant by an id, where somebody knows. */
export type Names = ReadonlyMap<string, string>;

const unescapes: { readonly [entity: string]: string } = { "&amp;": "&", "&lt;": "<", "&gt;": ">" };

/** What was typed. The mention of us is taken out, other people are called by their names. */
export function toPlain(text: string, us: string, names: Names): string {
  const mention = `<@${us}(?:\\|[^<>]*)?>`;
  // Blanks are looked at from the first of them alone, or many would take for ever.
  const told = text
    .replace(new RegExp(`^\\s*${mention}[:,]?[ \\t]*`), "")
    .replace(new RegExp(`(?<![ \\t])[ \\t]*${mention}`, "g"), "");
  return toQuoted(told, names);
}

/** What others said, in which we are somebody like everybody else. */
export function toQuoted(text: string, names: Names): string {
  return text
    .replace(/<([^<>\n]+)>/g, (_, inner: string) => referred(inner, names))
    .replace(/&(?:amp|lt|gt);/g, (entity) => unescapes[entity] ?? entity);
}

/** Ids of people that a text mentions. */
export function mentioned(text: string): readonly string[] {
  return [...new Set([...text.matchAll(/<@([UW][A-Z0-9]+)>/g)].map(([, id = ""]) => id))];
}

function referred(inner: string, names: Names): string {
  const cut = inner.indexOf("|");
  const target = cut === -1 ? inner : inner.slice(0, cut);
  const label = cut === -1 ? "" : inner.slice(cut + 1);
  switch (target[0]) {
    case "@":
      return `@${label === "" ? (names.get(target.slice(1)) ?? target.slice(1)) : label}`;
    case "#":
      return `#${label === "" ? target.slice(1) : label}`;
    case "!":
      return label === "" ? `@${target.slice(1).split("^")[0] ?? ""}` : label;
    default:
      return linked(target, label);
  }
}

/** Slack makes links of what only looks like one; then the label is what was typed. */
function linked(href: string, label: string): string {
  if (label === "") return href;
  const bare = (address: string): string => address.replace(/^(?:mailto:|tel:|https?:\/\/)/, "").replace(/\/$/, "");
  return bare(label) === bare(href) ? label : `${label} (${href})`;
}
