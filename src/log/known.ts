// Finds many known texts in one long text at once and puts one mask in the place of each. Pure.
// It looks at the last characters of a window and moves by as much as no text could be missed (Wu and Manber's search),
// so a long text in which nothing occurs costs less than reading each of its characters.

/** Characters that are looked at together. */
const block = 3;
const slots = 65_536;

/** `texts` have at least `block` characters each; the answer is the same text when none of them occurs. */
export function masker(texts: readonly string[], mask: string): (text: string) => string {
  const forms = [...new Set(texts)].sort((a, b) => b.length - a.length);
  if (forms.length === 0) return (text) => text;
  const { width, shifts, ends } = tableOf(forms);
  return (text) => {
    let result = "";
    let done = 0;
    for (let end = width - 1; end < text.length; ) {
      const slot = slotAt(text, end);
      const shift = shifts[slot] ?? 1;
      const start = end - width + 1;
      const found = shift > 0 ? undefined : ends.get(slot)?.find((form) => text.startsWith(form, start));
      if (found !== undefined) {
        // One that begins inside another is hidden with it, to its own end.
        if (start >= done) result += text.slice(done, start) + mask;
        done = Math.max(done, start + found.length);
      }
      end += Math.max(shift, 1);
    }
    return done === 0 ? text : result + text.slice(done);
  };
}

type Table = {
  readonly width: number;
  /** How far the window may move when it ends with this; zero where a text may be in it. */
  readonly shifts: Uint8Array;
  /** The texts whose beginning ends with this, the longest first. */
  readonly ends: ReadonlyMap<number, readonly string[]>;
};

function tableOf(forms: readonly string[]): Table {
  const width = Math.min(...forms.map((form) => form.length), 255);
  const shifts = new Uint8Array(slots).fill(width - block + 1);
  const ends = new Map<number, string[]>();
  for (const form of forms) {
    for (let end = block - 1; end < width; end++) {
      const slot = slotAt(form, end);
      shifts[slot] = Math.min(shifts[slot] ?? 0, width - 1 - end);
    }
    const slot = slotAt(form, width - 1);
    ends.set(slot, [...(ends.get(slot) ?? []), form]);
  }
  return { width, shifts, ends };
}

function slotAt(text: string, end: number): number {
  const sum = text.charCodeAt(end) * 961 + text.charCodeAt(end - 1) * 31 + text.charCodeAt(end - 2);
  return sum % slots;
}
