// What a command said, as text that a model can read and a store can keep: without colours, cursor movements and other
// control characters, lines as they would stand on a screen at last. Pure.

/** Colours and cursor (CSI), titles and links (OSC), device strings, and single escapes. */
const escapes = new RegExp(
  [
    String.raw`\u001b\[[0-?]*[ -/]*[@-~]`,
    String.raw`\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?`,
    String.raw`\u001b[PX^_][^\u001b]*(?:\u001b\\)?`,
    String.raw`\u001b[ -/]*[0-~]`,
  ].join("|"),
  "g",
);
/** All that cannot be seen but tabs, ends of lines, and what writes over what stands there. */
const controls = new RegExp(String.raw`[\u0000-\u0007\u000b\u000c\u000e-\u001f\u007f-\u009f]`, "g");

export function cleaned(text: string): string {
  return text
    .replaceAll(escapes, "")
    .replaceAll(controls, "")
    .replaceAll(/\r+\n/g, "\n")
    .split("\n")
    .map((line) => (line.includes("\b") || line.includes("\r") ? asShown(line) : line))
    .join("\n");
}

/** A line that was written over: what came last stands in front, and a backspace takes one character back. */
function asShown(line: string): string {
  let shown = "";
  for (const pass of line.split("\r")) {
    let written = "";
    for (const sign of pass) written = sign === "\b" ? written.slice(0, -1) : written + sign;
    // A shorter line over a longer one leaves the rest of that.
    if (written !== "") shown = written + shown.slice(written.length);
  }
  return shown;
}

/** Whether it is anything but text. What was cut in the middle of a character at either end does not count. */
export function isBinary(bytes: Uint8Array): boolean {
  if (bytes.length === 0) return false;
  if (bytes.includes(0)) return true;
  const text = new TextDecoder().decode(bytes);
  const odd = text.match(/\ufffd/g)?.length ?? 0;
  return odd > 8 && odd > text.length / 20;
}

/** Bytes as text; half characters at a cut are left out. */
export function decoded(bytes: Uint8Array, cut: { readonly front: boolean; readonly back: boolean }): string {
  let text = new TextDecoder().decode(bytes);
  if (cut.front) text = text.replace(/^\ufffd{1,3}/, "");
  if (cut.back) text = text.replace(/\ufffd$/, "");
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
