// What a command said, as text that a model can read and a store can keep: without colours, cursor movements and other
// control characters, lines as they would stand on a screen at last. Pure.

/**
 * Colours and cursor (CSI), titles and links (OSC), device strings, and single escapes; then all else that cannot be seen
 * but tabs, ends of lines, and what writes over what stands there.
 */
const unseen = new RegExp(
  [
    String.raw`\u001b\[[0-?]*[ -/]*[@-~]`,
    String.raw`\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?`,
    String.raw`\u001b[PX^_][^\u001b]*(?:\u001b\\)?`,
    String.raw`\u001b[ -/]*[0-~]`,
    String.raw`[\u0000-\u0007\u000b\u000c\u000e-\u001f\u007f-\u009f]`,
  ].join("|"),
  "g",
);
/** Marks of our own for what erases, between here and `asShown`: a command that says them is not heard. */
const before = "\u0001";
const behind = "\u0002";
/** The escapes that change what a line says at last. Who erases the screen behind the cursor erases its line first. */
const meanings: ReadonlyMap<string, string> = new Map([
  ["\u001b[K", behind],
  ["\u001b[0K", behind],
  ["\u001b[1K", before],
  ["\u001b[2K", before + behind],
  ["\u001b[J", behind],
  ["\u001b[0J", behind],
  ["\u001b[G", "\r"],
  ["\u001b[0G", "\r"],
  ["\u001b[1G", "\r"],
]);
const writesOver = new RegExp(String.raw`[\u0008\r${before}${behind}]`);

export function cleaned(text: string): string {
  return text
    .replaceAll(unseen, (found) => meanings.get(found) ?? "")
    .split("\n")
    .map((line) => (writesOver.test(line) ? asShown(line) : line))
    .join("\n");
}

/**
 * A line that was written over: what came last stands in front, a backspace takes one character back, and what was erased
 * is gone. Each sign costs the same, however often the line begins anew.
 */
function asShown(line: string): string {
  /** What stands there from before the last return; nothing where it was erased. */
  const stands: string[] = [];
  /** What was written since then, or since it was erased, which was in column `from`. */
  let [from, written]: [number, string[]] = [0, []];
  const settle = (): void => {
    if (written.length > 0) while (stands.length < from) stands.push("");
    for (const [at, sign] of written.entries()) stands[from + at] = sign;
    [from, written] = [0, []];
  };
  for (const sign of line) {
    const cursor = from + written.length;
    if (sign === "\r") settle();
    else if (sign === behind) stands.length = Math.min(stands.length, cursor);
    else if (sign === before) {
      // What stands in front of `from` was erased when it was set.
      stands.fill("", from, cursor + 1);
      [from, written] = [cursor, []];
    } else if (sign !== "\b") written.push(sign);
    else if (written.pop() === undefined) from = Math.max(0, from - 1);
  }
  settle();
  while (stands.at(-1) === "") stands.pop();
  return stands.map((sign) => sign || " ").join("");
}

/** Whether it is anything but text. What was cut in the middle of a character at either end does not count. */
export function isBinary(bytes: Uint8Array): boolean {
  if (bytes.length === 0) return false;
  if (bytes.includes(0)) return true;
  const text = new TextDecoder().decode(bytes);
  const odd = text.match(/\ufffd/g)?.length ?? 0;
  return odd > 8 && odd > text.length / 20;
}

/** The beginning of an escape or of a character, in bytes, right at the end. */
const halves = new RegExp(
  [
    String.raw`\u001b(?:\[[0-?]*[ -/]*)?$`,
    String.raw`[\u00c2-\u00df]$`,
    String.raw`[\u00e0-\u00ef][\u0080-\u00bf]?$`,
    String.raw`[\u00f0-\u00f4][\u0080-\u00bf]{0,2}$`,
  ].join("|"),
);
/** No escape that means anything to us is longer. */
const halfMax = 32;

/** So many bytes at the end are the beginning of what comes next: who reads on begins with them. */
export function unfinished(bytes: Uint8Array): number {
  const end = Buffer.from(bytes.subarray(-halfMax)).toString("latin1");
  return halves.exec(end)?.[0].length ?? 0;
}

/** Bytes as text; half characters and half escapes at a cut are left out. */
export function decoded(bytes: Uint8Array, cut: { readonly front: boolean; readonly back: boolean }): string {
  let text = new TextDecoder().decode(cut.back ? bytes.subarray(0, bytes.length - unfinished(bytes)) : bytes);
  if (cut.front) text = text.replace(/^\ufffd{1,3}/, "");
  return text;
}

/** The last line that says something, for who looks on. */
export function lastLine(text: string, most: number): string | null {
  const line = cleaned(text)
    .split("\n")
    .findLast((one) => one.trim() !== "");
  if (line === undefined) return null;
  const trimmed = line.trim();
  return trimmed.length > most ? `${trimmed.slice(0, most - 1)}…` : trimmed;
}
