// What an edit makes of a text. Pure. The old text must be found, and once unless all are meant: an edit in the wrong
// place is worse than none. When it is not found, the error shows what comes near, so that the next attempt is right.

export type Edit = { readonly oldText: string; readonly newText: string; readonly replaceAll: boolean };
export type Edited =
  | { readonly type: "edited"; readonly text: string; readonly lines: readonly number[] }
  | { readonly type: "not-edited"; readonly why: string };

const shownMax = 600;
const placesMax = 10;
/** Places that are compared line by line when nothing is found. */
const comparedMax = 200;

export function applyEdit(text: string, asked: Edit): Edited {
  const edit = withEndings(text, asked);
  if (edit.oldText === edit.newText) return { type: "not-edited", why: "Old and new text are the same." };
  const found = placesOf(text, edit.oldText);
  const [first] = found;
  if (first === undefined) return { type: "not-edited", why: notFound(text, edit) };
  const lines = linesAt(text, found);
  if (found.length > 1 && !edit.replaceAll) {
    const where = lines.slice(0, placesMax).join(", ") + (lines.length > placesMax ? ", …" : "");
    const todo = "give more of the lines around the one you mean, or set replaceAll";
    return { type: "not-edited", why: `The old text occurs ${found.length} times, in lines ${where}; ${todo}.` };
  }
  return { type: "edited", text: text.split(edit.oldText).join(edit.newText), lines };
}

/** Models write \n; a file whose lines all end in \r\n keeps its endings. */
function withEndings(text: string, edit: Edit): Edit {
  const isDos = /\r\n/.test(text) && !/(?<!\r)\n/.test(text) && !edit.oldText.includes("\r");
  if (!isDos) return edit;
  const dos = (lines: string): string => lines.replaceAll(/\r?\n/g, "\r\n");
  return { ...edit, oldText: dos(edit.oldText), newText: dos(edit.newText) };
}

function placesOf(text: string, wanted: string): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, at + wanted.length)) places.push(at);
  return places;
}

/** The numbers of the lines in which these places are, in one walk. */
function linesAt(text: string, places: readonly number[]): readonly number[] {
  let [line, at] = [1, 0];
  return places.map((place) => {
    for (let next = text.indexOf("\n", at); next !== -1 && next < place; next = text.indexOf("\n", at)) {
      line++;
      at = next + 1;
    }
    return line;
  });
}

function notFound(text: string, { oldText, newText }: Edit): string {
  const said = "The old text is not in the file";
  if (/^\s*\d+\t/.test(oldText)) {
    return `${said}. It begins with a line number as read_file shows them; those are not part of the file.`;
  }
  if (newText !== "" && text.includes(newText)) {
    const [line] = linesAt(text, [text.indexOf(newText)]);
    return `${said}, but the new text is, in line ${line}; perhaps it was edited already.`;
  }
  const near = nearest(text, oldText);
  return near === null ? `${said}, nor anything like it; read the file again.` : `${said} as it was given. ${near}`;
}

/** Where the lines are the same but for the space around them, else where the first of them stands. */
function nearest(text: string, wanted: string): string | null {
  const lines = text.split("\n");
  const want = wanted.split("\n").map((line) => line.trim());
  while (want.at(0) === "") want.shift();
  while (want.at(-1) === "") want.pop();
  const [first] = want;
  if (first === undefined) return null;
  const starts = lines.flatMap((line, i) => (line.trim() === first ? [i] : [])).slice(0, comparedMax);
  const compared = starts.map((start) => ({
    start,
    /** How many lines are the same, but for white space. */
    same: want.findIndex((line, i) => (lines[start + i] ?? "").trim() !== line),
  }));
  const all = compared.find(({ same }) => same === -1);
  if (all !== undefined) {
    const there = excerpt(lines, all.start, want.length);
    return `From line ${all.start + 1} on it differs only in white space; there it is:\n${there}`;
  }
  const [best] = compared.toSorted((a, b) => b.same - a.same);
  if (best !== undefined) {
    const there = excerpt(lines, best.start, want.length);
    return `Line ${best.start + 1} begins like it and line ${best.start + best.same + 1} differs; there it is:\n${there}`;
  }
  const inside = first.length < 4 ? -1 : lines.findIndex((line) => line.includes(first));
  return inside === -1 ? null : `Line ${inside + 1} holds its first line:\n${excerpt(lines, inside, want.length)}`;
}

function excerpt(lines: readonly string[], from: number, count: number): string {
  const text = lines.slice(from, from + count).join("\n");
  return text.length <= shownMax ? text : `${text.slice(0, shownMax)} […]`;
}
