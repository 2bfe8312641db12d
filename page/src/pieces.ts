// How much of a text is drawn, and in which pieces, so that a message of a megabyte leaves the page usable. Pure.
// Pieces are cut between paragraphs and outside of code fences; the cost of reading markdown grows faster than
// the text for some inputs, and a limit on the piece is a limit on that cost.

/** Longer texts are folded until the reader asks for all of it: what one typed oneself sooner than an answer. */
export const foldAnswersOver = 40_000;
export const foldTypedOver = 6_000;
/** Beyond this, even the whole text is shown without markdown. */
export const formattedMax = 200_000;
const pieceMax = 16_000;

/** The beginning of a long text, cut at the end of a line where one is near. */
export function previewOf(text: string, foldOver: number): string {
  const cut = text.slice(0, foldOver / 4);
  const line = cut.lastIndexOf("\n");
  return wholeCharacters(line > cut.length / 2 ? cut.slice(0, line) : cut);
}

/** `mark`: how it ended; empty while it runs. */
export type ToolLine = {
  readonly mark: string;
  readonly name: string;
  readonly input: string;
  readonly told: string;
};

/**
 * A preview in two: the words, and the calls behind them. Those are the lines of its last paragraph, as `… tool: input`
 * with a mark for how it ended in place of the dots, each followed by what it last told, set in. The first may say how
 * many there were before.
 */
export function splitPreview(text: string): { readonly words: string; readonly tools: readonly ToolLine[] } {
  const at = text.lastIndexOf("\n\n");
  const lines = text.slice(at === -1 ? 0 : at + 2).split("\n");
  const tools: ToolLine[] = [];
  for (const line of lines) {
    const call = /^([…✓✗?]) ([\w-]{1,64})(?:: (.*))?$/u.exec(line);
    const more = tools.length === 0 ? /^… (and \d+ more before)$/.exec(line) : null;
    const last = tools.at(-1);
    if (more !== null) tools.push({ mark: "…", name: "", input: more[1] ?? "", told: "" });
    else if (call !== null) tools.push(lineOf(call));
    else if (last !== undefined && last.told === "" && line.startsWith("  "))
      tools[tools.length - 1] = { ...last, told: line.trim() };
    else return { words: text, tools: [] };
  }
  return { words: at === -1 ? "" : text.slice(0, at), tools };
}

function lineOf([, mark = "", name = "", input = ""]: readonly string[]): ToolLine {
  return { mark: mark === "…" ? "" : mark, name, input, told: "" };
}

export function piecesOf(text: string): readonly string[] {
  if (text.length <= pieceMax) return [text];
  const pieces: string[] = [];
  let from = 0;
  while (text.length - from > pieceMax) {
    const to = cutAfter(text, from);
    pieces.push(text.slice(from, to));
    from = to;
  }
  if (from < text.length) pieces.push(text.slice(from));
  return pieces;
}

/** The last gap between paragraphs within the limit that is not inside a fence, else the last line, else the limit. */
function cutAfter(text: string, from: number): number {
  const end = from + pieceMax;
  let gap = -1;
  let line = -1;
  let fenced = false;
  for (let at = from; at < end; ) {
    const next = text.indexOf("\n", at);
    if (next === -1 || next >= end) break;
    const start = text.slice(at, Math.min(next, at + 8)).trimStart();
    if (start.startsWith("```") || start.startsWith("~~~")) fenced = !fenced;
    line = next + 1;
    if (!fenced && start === "" && next - at < 8) gap = line;
    at = next + 1;
  }
  if (gap > from) return gap;
  if (line > from) return line;
  return from + wholeCharacters(text.slice(from, end)).length;
}

/** Never ends between the two halves of one character. */
function wholeCharacters(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}
