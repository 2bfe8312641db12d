// The words of a mail that is only HTML; pure. Strangers write the tags, so every character is looked at a fixed number of
// times: one walk from tag to tag, and nothing that goes back.

/** Words inside or outside of a quote of earlier mails. */
type Run = { readonly isQuote: boolean; readonly pieces: string[] };

type Page = {
  readonly runs: Run[];
  depth: number;
  /** The link that is open, and where its words begin. */
  link: { readonly href: string; readonly run: Run; readonly from: number } | null;
};

/** What no reader sees. One that is never closed takes the rest with it, as in browsers. */
const unseen: ReadonlySet<string> = new Set(["style", "script", "title"]);
const blocks: ReadonlySet<string> = new Set("p div tr table ul ol pre hr h1 h2 h3 h4 h5 h6".split(" "));
/** A tag with more than this is no link that anybody could follow. */
const tagMax = 4_000;

/** Pictures and styles say nothing. */
export function htmlToText(html: string): string {
  const page: Page = { runs: [{ isQuote: false, pieces: [] }], depth: 0, link: null };
  for (let at = 0; at < html.length; ) at = next(page, html, at);
  return tidied(page.runs.map(textOf).join("\n\n"));
}

/** Takes the words up to a tag, and the tag; gives where to go on. */
function next(page: Page, html: string, at: number): number {
  const open = html.indexOf("<", at);
  if (open !== at) {
    const end = open < 0 ? html.length : open;
    say(page, decoded(html.slice(at, end)));
    return end;
  }
  if (html.startsWith("<!--", open)) return behind(html, /-->/g, open);
  const inside = /[^<>]*/y;
  inside.lastIndex = open + 1;
  const body = inside.exec(html)?.[0] ?? "";
  const end = open + 1 + body.length;
  // What is never closed, or opened again before, is no tag.
  if (html[end] !== ">") {
    say(page, decoded(html.slice(open, end)));
    return end;
  }
  const [, slash, name = ""] = /^(\/?)([a-z][a-z0-9]{0,19})(?![a-z0-9])/i.exec(body) ?? [];
  const tag = name.toLowerCase();
  if (slash === "" && unseen.has(tag)) return behind(html, new RegExp(`</${tag}\\s*>`, "gi"), end);
  if (slash === "/") closes(page, tag);
  else opens(page, tag, body);
  return end + 1;
}

function behind(html: string, what: RegExp, from: number): number {
  what.lastIndex = from;
  return what.exec(html) === null ? html.length : what.lastIndex;
}

function opens(page: Page, tag: string, body: string): void {
  if (tag === "blockquote") {
    page.depth++;
    if (page.depth === 1) begin(page, true);
  } else if (tag === "br" || blocks.has(tag)) say(page, "\n");
  else if (tag === "li") say(page, "\n- ");
  else if (tag === "a" && body.length <= tagMax) {
    const href = /\shref\s?=\s?"(https?:[^"]+)"/i.exec(body)?.[1];
    const run = page.runs.at(-1);
    page.link = href === undefined || run === undefined ? null : { href, run, from: run.pieces.length };
  }
}

function closes(page: Page, tag: string): void {
  if (tag === "blockquote" && page.depth > 0) {
    page.depth--;
    if (page.depth === 0) begin(page, false);
  } else if (blocks.has(tag)) say(page, "\n");
  else if (tag === "a" && page.link !== null) {
    const { href, run, from } = page.link;
    if (run.pieces.slice(from).join("").trim() !== href) say(page, ` (${href})`);
    page.link = null;
  }
}

function begin(page: Page, isQuote: boolean): void {
  page.runs.push({ isQuote, pieces: [] });
  page.link = null;
}

function say(page: Page, words: string): void {
  page.runs.at(-1)?.pieces.push(words);
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
  for (const line of text.split("\n")) {
    const words = line.trimEnd();
    if (words !== "" || kept.at(-1) !== "") kept.push(words);
  }
  return kept.join("\n").trim();
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

function decoded(words: string): string {
  return words.replaceAll(/&(#x?[0-9a-f]{1,8}|[a-z]{1,10});/gi, (whole, name: string) => {
    if (!name.startsWith("#")) return entities[name.toLowerCase()] ?? whole;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
