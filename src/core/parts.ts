// Cuts a long answer into parts that a platform takes: at paragraphs, lines or words where it can, never inside a
// surrogate pair, and with code fences closed at the end of one part and opened again in the next. Nothing else is added,
// and nothing but white space at a cut is lost.

/** A code fence as CommonMark reads it: its marks, and what stands behind them. */
type Fence = { readonly mark: string; readonly info: string };

/** How large a part is where it is shown. It should grow with the text, though it need not do so at every letter. */
export type Measure = (part: string) => number;

/**
 * Parts of markdown, each at most `max` large by `measure`, which is its length unless something else is said. Where even a
 * single letter is larger than that, it stands alone.
 */
export function toParts(text: string, max: number, measure?: Measure): readonly string[] {
  return [...cuts(text, max, measure)];
}

/** The same, or null as soon as there are more than `most` parts: then it is better sent as a file. */
export function toFewParts(text: string, max: number, most: number, measure?: Measure): readonly string[] | null {
  const parts: string[] = [];
  for (const part of cuts(text, max, measure)) {
    if (parts.push(part) > most) return null;
  }
  return parts;
}

function* cuts(text: string, max: number, measure: Measure | undefined): Generator<string, void> {
  let rest = text;
  let reopen = "";
  let guess = max;
  let isEmpty = true;
  while (!fits(reopen + rest, max, isEmpty ? 8 * max : 1.5 * guess, measure)) {
    const cut =
      measure === undefined ? cutByLength(reopen, rest, max) : cutByMeasure(reopen, rest, max, measure, guess);
    rest = rest.slice(cut.taken).replace(/^\n/, "");
    reopen = cut.fence === null ? "" : `${cut.fence.mark}${cut.fence.info}\n`;
    guess = cut.room;
    if (cut.part === "") continue;
    isEmpty = false;
    yield cut.part;
  }
  if (rest !== "" || isEmpty) yield rest === "" ? "" : reopen + rest;
}

/** Texts are drawn only when they have a chance: drawing the rest again for every part would take for ever. */
function fits(text: string, max: number, chance: number, measure: Measure | undefined): boolean {
  if (measure === undefined) return text.length <= max;
  return text === "" || (text.length <= chance && measure(text) <= max);
}

type CutOff = {
  readonly part: string;
  readonly taken: number;
  readonly fence: Fence | null;
  /** Letters that were tried for it. */
  readonly room: number;
};

/** One part from the beginning of the rest, with room for the line that closes a fence still open at its end. */
function cutByLength(reopen: string, rest: string, max: number): CutOff {
  let closing = 0;
  for (let room = max - reopen.length; room >= enough(max); room = max - reopen.length - closing) {
    const cut = cutAfter(reopen, rest, room);
    if (cut.part.length <= max) return cut;
    closing = Math.max(closing + 1, (cut.fence?.mark.length ?? 0) + 1);
  }
  return cutBare(rest, max);
}

/**
 * The same where only drawing it tells the size: from how large the letters drawn so far became it is guessed how many
 * would fit, until what could be gained is not worth another drawing.
 */
function cutByMeasure(reopen: string, rest: string, max: number, measure: Measure, guess: number): CutOff {
  let room = Math.max(2, Math.min(guess, rest.length));
  let best: CutOff | null = null;
  let over = rest.length + 1;
  for (let draws = 1; ; draws++) {
    const cut = cutAfter(reopen, rest, room);
    const size = measure(cut.part);
    const wished = Math.floor((0.98 * max * cut.part.length) / Math.max(1, size)) - reopen.length;
    if (size <= max) {
      best = cut;
      const next = Math.min(wished, over - 1, rest.length, 8 * room);
      if (draws >= 6 || next < room * 1.1) return best;
      room = next;
    } else {
      over = room;
      if (best !== null && (draws >= 6 || over < best.room * 1.1)) return best;
      if (room <= 2) return cutSmall(rest, max, measure);
      // A guess that was wrong is not trusted for long.
      const low = best?.room ?? 2;
      const isNear = wished > low && wished < room && draws < 4;
      room = Math.max(low, isNear ? wished : (best === null ? room : low + room) >> 1);
    }
  }
}

function cutAfter(reopen: string, rest: string, room: number): CutOff {
  const head = rest.slice(0, cutAt(rest, room));
  const fence = openFence(reopen + head);
  const body = (reopen + head).replace(/\n$/, "");
  return { part: fence === null ? body : `${body}\n${fence.mark}`, taken: head.length, fence, room };
}

/** Fence lines as long as a part leave no room for code: it goes on as plain text. */
function cutBare(rest: string, room: number): CutOff {
  const head = rest.slice(0, cutAt(rest, room));
  return { part: head.replace(/\n$/, ""), taken: head.length, fence: null, room };
}

function cutSmall(rest: string, max: number, measure: Measure): CutOff {
  const least = isHigh(rest.charCodeAt(0)) ? 2 : 1;
  for (let room = Math.max(least, max); ; room = Math.max(least, room >> 1)) {
    const cut = cutBare(rest, room);
    if (room === least || measure(cut.part) <= max) return cut;
  }
}

/** A part of which less than this is left for the text itself is not worth its fences. */
function enough(max: number): number {
  return Math.max(2, max / 4);
}

function cutAt(text: string, room: number): number {
  for (const mark of ["\n\n", "\n", " "]) {
    const at = text.lastIndexOf(mark, room - mark.length);
    if (at <= room / 2) continue;
    return mark === " " ? beforeSpan(text, at + mark.length, room) : at + mark.length;
  }
  return betweenLetters(text, room);
}

/** Where `**bold words**`, `code` or a link of this line would be torn, the place before them, unless it is far away. */
function beforeSpan(text: string, at: number, room: number): number {
  const line = text.lastIndexOf("\n", at - 1) + 1;
  const begun = line + openSpan(text.slice(line, at));
  return begun > room / 2 && begun < at ? begun : at;
}

const spanMarks = /`+|\*\*|__|~~|\[|\]\([^()\s]*\)|\](?!\()/g;

/** Where the first span begins that is not closed, or the length of the text. */
function openSpan(text: string): number {
  const open: { readonly mark: string; readonly at: number }[] = [];
  for (const { 0: mark, index: at } of text.matchAll(spanMarks)) {
    const wanted = mark.startsWith("]") ? "[" : mark;
    const inCode = open.findIndex((one) => one.mark.startsWith("`"));
    if (inCode >= 0 && open[inCode]?.mark !== mark) continue;
    const known = mark === "[" ? -1 : open.findLastIndex((one) => one.mark === wanted);
    if (known >= 0) open.length = known;
    else if (!mark.startsWith("]")) open.push({ mark, at });
    if (open.length > 50) return text.length;
  }
  return open[0]?.at ?? text.length;
}

/** What people see as one letter may be many, and is not searched for any further back than this. */
const letterMax = 40;

/** Between two letters as people see them, or at least not inside a surrogate pair. */
function betweenLetters(text: string, room: number): number {
  if (room >= text.length) return text.length;
  const from = Math.max(0, room - letterMax);
  const around = text.slice(from, room + letterMax);
  if (!/^[\n -~]*$/.test(around)) {
    const letters = new Intl.Segmenter(undefined, { granularity: "grapheme" });
    const at = from + (letters.segment(around).containing(room - from)?.index ?? 0);
    if (at > room / 2 && at > from) return at;
  }
  return isLow(text.charCodeAt(room)) && isHigh(text.charCodeAt(room - 1)) && room > 1 ? room - 1 : room;
}

const isHigh = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLow = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

function openFence(text: string): Fence | null {
  let open: Fence | null = null;
  for (const [, mark = "", info = ""] of text.matchAll(/^ {0,3}(`{3,}|~{3,})(.*)$/gm)) {
    if (open !== null) open = mark.startsWith(open.mark) && info.trim() === "" ? null : open;
    else if (!(mark.startsWith("`") && info.includes("`"))) open = { mark, info };
  }
  return open;
}
