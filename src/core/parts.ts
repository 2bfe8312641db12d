// Cuts a long answer into parts that a platform takes: at paragraphs, lines or words where it can, never inside a
// surrogate pair, and with code fences closed at the end of one part and opened again in the next.

/** A code fence as CommonMark reads it: its marks, and what stands behind them. */
type Fence = { readonly mark: string; readonly info: string };

export function toParts(text: string, textMax: number): readonly string[] {
  const parts: string[] = [];
  let rest = text;
  let reopen = "";
  while (reopen.length + rest.length > textMax) {
    const cut = cutOff(reopen, rest, textMax);
    rest = rest.slice(cut.taken).replace(/^\n/, "");
    reopen = cut.fence === null ? "" : `${cut.fence.mark}${cut.fence.info}\n`;
    if (cut.part !== "") parts.push(cut.part);
  }
  if (rest !== "") parts.push(reopen + rest);
  return parts.length === 0 ? [""] : parts;
}

type CutOff = { readonly part: string; readonly taken: number; readonly fence: Fence | null };

/** One part from the beginning of the rest, with room for the line that closes a fence still open at its end. */
function cutOff(reopen: string, rest: string, textMax: number): CutOff {
  let closing = 0;
  for (let room = textMax - reopen.length; room >= enough(textMax); room = textMax - reopen.length - closing) {
    const head = rest.slice(0, cutAt(rest, room));
    const fence = openFence(reopen + head);
    const body = (reopen + head).replace(/\n$/, "");
    const part = fence === null ? body : `${body}\n${fence.mark}`;
    if (part.length <= textMax) return { part, taken: head.length, fence };
    closing = Math.max(closing + 1, (fence?.mark.length ?? 0) + 1);
  }
  // Fence lines as long as a part leave no room for code: it goes on as plain text.
  const head = rest.slice(0, cutAt(rest, textMax));
  return { part: head.replace(/\n$/, ""), taken: head.length, fence: null };
}

/** A part of which less than this is left for the text itself is not worth its fences. */
function enough(textMax: number): number {
  return Math.max(2, textMax / 4);
}

function cutAt(text: string, room: number): number {
  for (const mark of ["\n\n", "\n", " "]) {
    const at = text.lastIndexOf(mark, room - mark.length);
    if (at > room / 2) return at + mark.length;
  }
  const last = text.charCodeAt(room - 1);
  return last >= 0xd800 && last <= 0xdbff && room > 1 ? room - 1 : room;
}

function openFence(text: string): Fence | null {
  let open: Fence | null = null;
  for (const line of text.split("\n")) {
    const [, mark, info = ""] = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (mark === undefined) continue;
    if (open !== null) open = mark.startsWith(open.mark) && info.trim() === "" ? null : open;
    else if (!(mark.startsWith("`") && info.includes("`"))) open = { mark, info };
  }
  return open;
}
