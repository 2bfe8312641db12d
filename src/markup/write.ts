// Markdown as models write it, in the words of a platform. It never throws and never loses words: what is not markdown,
// or too strange to be read, is shown as it was written.

import type { MarkedToken, Token, Tokens } from "marked";
import type { Dialect } from "./dialect.ts";
import { lex } from "./lex.ts";
import { plain } from "./plain.ts";

/** Deeper nesting is not a document any more. */
const depthMax = 24;

export function write(markdown: string, dialect: Dialect): string {
  const tokens = lex(markdown);
  if (tokens === null) return dialect.text(markdown);
  return blocks(tokens, { dialect, depth: 0, lists: 0, within: new Set() });
}

/** What is written inside of what: most dialects cannot be bold inside bold. */
type Span = "bold" | "italic" | "strike" | "link";
type Context = {
  readonly dialect: Dialect;
  readonly depth: number;
  readonly lists: number;
  readonly within: ReadonlySet<Span>;
};

/** Blank lines between blocks stay where they were written, one at most. */
function blocks(tokens: readonly Token[], context: Context): string {
  if (context.depth > depthMax) return context.dialect.text(tokens.map(({ raw }) => raw).join(""));
  const inner = { ...context, depth: context.depth + 1 };
  let written = "";
  let gap = "";
  for (const token of tokens) {
    const one = token.type === "space" ? "" : block(token as MarkedToken, inner);
    if (one !== "" && written !== "") written += gap === "" ? "\n" : gap;
    written += one;
    if (one !== "") gap = "";
    if (/\n[ \t]*\n\s*$/.test(token.raw.slice(-50)) || token.type === "space") gap = "\n\n";
  }
  return written;
}

function block(token: MarkedToken, context: Context): string {
  const { dialect } = context;
  switch (token.type) {
    case "paragraph":
      return dialect.paragraph(inlines(token.tokens, context));
    case "heading":
      return dialect.heading(inlines(token.tokens, context), token.depth);
    case "code":
      return code(token, dialect);
    case "blockquote":
      return dialect.quote(blocks(token.tokens, context));
    case "list":
      return list(token, context);
    case "table":
      return table(token, context);
    case "hr":
      return dialect.rule();
    case "space":
      return "";
    case "html":
      return dialect.html(token.raw.trimEnd());
    case "def":
      // Often not meant as one: "[Alice]: hello" is a line of a talk.
      return dialect.text(token.raw.trimEnd());
    default:
      return inline(token, context);
  }
}

/** What stands behind the fence is a language or the first line of what somebody forgot to break. */
function code({ text, lang = "" }: Tokens.Code, dialect: Dialect): string {
  const info = lang.trim();
  if (/^[\w+#.-]{0,30}$/.test(info) && (text !== "" || info === "")) return dialect.block(text, info);
  return dialect.block(`${info}\n${text}`.trimEnd(), "");
}

function list(token: Tokens.List, context: Context): string {
  const { dialect, lists } = context;
  const first = typeof token.start === "number" ? token.start : 1;
  const items = token.items.map((item, n) => {
    const place = {
      depth: lists,
      number: token.ordered ? first + n : null,
      done: item.task ? item.checked === true : null,
    };
    return dialect.item(contentOf(item, { ...context, lists: lists + 1 }), place);
  });
  return dialect.list(items, token.ordered);
}

/** Blocks of an item stand close to each other. */
function contentOf(item: Tokens.ListItem, context: Context): string {
  return blocks(
    item.tokens.filter(({ type }) => type !== "space" && type !== "checkbox"),
    context,
  );
}

function table(token: Tokens.Table, context: Context): string {
  const { dialect } = context;
  const bare = { ...context, dialect: plain, lists: 0 };
  const cell = (one: Tokens.TableCell): string => inlines(one.tokens, bare).replace(/\s*\n\s*/g, " ");
  const head = token.header.map(cell);
  const rows = token.rows.map((row) => row.map(cell));
  // Cells beyond the head are no part of a table, but somebody wrote them.
  if (letters([...head, ...rows.flat()].join("")) < letters(token.raw)) return dialect.block(token.raw.trimEnd(), "");
  return dialect.table({ head, rows, align: token.align });
}

function letters(text: string): number {
  return text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
}

function inlines(tokens: readonly Token[], context: Context): string {
  if (context.depth > depthMax) return context.dialect.text(tokens.map(({ raw }) => raw).join(""));
  const inner = { ...context, depth: context.depth + 1 };
  return tokens.map((token) => inline(token as MarkedToken, inner)).join("");
}

function inline(token: MarkedToken, context: Context): string {
  const { dialect } = context;
  switch (token.type) {
    case "text":
      return token.tokens === undefined ? words(token.text, dialect) : inlines(token.tokens, context);
    case "escape":
      return dialect.text(token.text);
    case "strong":
      return span("bold", token, context);
    case "em":
      return span("italic", token, context);
    case "del":
      return span("strike", token, context);
    case "codespan":
      return dialect.code(token.text);
    case "br":
      return dialect.lineBreak;
    case "link":
      return link(token, context);
    case "image":
      return image(token, context);
    case "html":
      return /^<br\s*\/?>$/i.test(token.raw) ? dialect.lineBreak : dialect.html(token.raw);
    case "checkbox":
      return "";
    default:
      return dialect.text(token.raw);
  }
}

function words(text: string, { text: write, lineBreak }: Dialect): string {
  return entities(text).split("\n").map(write).join(lineBreak);
}

function span(
  kind: "bold" | "italic" | "strike",
  token: Tokens.Strong | Tokens.Em | Tokens.Del,
  context: Context,
): string {
  const { dialect, within } = context;
  if (within.has(kind)) return inlines(token.tokens, context);
  const inner = inlines(token.tokens, { ...context, within: new Set([...within, kind]) });
  return inner.trim() === "" ? dialect.text(token.raw) : dialect[kind](inner);
}

/** An address that leads nowhere allowed stays visible beside its words. */
function link(token: Tokens.Link, context: Context): string {
  const { dialect, within } = context;
  const href = token.autolink === true ? token.href : entities(token.href);
  const inner = inlines(token.tokens, { ...context, within: new Set([...within, "link"]) });
  if (within.has("link")) return inner;
  if (href.trim() === "") return dialect.text(token.raw);
  if (!isSafe(href)) return inner.trim() === "" ? dialect.text(href) : `${inner} ${dialect.text(`(${href})`)}`;
  if (inner.trim() === "") return dialect.link(dialect.text(href), href, true);
  return dialect.link(inner, href, token.autolink === true || token.text === token.href);
}

function image(token: Tokens.Image, { dialect, within }: Context): string {
  const [href, name] = [entities(token.href), entities(token.text)];
  if (href.trim() === "") return dialect.text(token.raw);
  if (!isSafe(href)) return dialect.text(name === "" ? href : `${name} (${href})`);
  return within.has("link") ? dialect.text(name === "" ? href : name) : dialect.image(name, href);
}

function isSafe(href: string): boolean {
  const url = URL.parse(href);
  return url !== null && ["http:", "https:", "mailto:", "tel:"].includes(url.protocol);
}

const named: { readonly [name: string]: string } = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };

/** Character references become the characters they name. */
function entities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[name.toLowerCase()] ?? whole;
    const point = decimal !== undefined ? Number(decimal) : Number.parseInt(hex, 16);
    const isLetter = point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff);
    return isLetter ? String.fromCodePoint(point) : whole;
  });
}
