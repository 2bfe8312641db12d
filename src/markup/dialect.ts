// How a platform writes what markdown says. A dialect names what it has; the rest is made of that. Whatever is called
// `inner` is written in the dialect already, everything else is words as they are and must be escaped by whoever writes them.

import { type Table, layOut } from "./table.ts";

/** One line of a list. `depth` is 0 in the outermost list; `done` is there where it can be ticked. */
export type Item = {
  readonly depth: number;
  /** Its number, or null in a list without numbers. */
  readonly number: number | null;
  readonly done: boolean | null;
};

export type Dialect = {
  /** Words that mean nothing but themselves. */
  text(words: string): string;
  bold(inner: string): string;
  italic(inner: string): string;
  strike(inner: string): string;
  /** A few words of code inside a line. */
  code(words: string): string;
  /** A block of code; `language` may be empty. */
  block(words: string, language: string): string;
  /** `isBare`: the words are the address itself. Only for addresses that are safe to open. */
  link(inner: string, href: string, isBare: boolean): string;
  image(words: string, href: string): string;
  heading(inner: string, level: number): string;
  quote(inner: string): string;
  item(inner: string, item: Item): string;
  list(items: readonly string[], isOrdered: boolean): string;
  paragraph(inner: string): string;
  rule(): string;
  table(table: Table): string;
  /** What looks like a tag; shown as what it is. */
  html(words: string): string;
  readonly lineBreak: string;
};

type Needed = Pick<Dialect, "text" | "bold" | "italic" | "strike" | "code" | "block" | "link">;

/** A dialect from what a platform has: the rest is written with that. */
export function dialect(own: Needed & Partial<Dialect>): Dialect {
  const { text, block, link, bold } = own;
  return {
    image: (words, href) => link(text(words === "" ? href : words), href, words === "" || words === href),
    heading: (inner) => bold(inner),
    quote: (inner) => prefixed(inner, text("> ")),
    item: (inner, item) => `${"  ".repeat(item.depth)}${text(markOf(item))} ${inner}`,
    list: (items) => items.join("\n"),
    paragraph: (inner) => inner,
    rule: () => text("———"),
    table: (table) => block(layOut(table), ""),
    html: (words) => text(words),
    lineBreak: "\n",
    ...own,
  };
}

/** How lines of lists begin where nothing better is known. */
export function markOf({ number, done }: Item): string {
  if (done !== null) return done ? "☑" : "☐";
  return number === null ? "•" : `${number}.`;
}

export function prefixed(inner: string, prefix: string): string {
  return inner
    .split("\n")
    .map((line) => prefix + line)
    .join("\n");
}
