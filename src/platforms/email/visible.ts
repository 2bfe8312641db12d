// Which text of an HTML mail a reader sees. Text that only a program would find (`display:none`, a zero font size, white on
// white) must not reach the model as if it had been said. Pure; follows inheritance as far as mails use it.

/** What an element passes on to what is inside it. */
export type Look = {
  /** Nothing inside is shown, whatever it says itself. */
  readonly isGone: boolean;
  /** These two may be taken back inside. */
  readonly isInvisible: boolean;
  readonly isTiny: boolean;
  readonly color: Color;
  readonly background: Color;
};

type Rgb = readonly [number, number, number];
/** `none`: it lets everything through. `unknown`: a picture, or nothing that we can read. */
type Color = Rgb | "none" | "unknown";

export const plainLook: Look = {
  isGone: false,
  isInvisible: false,
  isTiny: false,
  color: [0, 0, 0],
  background: [255, 255, 255],
};

export function isSeen({ isGone, isInvisible, isTiny, color, background }: Look): boolean {
  return !isGone && !isInvisible && !isTiny && !isSameColor(color, background);
}

/** By how much of 255 two colors may differ and still be one to the eye. */
const colorSlack = 10;

function isSameColor(color: Color, background: Color): boolean {
  if (color === "none") return true;
  if (typeof color === "string" || typeof background === "string") return false;
  return color.every((part, i) => Math.abs(part - (background[i] ?? 0)) <= colorSlack);
}

type Attributes = Readonly<Record<string, string>>;

export function lookOf(outer: Look, tag: string, attributes: Attributes, sheet: Sheet): Look {
  const style = styleOf(sheet, tag, attributes);
  const visibility = valueIn(style, "visibility");
  const color = valueIn(style, "color") ?? attributeValue(attributes["color"]);
  const background =
    valueIn(style, "background-color") ?? valueIn(style, "background") ?? attributeValue(attributes["bgcolor"]);
  const isTransparent = Number.parseFloat(valueIn(style, "opacity") ?? "1") === 0;
  return {
    isGone: outer.isGone || "hidden" in attributes || isDropped(style) || isTransparent,
    isInvisible: visibility === undefined ? outer.isInvisible : /^(?:hidden|collapse)/.test(visibility),
    isTiny: tinyOf(valueIn(style, "font-size"), outer.isTiny),
    color: color === undefined ? outer.color : (colorIn(color) ?? outer.color),
    background: background === undefined ? outer.background : behind(background, outer.background),
  };
}

/** Attributes are as case-insensitive as styles are. */
function attributeValue(text: string | undefined): string | undefined {
  return text?.trim().slice(0, valueMax).toLowerCase();
}

function isDropped(style: Style): boolean {
  if (valueIn(style, "display")?.startsWith("none") === true || valueIn(style, "mso-hide") === "all") return true;
  const hasNoRoom = ["max-height", "height", "max-width"].some((name) => isZero(valueIn(style, name)));
  return hasNoRoom && valueIn(style, "overflow")?.startsWith("hidden") === true;
}

function isZero(length: string | undefined): boolean {
  return length !== undefined && /^(?:0+(?:\.0*)?|\.0+)(?:[a-z]+|%)?$/.test(length);
}

/** Sizes below one pixel are nothing to read; those that depend on the outer one stay as small as that is. */
function tinyOf(size: string | undefined, outer: boolean): boolean {
  if (size === undefined || size.startsWith("inherit")) return outer;
  const number = Number.parseFloat(size);
  if (Number.isNaN(number)) return false;
  if (/(?:em|%)$/.test(size) && !size.endsWith("rem")) return outer || number === 0;
  return number < 1;
}

/** More words than any valid `background` has. */
const backgroundWordsMax = 16;

function behind(text: string, outer: Color): Color {
  if (/url\(|gradient\(/.test(text)) return "unknown";
  const words = text.match(/[^\s()]+(?:\([^()]*\))?/g) ?? [];
  const found = words
    .slice(0, backgroundWordsMax)
    .map(colorIn)
    .find((color) => color !== null);
  return found === undefined || found === null || found === "none" ? outer : found;
}

const names: ReadonlyMap<string, Color> = new Map<string, Color>([
  ["white", [255, 255, 255]],
  ["snow", [255, 250, 250]],
  ["ivory", [255, 255, 240]],
  ["ghostwhite", [248, 248, 255]],
  ["whitesmoke", [245, 245, 245]],
  ["black", [0, 0, 0]],
  ["transparent", "none"],
]);

/** null: not a color at all. */
function colorIn(text: string): Color | null {
  const known = names.get(text);
  if (known !== undefined) return known;
  const hex = /^#?([0-9a-f]{3,8})$/.exec(text)?.[1] ?? "";
  if (/^(?:.{3}|.{4})$/.test(hex)) return hexColor([...hex].map((digit) => digit + digit).join(""));
  if (/^(?:.{6}|.{8})$/.test(hex)) return hexColor(hex);
  const parts = /^rgba?\(([^()]{1,40})\)$/.exec(text)?.[1]?.match(/[\d.]+%?/g) ?? [];
  if (parts.length < 3) return /^[a-z]{3,20}$/.test(text) ? "unknown" : null;
  if (parts[3] !== undefined && Number.parseFloat(parts[3]) === 0) return "none";
  const [red = 0, green = 0, blue = 0] = parts.map((part) => Number.parseFloat(part) * (part.endsWith("%") ? 2.55 : 1));
  return [red, green, blue];
}

function hexColor(digits: string): Color {
  if (digits.endsWith("00") && digits.length === 8) return "none";
  const [red = 0, green = 0, blue = 0] = [0, 2, 4].map((at) => Number.parseInt(digits.slice(at, at + 2), 16));
  return [red, green, blue];
}

// ----------------------------------------------------------------------------------------------------------- styles

/** Values by property; an important declaration has its own entry, `name!`. Other properties than these are not kept. */
type Style = ReadonlyMap<string, string>;

const properties: ReadonlySet<string> = new Set(
  "color background background-color display visibility opacity overflow font-size height max-height max-width mso-hide".split(
    " ",
  ),
);

/** Rules by `tag`, `.class`, `#id` or `tag.class`; rules with other selectors are ignored. One map serves a whole mail. */
export type Sheet = Map<string, Style>;

/** The rest of a longer value is cut off: the start says whether a background has a picture. */
const valueMax = 200;
export const rulesMax = 5_000;

function valueIn(style: Style, name: string): string | undefined {
  return style.get(`${name}!`) ?? style.get(name);
}

/** Later declarations win. */
function readStyle(text: string): Style {
  const style = new Map<string, string>();
  for (const declaration of text.split(";")) {
    const at = declaration.indexOf(":");
    const name = declaration.slice(0, Math.max(at, 0)).trim().toLowerCase();
    if (!properties.has(name)) continue;
    const value = declaration
      .slice(at + 1)
      .trim()
      .toLowerCase();
    const bare = withoutImportant(value);
    style.set(bare === value ? name : `${name}!`, bare.slice(0, valueMax));
  }
  return style;
}

function withoutImportant(value: string): string {
  const mark = "important";
  const before = value.endsWith(mark) ? value.slice(0, -mark.length).trimEnd() : "";
  return before.endsWith("!") ? before.slice(0, -1).trimEnd() : value;
}

function merged(styles: readonly Style[]): Style {
  const all = new Map<string, string>();
  for (const style of styles) for (const [name, value] of style) all.set(name, value);
  return all;
}

function styleOf(sheet: Sheet, tag: string, attributes: Attributes): Style {
  const own = readStyle(attributes["style"] ?? "");
  if (sheet.size === 0) return own;
  const classes = (attributes["class"] ?? "").split(/\s+/, 20).filter((name) => name !== "");
  const id = attributes["id"];
  const keys = [
    tag,
    ...classes.flatMap((name) => [`.${name}`, `${tag}.${name}`]),
    ...(id === undefined ? [] : [`#${id}`]),
  ];
  const rules = keys.flatMap((key) => sheet.get(key.toLowerCase()) ?? []);
  const styles = own.size === 0 ? rules : [...rules, own];
  const [only = own] = styles;
  return styles.length <= 1 ? only : merged(styles);
}

/**
 * Adds the rules of a style sheet that always hold, until the mail has `rulesMax`; blocks that depend on the reader's device
 * (`@media`) are left out.
 */
export function addRules(sheet: Sheet, source: string): void {
  const text = withoutComments(source);
  let at = 0;
  while (sheet.size < rulesMax) {
    const open = text.indexOf("{", at);
    if (open < 0) break;
    const head = text
      .slice(at, open)
      .replaceAll(/<!--|-->/g, "")
      .trim()
      .toLowerCase();
    if (head.startsWith("@") && !head.includes(";")) {
      at = blockEnd(text, open);
      continue;
    }
    const close = text.indexOf("}", open);
    const end = close < 0 ? text.length : close;
    addRule(sheet, head.slice(head.lastIndexOf(";") + 1), readStyle(text.slice(open + 1, end)));
    at = end + 1;
  }
}

function addRule(sheet: Sheet, selectors: string, style: Style): void {
  if (style.size === 0) return;
  for (const selector of selectors.split(",", 50)) {
    const name = selector.trim();
    if (sheet.size >= rulesMax) return;
    if (/^(?:[a-z][a-z0-9]*)?(?:[.#][\w-]+)?$/.test(name))
      sheet.set(name, merged([sheet.get(name) ?? new Map(), style]));
  }
}

/** A comment that never ends hides the rest. */
function withoutComments(text: string): string {
  const kept: string[] = [];
  for (let at = 0; at < text.length; ) {
    const open = text.indexOf("/*", at);
    kept.push(text.slice(at, open < 0 ? text.length : open));
    const close = open < 0 ? -1 : text.indexOf("*/", open + 2);
    if (close < 0) break;
    at = close + 2;
  }
  return kept.join("");
}

/** Behind the brace that closes the one at `open`. */
function blockEnd(text: string, open: number): number {
  const braces = /[{}]/g;
  braces.lastIndex = open;
  let depth = 0;
  for (let found = braces.exec(text); found !== null; found = braces.exec(text)) {
    depth += found[0] === "{" ? 1 : -1;
    if (depth === 0) return braces.lastIndex;
  }
  return text.length;
}
