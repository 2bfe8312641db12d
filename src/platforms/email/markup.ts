// An answer as a mail: the markdown as it is for whoever reads plain text, and HTML beside it. Pure.

import { type Item, dialect, write } from "../../markup/index.ts";

const mono = "font-family:ui-monospace,Menlo,Consolas,monospace;background:#f4f4f5;border-radius:4px";

const html = dialect({
  text: escape,
  bold: (inner) => `<strong>${inner}</strong>`,
  italic: (inner) => `<em>${inner}</em>`,
  strike: (inner) => `<del>${inner}</del>`,
  code: (words) => `<code style="${mono};padding:1px 4px">${escape(words)}</code>`,
  block: (words) => `<pre style="${mono};padding:10px;white-space:pre-wrap">${escape(words)}</pre>`,
  link: (inner, href) => `<a href="${escape(href)}">${inner}</a>`,
  // Pictures of elsewhere would tell their owner who read the mail.
  image: (words, href) => `<a href="${escape(href)}">${escape(words === "" ? href : words)}</a>`,
  heading: (inner, level) => `<h${level}>${inner}</h${level}>`,
  quote: (inner) =>
    `<blockquote style="border-left:3px solid #ccc;margin-left:0;padding-left:10px">${inner}</blockquote>`,
  item: (inner, { done }: Item) => `<li>${done === null ? "" : done ? "☑ " : "☐ "}${inner}</li>`,
  list: (items, isOrdered) => `<${isOrdered ? "ol" : "ul"}>${items.join("")}</${isOrdered ? "ol" : "ul"}>`,
  paragraph: (inner) => `<p>${inner}</p>`,
  rule: () => "<hr>",
  lineBreak: "<br>",
});

export function toHtml(markdown: string): string {
  return `<!doctype html><html><body style="font-family:sans-serif;line-height:1.5">${write(markdown, html)}</body></html>`;
}

function escape(words: string): string {
  return words.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
