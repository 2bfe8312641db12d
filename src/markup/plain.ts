// Markdown for people who see nothing but letters: on IRC, in captions and in notifications.

import { type Dialect, dialect, markOf } from "./dialect.ts";
import { layOut } from "./table.ts";

const same = (inner: string): string => inner;

export const plain: Dialect = dialect({
  text: same,
  bold: same,
  italic: same,
  strike: same,
  code: same,
  block: same,
  link: (inner, href, isBare) => (isBare || inner === href ? inner : `${inner} (${href})`),
  image: (words, href) => (words === "" ? href : `${words} (${href})`),
  item: (inner, item) =>
    `${"  ".repeat(item.depth)}${item.number === null && item.done === null ? "-" : markOf(item)} ${inner}`,
  rule: () => "---",
  table: layOut,
});
