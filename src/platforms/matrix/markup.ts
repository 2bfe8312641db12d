// Markdown as the HTML that Matrix clients draw, and how much of it one event holds. Pure.

import { toFewParts } from "../../core/parts.ts";
import { type Item, dialect, layOut, write } from "../../markup/index.ts";

/** An event may have 65,536 bytes with everything; what is easy to read is far less than that. */
const bytesMax = 16_000;
/** More parts than this are a book, and go as a file. */
const partsMax = 8;

const html = dialect({
  text: escape,
  bold: (inner) => `<strong>${inner}</strong>`,
  italic: (inner) => `<em>${inner}</em>`,
  strike: (inner) => `<del>${inner}</del>`,
  code: (words) => `<code>${escape(words)}</code>`,
  block: (words, language) => {
    const kind = language === "" ? "" : ` class="language-${escape(language)}"`;
    return `<pre><code${kind}>${escape(words)}\n</code></pre>`;
  },
  link: (inner, href) => `<a href="${escape(href)}">${inner}</a>`,
  heading: (inner, level) => `<h${level}>${inner}</h${level}>`,
  quote: (inner) => `<blockquote>${inner}</blockquote>`,
  item: (inner, { done }: Item) => `<li>${done === null ? "" : done ? "☑ " : "☐ "}${inner}</li>`,
  list: (items, isOrdered) => `<${isOrdered ? "ol" : "ul"}>${items.join("")}</${isOrdered ? "ol" : "ul"}>`,
  paragraph: (inner) => `<p>${inner}</p>`,
  rule: () => "<hr>",
  table: (table) => `<pre><code>${escape(layOut(table))}\n</code></pre>`,
  lineBreak: "<br>",
});

export function toHtml(markdown: string): string {
  return write(markdown, html);
}

/** Both forms of the words, as they stand in an event: JSON writes some characters with more bytes than they have. */
function bytesOf(markdown: string): number {
  return Buffer.byteLength(JSON.stringify([markdown, toHtml(markdown)]));
}

/** Too large for one event: it was left whole because it would have taken too many. */
export function isBook(text: string): boolean {
  return Buffer.byteLength(text) > bytesMax || bytesOf(text) > bytesMax;
}

export function partsOf(text: string): readonly string[] {
  return toFewParts(text, bytesMax, partsMax, bytesOf) ?? [text];
}

function escape(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
