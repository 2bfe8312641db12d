// Cuts a long answer into parts that a platform takes: at paragraphs, lines or words where it can, never inside a
// surrogate pair, and with code fences closed at the end of one part and opened again in the next.

const fenceLine = /^ {0,3}(```+|~~~+)([^\n]*)$/;

export function toParts(text: string, textMax: number): readonly string[] {
  if (text.length <= textMax) return [text];
  const parts: string[] = [];
  let rest = text;
  let reopen = "";
  while (reopen.length + rest.length > textMax) {
    const room = Math.max(1, textMax - reopen.length - closingRoom);
    const head = rest.slice(0, cutAt(rest, room));
    rest = rest.slice(head.length).replace(/^\n/, "");
    const fence = openFence(reopen + head);
    const body = (reopen + head).replace(/\n$/, "");
    parts.push(fence === null ? body : `${body}\n${fence.mark}`);
    reopen = fence === null ? "" : `${fence.mark}${fence.info}\n`;
    // A fence line longer than a whole part could never be reopened; then the code goes on as plain text.
    if (reopen.length + closingRoom >= textMax) reopen = "";
  }
  if (rest !== "") parts.push(reopen + rest);
  return parts;
}

/** Room kept for the line that closes a fence. */
const closingRoom = 8;

function cutAt(text: string, room: number): number {
  for (const mark of ["\n\n", "\n", " "]) {
    const at = text.lastIndexOf(mark, room - mark.length);
    if (at > room / 2) return at + mark.length;
  }
  const high = text.charCodeAt(room - 1);
  return high >= 0xd800 && high <= 0xdbff && room > 1 ? room - 1 : room;
}

function openFence(text: string): { readonly mark: string; readonly info: string } | null {
  let open: { mark: string; info: string } | null = null;
  for (const line of text.split("\n")) {
    const found = fenceLine.exec(line);
    if (found === null) continue;
    const mark = (found[1] ?? "").slice(0, 3);
    if (open === null) open = { mark, info: found[2] ?? "" };
    else if (open.mark === mark) open = null;
  }
  return open;
}
