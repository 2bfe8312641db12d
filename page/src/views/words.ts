// Times, sizes and directions as people read them, in the reader's own zone and habit.

const dayMs = 86_400_000;

export function timeOfDay(at: number): string {
  return new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" }).format(at);
}

export function fullTime(at: number): string {
  return new Intl.DateTimeFormat(undefined, { dateStyle: "full", timeStyle: "medium" }).format(at);
}

export function dayOf(at: number): string {
  return new Date(at).toDateString();
}

export function dayName(at: number, now: number): string {
  if (dayOf(at) === dayOf(now)) return "Today";
  if (dayOf(at) === dayOf(now - dayMs)) return "Yesterday";
  const year = new Date(at).getFullYear() === new Date(now).getFullYear() ? {} : { year: "numeric" as const };
  return new Intl.DateTimeFormat("en", { weekday: "long", day: "numeric", month: "long", ...year }).format(at);
}

/** Short enough for the list of conversations. */
export function recent(at: number, now: number): string {
  const ago = now - at;
  if (ago < 60_000) return "now";
  if (ago < 3_600_000) return `${Math.floor(ago / 60_000)} min`;
  if (dayOf(at) === dayOf(now)) return timeOfDay(at);
  if (ago < 6 * dayMs) return new Intl.DateTimeFormat("en", { weekday: "short" }).format(at);
  return new Intl.DateTimeFormat("en", { day: "numeric", month: "short" }).format(at);
}

/** By the first letter that has a direction. The browser's own `auto` takes seconds in a field of many lines. */
export function directionOf(text: string): "ltr" | "rtl" {
  const letter = /\p{L}/u.exec(text.slice(0, 2_000))?.[0] ?? "";
  return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]|[\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u.test(letter)
    ? "rtl"
    : "ltr";
}

export function sizeOf(characters: number): string {
  if (characters < 950_000) return `${Math.round(characters / 1_000)} thousand characters`;
  return `${(characters / 1_000_000).toFixed(1)} million characters`;
}
