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
  const style = merged([...rulesFor(sheet, tag, attributes), declarations(attributes["style"] ?? "")]);
  const { color = attributes["color"], visibility, opacity } = style;
  const background = style["background-color"] ?? style["background"] ?? attributes["bgcolor"];
  return {
    isGone: outer.isGone || "hidden" in attributes || isDropped(style) || Number.parseFloat(opacity ?? "1") === 0,
    isInvisible: visibility === undefined ? outer.isInvisible : /^(?:hidden|collapse)/.test(visibility),
    isTiny: tinyOf(style["font-size"], outer.isTiny),
    color: color === undefined ? outer.color : (colorIn(color) ?? outer.color),
    background: background === undefined ? outer.background : behind(background, outer.background),
  };
}

function isDropped(style: Style): boolean {
  if (style["display"]?.startsWith("none") === true || style["mso-hide"] === "all") return true;
  const hasNoRoom = isZero(style["max-height"]) || isZero(style["height"]) || isZero(style["max-width"]);
  return hasNoRoom && style["overflow"]?.startsWith("hidden") === true;
}

function isZero(length: string | undefined): boolean {
  return length !== undefined && /^0*\.?0*(?:[a-z]+|%)?$/.test(length) && length.includes("0");
}

/** Sizes below one pixel are nothing to read; those that depend on the outer one stay as small as that is. */
function tinyOf(size: string | undefined, outer: boolean): boolean {
  if (size === undefined || size.startsWith("inherit")) return outer;
  const number = Number.parseFloat(size);
  if (Number.isNaN(number)) return false;
  if (/(?:em|%)$/.test(size) && !size.endsWith("rem")) return outer || number === 0;
  return number < 1;
}

function behind(text: string, outer: Color): Color {
  if (/url\(|gradient\(/.test(text)) return "unknown";
  const found = text
    .split(/ (?![^(]*\))/)
    .map(colorIn)
    .find((color) => color !== null);
  return found === undefined || found === null || found === "none" ? outer : found;
}

const names: Readonly<Record<string, Color>> = {
  white: [255, 255, 255],
  snow: [255, 250, 250],
  ivory: [255, 255, 240],
  ghostwhite: [248, 248, 255],
  whitesmoke: [245, 245, 245],
  black: [0, 0, 0],
  transparent: "none",
};

/** null: not a color at all. */
function colorIn(text: string): Color | null {
  const known = names[text];
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

type Style = Readonly<Record<string, string>>;
type Declaration = { readonly name: string; readonly value: string; readonly isImportant: boolean };

/** Rules by `tag`, `.class`, `#id` or `tag.class`; what is chosen in other ways is left alone. */
export type Sheet = ReadonlyMap<string, readonly Declaration[]>;

const declarationsMax = 100;

function declarations(text: string): readonly Declaration[] {
  return text
    .toLowerCase()
    .split(";", declarationsMax)
    .flatMap((one) => {
      const at = one.indexOf(":");
      if (at < 0) return [];
      const value = one.slice(at + 1).trim();
      const bare = value.replace(/ *! *important$/, "");
      return [{ name: one.slice(0, at).trim(), value: bare.trim(), isImportant: bare !== value }];
    });
}

/** Later ones win, unless an earlier one is important. */
function merged(all: readonly (readonly Declaration[])[]): Style {
  const style: Record<string, string> = {};
  const flat = all.flat();
  for (const isImportant of [false, true])
    for (const one of flat) if (one.isImportant === isImportant) style[one.name] = one.value;
  return style;
}

function rulesFor(sheet: Sheet, tag: string, attributes: Attributes): readonly (readonly Declaration[])[] {
  if (sheet.size === 0) return [];
  const classes = (attributes["class"] ?? "").split(/\s+/, 20).filter((name) => name !== "");
  const id = attributes["id"];
  const keys = [
    tag,
    ...classes.flatMap((name) => [`.${name}`, `${tag}.${name}`]),
    ...(id === undefined ? [] : [`#${id}`]),
  ];
  return keys.flatMap((key) => sheet.get(key.toLowerCase()) ?? []).length === 0
    ? []
    : keys.map((key) => sheet.get(key.toLowerCase()) ?? []);
}

const rulesMax = 1_000;

/** The rules of a style sheet that always hold; blocks that depend on the reader's device (`@media`) are left out. */
export function readSheet(text: string): Sheet {
  const sheet = new Map<string, readonly Declaration[]>();
  let at = 0;
  while (sheet.size < rulesMax) {
    const open = text.indexOf("{", at);
    if (open < 0) break;
    const head = text
      .slice(at, open)
      .replaceAll(/\/\*.*?\*\/|<!--|-->/gs, "")
      .trim()
      .toLowerCase();
    if (head.startsWith("@") && !/;[^;]*$/.test(head)) {
      at = blockEnd(text, open);
      continue;
    }
    const close = text.indexOf("}", open);
    const end = close < 0 ? text.length : close;
    const own = declarations(text.slice(open + 1, end).replaceAll(/\/\*.*?\*\//gs, ""));
    for (const selector of (head.split(";").at(-1) ?? "").split(",", 50)) {
      const name = selector.trim();
      if (/^(?:[a-z][a-z0-9]*)?(?:[.#][\w-]+)?$/.test(name)) sheet.set(name, [...(sheet.get(name) ?? []), ...own]);
    }
    at = end + 1;
  }
  return sheet;
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
