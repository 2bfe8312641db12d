// Markdown as Telegram's HTML, and how large it is there: what counts is the text that is left when the tags are read, in
// UTF-16 units. Pure.

import { toParts } from "../../core/parts.ts";
import { dialect, prefixed, write } from "../../markup/index.ts";

/** The largest text of a message, and of what stands below a file. */
export const textMax = 4_096;
export const captionMax = 1_024;
/** Nobody reads more messages in a row; a longer answer is a file. */
const partsMax = 8;

const escapes: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escaped = (words: string): string => words.replaceAll(/[&<>"]/g, (one) => escapes[one] ?? one);

const html = dialect({
  text: escaped,
  bold: (inner) => `<b>${inner}</b>`,
  italic: (inner) => `<i>${inner}</i>`,
  strike: (inner) => `<s>${inner}</s>`,
  code: (words) => `<code>${escaped(words)}</code>`,
  block: (words, language) =>
    language === ""
      ? `<pre>${escaped(words)}</pre>`
      : `<pre><code class="language-${escaped(language)}">${escaped(words)}</code></pre>`,
  link: (inner, href) => `<a href="${escaped(href)}">${inner}</a>`,
  // There are no quotes inside quotes.
  quote: (inner) =>
    `<blockquote>${inner.replaceAll(/<blockquote>([\s\S]*?)<\/blockquote>/g, (_, nested: string) => prefixed(nested, "&gt; "))}</blockquote>`,
});

export function toHtml(markdown: string): string {
  return write(markdown, html);
}

/** What is left when the tags are read; also what is sent when the tags are refused. */
export function visible(written: string): string {
  return written
    .replaceAll(/<[^>]*>/g, "")
    .replaceAll(/&(amp|lt|gt|quot);/g, (_, name: string) => ({ amp: "&", lt: "<", gt: ">", quot: '"' })[name] ?? "");
}

export function sizeOf(markdown: string): number {
  return visible(toHtml(markdown)).length;
}

/** More than a few parts stay one: it is sent as a file. */
export function parts(text: string): readonly string[] {
  // Markup is never most of a text; one this long need not be written to know it.
  if (text.length > 4 * partsMax * textMax) return [text];
  const all = toParts(text, textMax, sizeOf);
  return all.length > partsMax ? [text] : all;
}

/** As much of the beginning as there is room for. */
export function beginning(text: string, max: number): string {
  return toParts(text.slice(0, 4 * max).toWellFormed(), max, sizeOf)[0] ?? "";
}
