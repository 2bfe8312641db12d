// The words of a mail that is only HTML, as its reader sees them; pure. Unknown senders write the tags, so the work is linear
// in the size of the mail: one pass of the parser, and nothing nested deeper than any real mail.

import { Parser } from "htmlparser2";
import { type Look, type Sheet, addRules, isSeen, lookOf, plainLook } from "./visible.ts";

/** Words inside or outside of a quote of earlier mails. */
type Run = { readonly isQuote: boolean; readonly pieces: string[] };

type Page = {
  readonly runs: Run[];
  /** One for each element that is open. */
  readonly looks: Look[];
  /** How many elements that are never shown are open. */
  unseen: number;
  readonly sheet: Sheet;
  /** The text of the style sheet that is being read. */
  style: string[] | null;
  quotes: number;
  /** The link that is open, and where its words begin. */
  link: { readonly href: string; readonly run: Run; readonly from: number } | null;
};

/** Not `head`: it ends at the first element of the body, and mails leave out its closing tag. */
const unseen: ReadonlySet<string> = new Set("title script style template object iframe datalist".split(" "));
const blocks: ReadonlySet<string> = new Set("p div tr table ul ol pre hr h1 h2 h3 h4 h5 h6".split(" "));
const sheetMax = 100_000;
/** Browsers stop at 512; a closing tag costs as much as the depth it is found at. */
const depthMax = 1_000;
const chunkSize = 4_096;

/** A page that `read` fails on is still readable without its tags. */
export function htmlToText(html: string, read = visibleText): string {
  try {
    return read(html);
  } catch {
    return withoutTags(html);
  }
}

function withoutTags(html: string): string {
  const [start = "", ...rest] = html.split(/<(?=(?:script|style)\b)/i);
  const kept = rest.map((piece) => {
    const end = piece.search(/<\/(?:script|style)\b/i);
    return end < 0 ? "" : piece.slice(end);
  });
  return tidied([start, ...kept].join("").replaceAll(/<[^<>]*>/g, " "));
}

/** Pictures and styles say nothing. */
function visibleText(html: string): string {
  const page: Page = {
    runs: [{ isQuote: false, pieces: [] }],
    looks: [],
    unseen: 0,
    sheet: new Map(),
    style: null,
    quotes: 0,
    link: null,
  };
  const parser = new Parser(
    {
      onopentag: (tag, attributes) => opens(page, tag, attributes),
      onclosetag: (tag) => closes(page, tag),
      ontext: (words) => hear(page, words),
    },
    { decodeEntities: true },
  );
  for (let at = 0; at < html.length && page.looks.length < depthMax; at += chunkSize)
    parser.write(html.slice(at, at + chunkSize));
  if (page.looks.length < depthMax) parser.end();
  return tidied(page.runs.map(textOf).join("\n\n"));
}

function opens(page: Page, tag: string, attributes: Readonly<Record<string, string>>): void {
  const outer = page.looks.at(-1) ?? plainLook;
  page.looks.push(tag === "head" ? outer : lookOf(outer, tag, attributes, page.sheet));
  if (unseen.has(tag)) page.unseen++;
  if (tag === "style") page.style = [];
  if (tag === "blockquote") {
    page.quotes++;
    if (page.quotes === 1) begin(page, true);
  } else if (tag === "br" || blocks.has(tag)) say(page, "\n");
  else if (tag === "li") say(page, "\n- ");
  else if (tag === "a") {
    const href = /^https?:\S+$/i.exec(attributes["href"]?.trim() ?? "")?.[0];
    const run = page.runs.at(-1);
    page.link = href === undefined || run === undefined ? null : { href, run, from: run.pieces.length };
  }
}

function closes(page: Page, tag: string): void {
  if (tag === "blockquote" && page.quotes > 0) {
    page.quotes--;
    if (page.quotes === 0) begin(page, false);
  } else if (blocks.has(tag)) say(page, "\n");
  else if (tag === "a" && page.link !== null) {
    const { href, run, from } = page.link;
    if (run.pieces.slice(from).join("").trim() !== href) say(page, ` (${href})`);
    page.link = null;
  }
  if (tag === "style" && page.style !== null) {
    addRules(page.sheet, page.style.join("").slice(0, sheetMax));
    page.style = null;
  }
  if (unseen.has(tag)) page.unseen--;
  page.looks.pop();
}

function hear(page: Page, words: string): void {
  if (page.style !== null) page.style.push(words);
  else if (page.unseen === 0) say(page, words);
}

function begin(page: Page, isQuote: boolean): void {
  page.runs.push({ isQuote, pieces: [] });
  page.link = null;
}

function say(page: Page, words: string): void {
  if (page.unseen === 0 && isSeen(page.looks.at(-1) ?? plainLook)) page.runs.at(-1)?.pieces.push(words);
}

function textOf({ isQuote, pieces }: Run): string {
  const text = pieces.join("");
  if (!isQuote) return text;
  const words = text.trim();
  return words === ""
    ? ""
    : words
        .split("\n")
        .map((line) => `> ${line}`)
        .join("\n");
}

/** Without spaces at the ends of lines, and with one empty line at most between two others. */
function tidied(text: string): string {
  const kept: string[] = [];
  for (const line of text.replaceAll("\u00a0", " ").split("\n")) {
    const words = line.trimEnd();
    if (words !== "" || kept.at(-1) !== "") kept.push(words);
  }
  return kept.join("\n").trim();
}
