// The letters that a text was written in, where only its bytes tell. Pure.

/** By the mark at its beginning; undefined where there is none. */
export function markOf(bytes: Uint8Array): "utf-8" | "utf-16le" | "utf-16be" | undefined {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return "utf-16le";
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return "utf-16be";
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? "utf-8" : undefined;
}

export type Lettered = {
  readonly text: string;
  /** `guessed`: they may be others. `broken`: some are none, and stand as replacement signs. */
  readonly letters: "certain" | "guessed" | "broken";
};

/** What is guessed where a text is not Unicode: a letter for every byte, and what western machines write. */
export const guess = "windows-1252";

/** By its mark, else as UTF-8, else as the guess; null where it is no text in any of them. */
export function readLetters(bytes: Uint8Array): Lettered | null {
  const read = likelyLetters(bytes);
  return read.text.includes("\0") ? null : read;
}

/** The same, whatever it is. */
export function likelyLetters(bytes: Uint8Array): Lettered {
  const mark = markOf(bytes) ?? "utf-8";
  const whole = wholly(bytes, mark);
  if (whole !== null) return { text: whole, letters: "certain" };
  const text = new TextDecoder(mark).decode(bytes);
  // A file with one bad byte is still what all the rest of it says, and another alphabet would spoil that.
  return markOf(bytes) !== undefined || isMostlyRead(text)
    ? { text, letters: "broken" }
    : { text: new TextDecoder(guess).decode(bytes), letters: "guessed" };
}

function wholly(bytes: Uint8Array, letters: string): string | null {
  try {
    return new TextDecoder(letters, { fatal: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return null;
  }
}

/** Whether more letters beyond ASCII could be read than not: other alphabets seldom look like UTF-8 by chance. */
function isMostlyRead(text: string): boolean {
  let [read, not] = [0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0xfffd) not++;
    else if (code > 0x7f) read++;
  }
  return read > not;
}
