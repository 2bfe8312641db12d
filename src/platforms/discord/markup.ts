// Our markdown as Discord writes it: nearly the same, with fewer headings and without tables. Also its limits: how much one
// message holds, and when an answer is better sent as a file. Pure.

import { toFewParts, toParts } from "../../core/parts.ts";
import { dialect, prefixed, write } from "../../markup/index.ts";

/** What one message holds, in UTF-16 units. */
export const textMax = 2_000;
/** An answer of more parts than this is a file. */
const partsMax = 8;

const discord = dialect({
  text: escaped,
  bold: (inner) => `**${inner}**`,
  italic: (inner) => `*${inner}*`,
  strike: (inner) => `~~${inner}~~`,
  code: (words) => (words.includes("`") ? `\`\` ${words} \`\`` : `\`${words}\``),
  block: (words, language) => `\`\`\`${language}\n${words.replaceAll("```", "`\u200b``")}\n\`\`\``,
  link: (inner, href, isBare) => (isBare ? href : `[${inner}](${href})`),
  heading: (inner, level) => (level <= 3 ? `${"#".repeat(level)} ${inner}` : `**${inner}**`),
  quote: (inner) => prefixed(inner, "> "),
  item: (inner, { depth, number, done }) => {
    const tick = done === null ? "" : done ? "☑ " : "☐ ";
    return `${"  ".repeat(depth)}${number === null ? "-" : `${number}.`} ${tick}${inner}`;
  },
});

/** Marks inside a word mean nothing to Discord where they are underscores; everywhere else they would format. */
function escaped(words: string): string {
  return words
    .replaceAll(/[*`|~]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, (mark) => `\\${mark}`)
    .replaceAll(/^([^\S\n]*)(#{1,3} |-# |>{1,3} |[-+] )/gm, "$1\\$2")
    .replaceAll(/^([^\S\n]*\d+)\. /gm, "$1\\. ");
}

export function rendered(markdown: string): string {
  return write(markdown, discord);
}

function measure(markdown: string): number {
  return rendered(markdown).length;
}

/** Parts in our own markdown, each of which fits once it is rendered; an answer that is too long for that stays whole. */
export function parts(text: string): readonly string[] {
  return toFewParts(text, textMax, partsMax, measure) ?? [text];
}

/** Too long for one message: a file, and its beginning as the words beside it. */
export function asFile(text: string): { readonly words: string; readonly file: string } | null {
  if (measure(text) <= textMax) return null;
  const [beginning = ""] = toParts(text, 600, measure);
  return { words: `${rendered(beginning)}\n\n*The whole answer is in the file.*`, file: text };
}

/** The part of a growing answer that fits into its message. */
export function preview(text: string): string {
  const [first = ""] = toParts(text, textMax - 2, measure);
  const shown = rendered(first).trim();
  return shown === "" ? placeholder : shown;
}

export const placeholder = "…";
