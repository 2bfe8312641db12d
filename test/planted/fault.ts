// A planted fault removes the behavior of one row of the checklist from the product. A row whose tests do not notice that is
// not proved by them: they assert a fake of their own, or nothing.

export type PlantedFault = {
  readonly file: string;
  /** Stands exactly once in the file. */
  readonly find: string;
  readonly replace: string;
  /** Looked for only by test files whose path begins so; otherwise by all that start no real gateway. */
  readonly by?: string;
};

/** The text with the fault in it. */
export function planted(text: string, { file, find, replace }: PlantedFault): string {
  const pieces = text.split(find);
  if (pieces.length !== 2) throw new Error(`${file} has ${pieces.length - 1} places that read: ${find}`);
  return pieces.join(replace);
}

/** Short for a table. */
export function fault(file: string, find: string, replace: string, by?: string): PlantedFault {
  return { file: `src/${file}`, find, replace, ...(by === undefined ? {} : { by }) };
}
