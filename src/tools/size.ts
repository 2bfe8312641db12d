// How many bytes something has, as people read it. Pure.

export function sizeText(bytes: number): string {
  if (bytes < 10_000) return `${bytes} bytes`;
  return bytes < 10_000_000 ? `${Math.round(bytes / 1000)} kB` : `${Math.round(bytes / 1_000_000)} MB`;
}
