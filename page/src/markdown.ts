// Markdown as virtual nodes. Nothing is ever parsed as HTML: what looks like a tag is shown as the text it is.
// Links lead only to http, https and mailto; images are not loaded but linked. A text that the lexer cannot
// digest is shown as it is.

import { type ComponentChild, h } from "preact";
import { Lexer, type MarkedToken, type Token, type Tokens } from "marked";

/** How a fenced block is drawn is the caller's choice: it has buttons, and this file has no behaviour. */
export type CodeBlock = (text: string, language: string) => ComponentChild;

/** Deeper nesting is not a document any more. */
const depthMax = 16;

export function markdown(text: string, code: CodeBlock): ComponentChild {
  const tokens = lex(text);
  return tokens === null ? plain(text) : blocks(tokens, { code, depth: 0 });
}

/** Text as it is, with its line breaks. */
export function plain(text: string): ComponentChild {
  return h("div", { class: "plain", dir: "auto" }, text);
}

/** The address if it may be opened from a message, else null. */
export function safeHref(href: string): string | null {
  const url = URL.parse(href);
  return url !== null && ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
}

type Context = { readonly code: CodeBlock; readonly depth: number };

function lex(text: string): readonly Token[] | null {
  try {
    return new Lexer({ gfm: true, breaks: true }).lex(text);
  } catch (error) {
    console.debug("A message is shown without its markdown, which could not be read.", error);
    return null;
  }
}

function blocks(tokens: readonly Token[], context: Context): readonly ComponentChild[] {
  if (context.depth > depthMax) return tokens.map((token) => token.raw);
  const inner = { ...context, depth: context.depth + 1 };
  return tokens.map((token) => block(token as MarkedToken, inner));
}

function block(token: MarkedToken, context: Context): ComponentChild {
  switch (token.type) {
    case "paragraph":
      return h("p", { dir: "auto" }, inlines(token.tokens, context));
    case "heading":
      // The page itself owns the first two levels.
      return h(
        `h${Math.min(6, token.depth + 2)}`,
        { class: `h${token.depth}`, dir: "auto" },
        inlines(token.tokens, context),
      );
    case "code":
      return context.code(token.text, languageOf(token.lang));
    case "blockquote":
      return h("blockquote", { dir: "auto" }, blocks(token.tokens, context));
    case "list":
      return list(token, context);
    case "table":
      return table(token, context);
    case "hr":
      return h("hr", {});
    case "space":
    case "def":
      return null;
    case "html":
      return plain(token.raw.trimEnd());
    case "text":
      // The words of a tight list item.
      return token.tokens === undefined ? entities(token.text) : inlines(token.tokens, context);
    case "checkbox":
      return h("input", { type: "checkbox", checked: token.checked, disabled: true });
    default:
      return inline(token, context);
  }
}

function list(token: Tokens.List, context: Context): ComponentChild {
  const items = token.items.map((item) =>
    h("li", { dir: "auto", class: item.task ? "task" : undefined }, blocks(item.tokens, context)),
  );
  return token.ordered ? h("ol", { start: token.start === "" ? 1 : token.start }, items) : h("ul", {}, items);
}

function table(token: Tokens.Table, context: Context): ComponentChild {
  const cell = (name: "th" | "td") => (one: Tokens.TableCell) =>
    h(name, { class: one.align ?? undefined, dir: "auto" }, inlines(one.tokens, context));
  const head = h("thead", {}, h("tr", {}, token.header.map(cell("th"))));
  const body = h(
    "tbody",
    {},
    token.rows.map((row) => h("tr", {}, row.map(cell("td")))),
  );
  // A region that scrolls by itself must be reachable by keyboard.
  return h("div", { class: "table", tabIndex: 0, role: "region", "aria-label": "Table" }, h("table", {}, head, body));
}

function inlines(tokens: readonly Token[], context: Context): readonly ComponentChild[] {
  if (context.depth > depthMax) return tokens.map((token) => token.raw);
  const inner = { ...context, depth: context.depth + 1 };
  return tokens.map((token) => inline(token as MarkedToken, inner));
}

function inline(token: MarkedToken, context: Context): ComponentChild {
  switch (token.type) {
    case "text":
      return token.tokens === undefined ? entities(token.text) : inlines(token.tokens, context);
    case "escape":
      return token.text;
    case "strong":
      return h("strong", {}, inlines(token.tokens, context));
    case "em":
      return h("em", {}, inlines(token.tokens, context));
    case "del":
      return h("del", {}, inlines(token.tokens, context));
    case "codespan":
      return h("code", { dir: "auto" }, token.text);
    case "br":
      return h("br", {});
    case "link":
      return link(token, inlines(token.tokens, context));
    case "image":
      return link(token, [`Image: ${token.text === "" ? token.href : entities(token.text)}`]);
    case "checkbox":
      return h("input", { type: "checkbox", checked: token.checked, disabled: true });
    default:
      return token.raw;
  }
}

/** A link that leads nowhere allowed stays visible as the text that was written. */
function link(token: Tokens.Link | Tokens.Image, children: readonly ComponentChild[]): ComponentChild {
  const literal = token.type === "link" && token.autolink === true;
  const href = safeHref(literal ? token.href : entities(token.href));
  if (href === null) return token.raw;
  return h("a", { href, title: href, target: "_blank", rel: "noopener noreferrer" }, children);
}

/** The first word behind the fence; anything odd in it is only a label. */
function languageOf(lang: string | undefined): string {
  return (/^\S{1,24}/.exec(lang ?? "") ?? [""])[0];
}

const named: { readonly [name: string]: string } = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** Character references become the characters they name, as text. */
function entities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[name.toLowerCase()] ?? whole;
    const point = decimal !== undefined ? Number(decimal) : Number.parseInt(hex, 16);
    return point > 0 && point <= 0x10ffff ? String.fromCodePoint(point) : "\ufffd";
  });
}
