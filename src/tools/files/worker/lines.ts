// Some lines out of a file of any size, in memory that depends on what is wanted alone.

export type Wanted = {
  /** The first line is 1. */
  readonly from: number;
  readonly count: number;
  /** Bytes of all lines together, and of one. */
  readonly bytesMax: number;
  readonly lineMax: number;
};

export type Line = { readonly n: number; readonly text: string; readonly cut: boolean };

export type Lines = {
  readonly lines: readonly Line[];
  /** Lines seen at all. */
  readonly seen: number;
  /** Something was not UTF-8 and is shown by a sign in its place. */
  readonly damaged: boolean;
};

export async function takeLines(pieces: AsyncIterable<Buffer>, wanted: Wanted): Promise<Lines> {
  const lines: Line[] = [];
  let [n, held, size, taken, damaged, open]: [number, Buffer[], number, number, boolean, boolean] = [
    1,
    [],
    0,
    0,
    false,
    false,
  ];

  const isWanted = (): boolean => n >= wanted.from && lines.length < wanted.count && taken < wanted.bytesMax;
  const keep = (part: Buffer): void => {
    open ||= part.length > 0;
    if (!isWanted()) return;
    const room = wanted.lineMax - held.reduce((sum, one) => sum + one.length, 0);
    if (room > 0) held.push(Buffer.from(part.subarray(0, room)));
    size += part.length;
  };
  const end = (): void => {
    if (isWanted()) {
      const raw = Buffer.concat(held);
      const cut = size > raw.length;
      const text = readable(raw, cut);
      damaged ||= text.includes("\ufffd");
      lines.push({ n, text: text.endsWith("\r") ? text.slice(0, -1) : text, cut });
      taken += raw.length + 1;
    }
    [n, held, size, open] = [n + 1, [], 0, false];
  };

  for await (const piece of pieces) {
    let at = 0;
    for (let next = piece.indexOf(10); next !== -1; next = piece.indexOf(10, at)) {
      keep(piece.subarray(at, next));
      end();
      at = next + 1;
    }
    keep(piece.subarray(at));
  }
  if (open) end();
  return { lines, seen: n - 1, damaged };
}

/** A line that was cut may end in the middle of a character; that part is left away, and is no damage. */
function readable(raw: Buffer, cut: boolean): string {
  return new TextDecoder().decode(raw, { stream: cut });
}
