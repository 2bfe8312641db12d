// Answers on IRC: plain letters, with the few marks that clients draw; and how many lines of them go out at once.

import { toParts } from "../../core/parts.ts";
import { dialect, layOut, markOf, prefixed, write } from "../../markup/index.ts";

const same = (inner: string): string => inner;

/** Bold, italics, struck and monospaced letters have marks that end where they began. */
const around =
  (mark: string) =>
  (inner: string): string =>
    inner
      .split("\n")
      .map((line) => (line === "" ? "" : `${mark}${line}${mark}`))
      .join("\n");

const irc = dialect({
  text: same,
  bold: around("\x02"),
  italic: around("\x1d"),
  strike: around("\x1e"),
  code: same,
  // No mark that a client might not know: code is often copied.
  block: same,
  link: (inner, href, isBare) => (isBare || inner === href ? inner : `${inner} (${href})`),
  image: (words, href) => (words === "" ? href : `${words} (${href})`),
  quote: (inner) => prefixed(inner, "> "),
  item: (inner, item) => `${"  ".repeat(item.depth)}${markOf(item)} ${inner}`,
  rule: () => "---",
  table: layOut,
});

export function withoutMarks(line: string): string {
  return ["\x02", "\x1d", "\x1e"].reduce((bare, mark) => bare.replaceAll(mark, ""), line);
}

export function toIrc(markdown: string): string {
  return write(markdown, irc);
}

/** Even a short line costs a turn of its own: about eight full lines, or sixteen short ones, go out at once. */
export const partMax = 3_200;
const lineLeast = 200;

export function sizeOf(markdown: string): number {
  return toIrc(markdown)
    .split("\n")
    .reduce((sum, line) => sum + (line === "" ? 0 : Math.max(lineLeast, Buffer.byteLength(line))), 0);
}

export function partsOf(text: string): readonly string[] {
  return toParts(text, partMax, sizeOf);
}
