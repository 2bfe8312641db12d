// A page as text a model can read: its title, its words in their order, its links, and nothing that only a browser needs.
// Pure, and done in one walk, so that no page can make it slow.

import { decodeEntities } from "./entities.ts";

export type Page = { readonly title: string; readonly text: string };

/** Everything inside of these is for browsers. */
const silent = new Set([
  "script",
  "style",
  "noscript",
  "template",
  "svg",
  "math",
  "iframe",
  "object",
  "canvas",
  "head",
]);
/** Their content is not markup. */
const raw = new Set(["script", "style", "title", "textarea", "noscript", "iframe"]);
const blocks = new Set(
  "address article aside blockquote body dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html li main nav ol option p pre section select summary table tbody tfoot thead tr ul".split(
    " ",
  ),
);
/** Blocks that follow one another without an empty line. */
const tight = new Set(["li", "tr", "dd"]);
const begins: Readonly<Record<string, string>> = {
  h1: "\n\n# ",
  h2: "\n\n## ",
  h3: "\n\n### ",
  h4: "\n\n#### ",
  h5: "\n\n##### ",
  h6: "\n\n###### ",
  li: "\n- ",
  hr: "\n\n---\n\n",
};
const tag = /<(?:(!--)|(\/?)([a-zA-Z][\w:-]*)|([!?]))/g;

type Walk = {
  readonly base: URL;
  readonly out: string[];
  title: string;
  /** How deep we are inside of something silent, and in what. */
  hush: { readonly name: string; depth: number } | null;
  /** Where the text of an open link begins, and where it leads. */
  link: { readonly from: number; readonly to: string } | null;
  pre: number;
};

export function readPage(html: string, base: URL): Page {
  const walk: Walk = { base, out: [], title: "", hush: null, link: null, pre: 0 };
  let at = 0;
  for (;;) {
    tag.lastIndex = at;
    const found = tag.exec(html);
    say(walk, html.slice(at, found?.index ?? html.length));
    if (found === null) break;
    at = found[1] === undefined && found[4] === undefined ? element(walk, html, found) : passed(html, found);
  }
  closeLink(walk);
  return { title: walk.title, text: tidied(walk.out.join("")) };
}

/** Comments and declarations: where they end. */
function passed(html: string, found: RegExpExecArray): number {
  const close = found[1] === undefined ? ">" : "-->";
  const end = html.indexOf(close, found.index + found[0].length - (close === ">" ? 0 : 2));
  return end === -1 ? html.length : end + close.length;
}

/** One tag, with what it does to the text; gives where it ends. */
function element(walk: Walk, html: string, found: RegExpExecArray): number {
  const name = (found[3] ?? "").toLowerCase();
  const isClosing = found[2] === "/";
  const start = found.index + found[0].length;
  const end = tagEnd(html, start);
  const attributes = html.slice(start, end);
  const after = Math.min(end + 1, html.length);
  if (!isClosing && raw.has(name)) {
    const close = rawEnd(html, name, after);
    // Also where the head is silent, its title is not.
    if (name === "title" && walk.title === "") walk.title = oneLine(decodeEntities(html.slice(after, close)));
    if (name === "textarea") say(walk, html.slice(after, close));
    return close;
  }
  if (walk.hush !== null) hushed(walk, name, isClosing, attributes);
  else if (silent.has(name) && !isClosing && !attributes.endsWith("/")) walk.hush = { name, depth: 1 };
  else mark(walk, name, isClosing, attributes);
  return after;
}

function hushed(walk: Walk, name: string, isClosing: boolean, attributes: string): void {
  const { hush } = walk;
  if (hush === null) return;
  // A head that was never closed ends where the body begins.
  if (hush.name === "head" && name === "body") walk.hush = null;
  else if (name === hush.name && !attributes.endsWith("/")) hush.depth += isClosing ? -1 : 1;
  if (hush.depth === 0) walk.hush = null;
}

/** The `>` that ends a tag, quotes observed. */
function tagEnd(html: string, from: number): number {
  let quote = "";
  for (let at = from; at < html.length; at++) {
    const sign = html[at] ?? "";
    if (quote !== "") quote = sign === quote ? "" : quote;
    else if (sign === ">") return at;
    // A quote counts where a value begins, not inside of a word.
    else if ((sign === '"' || sign === "'") && /[=\s]/.test(html[at - 1] ?? "")) quote = sign;
  }
  return html.length;
}

function rawEnd(html: string, name: string, from: number): number {
  const close = new RegExp(`</${name}`, "gi");
  close.lastIndex = from;
  return close.exec(html)?.index ?? html.length;
}

function mark(walk: Walk, name: string, isClosing: boolean, attributes: string): void {
  const { out } = walk;
  if (name === "a") {
    closeLink(walk);
    const to = isClosing ? null : linkOf(attributes, walk.base);
    if (to !== null) walk.link = { from: out.length, to };
  } else if (name === "br") out.push("\n");
  else if (name === "img" && !isClosing) {
    const alt = attributeOf(attributes, "alt");
    if (alt !== "") out.push(`[image: ${oneLine(alt)}]`);
  } else if (name === "td" || name === "th") out.push(isClosing ? " | " : "");
  else if (blocks.has(name)) {
    if (name === "pre") walk.pre = Math.max(0, walk.pre + (isClosing ? -1 : 1));
    out.push(isClosing ? (tight.has(name) ? "" : "\n\n") : (begins[name] ?? (tight.has(name) ? "\n" : "\n\n")));
  }
}

function closeLink(walk: Walk): void {
  const { link, out } = walk;
  walk.link = null;
  if (link === null) return;
  const text = oneLine(out.slice(link.from).join("")).replace(/^#+ /, "");
  if (text === "") return;
  out.length = link.from;
  out.push(text === link.to ? text : `[${text}](${link.to})`);
}

function say({ hush, out, pre }: Walk, text: string): void {
  if (hush !== null || text === "") return;
  const words = decodeEntities(text);
  out.push(pre > 0 ? words : words.replace(/[\s\u00a0]+/g, " "));
}

function linkOf(attributes: string, base: URL): string | null {
  const href = attributeOf(attributes, "href").trim();
  if (href === "" || href.startsWith("#") || !URL.canParse(href, base)) return null;
  const url = new URL(href, base);
  return /^(?:https?|mailto):$/.test(url.protocol) ? url.href : null;
}

function attributeOf(attributes: string, name: string): string {
  const found = new RegExp(`(?:^|[\\s"'/])${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, "i").exec(attributes);
  return decodeEntities(found?.[1] ?? found?.[2] ?? found?.[3] ?? "");
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, " ").trim();
}

/** No spaces at the ends of lines, no more than one empty line. */
function tidied(text: string): string {
  const lines = text.split("\n").map((line) =>
    line
      .trimEnd()
      .replace(/^ (?=\S)/, "")
      .replace(/ \|$/, ""),
  );
  const kept: string[] = [];
  for (const line of lines) if (line !== "" || kept.at(-1) !== "") kept.push(line);
  return kept.join("\n").trim();
}
