// The rows of the checklist that a test proves stand in its title: `S17 S18 …` anywhere in it, or `impossible 1, 3–5: …` at
// its beginning.

export function rowsIn(title: string): readonly string[] {
  const seeds = Array.from(title.matchAll(/\bS(\d{1,3})\b/g), ([, number]) => `S${number}`);
  const listed = /^impossible ([\d\s,–-]+):/.exec(title)?.[1] ?? "";
  const ranges = Array.from(listed.matchAll(/(\d+)(?:\s*[–-]\s*(\d+))?/g), ([, from, to = from]) => {
    const length = Number(to) - Number(from) + 1;
    return Array.from({ length }, (_, i) => `I${Number(from) + i}`);
  });
  return [...seeds, ...ranges.flat()];
}
