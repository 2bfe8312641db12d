// A table as text: columns aligned for a block of code, where every character is equally wide.

export type Align = "left" | "center" | "right" | null;

/** Cells are plain words of one line each. Every row has as many as the head. */
export type Table = {
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly align: readonly Align[];
};

/** A column wider than this does not push the others away; its longer cells stick out. */
const columnMax = 40;

export function layOut({ head, rows, align }: Table): string {
  const lines = [head, ...rows];
  const widths = head.map((_, n) => {
    const fitting = lines.map((cells) => widthOf(cells[n] ?? "")).filter((width) => width <= columnMax);
    return fitting.reduce((most, width) => Math.max(most, width), 1);
  });
  const line = (cells: readonly string[]): string =>
    widths
      .map((width, n) => fill(cells[n] ?? "", width, align[n] ?? null))
      .join(" | ")
      .trimEnd();
  return [line(head), widths.map((width) => "-".repeat(width)).join("-+-"), ...rows.map(line)].join("\n");
}

function fill(cell: string, width: number, align: Align): string {
  const free = Math.max(0, width - widthOf(cell));
  const before = align === "right" ? free : align === "center" ? Math.floor(free / 2) : 0;
  return " ".repeat(before) + cell + " ".repeat(free - before);
}

const wide =
  /\p{Emoji_Presentation}|[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60]/u;
const invisible = /[\p{Mn}\p{Me}\p{Cf}]/u;

/** In columns of a terminal: Asian letters and most emoji take two. */
function widthOf(text: string): number {
  let width = 0;
  for (const letter of text) width += invisible.test(letter) ? 0 : wide.test(letter) ? 2 : 1;
  return width;
}
