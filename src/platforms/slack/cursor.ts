// The place in Slack's stream, as it is stored with every message. Slack has no stream to go back in, only the pasts of
// conversations: up to the moment `at` everything is stored, so whatever is later is looked for after a gap. Pure.

import type { Instant } from "../../core/ids.ts";

/** Moments are Slack's own: seconds with six digits behind the point, which sort as texts. */
export type Place = {
  /** Before this we were not there, and nothing is looked for. */
  readonly born: string;
  readonly at: string;
  /** Conversations, the one heard last at the end; they are looked at first. */
  readonly recent: readonly string[];
  /** Threads we take part in, the one heard last at the end: their names, and whether all in them is meant for us. */
  readonly threads: readonly (readonly [name: string, isOurs: boolean])[];
};

const recentMax = 50;
const threadsMax = 100;
/** Events are not strictly in order; so much before the place is looked at again. Keys make that harmless. */
const overlapSeconds = 60;

export function momentOf(at: Instant): string {
  return `${Math.floor(at / 1_000)}.${String(at % 1_000).padStart(3, "0")}000`;
}

export function instantOf(ts: string): Instant {
  return Math.round(Number(ts) * 1_000) as Instant;
}

export function earlier(ts: string, seconds: number): string {
  const [whole = "0", rest = "000000"] = ts.split(".");
  return `${String(Math.max(0, Number(whole) - seconds)).padStart(10, "0")}.${rest}`;
}

/** A place that cannot be read is none: better to begin anew than never to begin. */
export function readPlace(from: string | null, now: Instant): Place {
  const fresh = { born: momentOf(now), at: momentOf(now), recent: [], threads: [] };
  if (from === null) return fresh;
  try {
    const { born, at, recent, threads } = JSON.parse(from) as Partial<Record<keyof Place, unknown>>;
    if (typeof born !== "string" || typeof at !== "string") return fresh;
    return { born, at, recent: Array.isArray(recent) ? recent : [], threads: Array.isArray(threads) ? threads : [] };
  } catch (error) {
    if (error instanceof SyntaxError) return fresh;
    throw error;
  }
}

export function writePlace(place: Place): string {
  return JSON.stringify(place);
}

/** From here on the past is looked at. */
export function since({ born, at }: Place): string {
  const back = earlier(at, overlapSeconds);
  return back > born ? back : born;
}

export function threadName(conversation: string, thread: string): string {
  return `${conversation}:${thread}`;
}

export function isOurs({ threads }: Place, name: string): boolean {
  return threads.some(([one, ours]) => one === name && ours);
}

/** Threads of a conversation that are known. */
export function threadsIn({ threads }: Place, conversation: string): readonly string[] {
  const start = `${conversation}:`;
  return threads.flatMap(([name]) => (name.startsWith(start) ? [name.slice(start.length)] : []));
}

type Heard = { readonly conversation: string; readonly thread?: string; readonly isOurs?: boolean };

/** Somebody spoke there. */
export function heard(place: Place, { conversation, thread, isOurs: ours = false }: Heard): Place {
  const recent = [...place.recent.filter((one) => one !== conversation), conversation].slice(-recentMax);
  if (thread === undefined) return { ...place, recent };
  const name = threadName(conversation, thread);
  const known = place.threads.find(([one]) => one === name)?.[1] ?? false;
  const others = place.threads.filter(([one]) => one !== name);
  return { ...place, recent, threads: [...others, [name, known || ours] as const].slice(-threadsMax) };
}

/** Forward to what was seen last, but never past what is not stored yet. */
export function moved(place: Place, seen: string, open: Iterable<string>): Place {
  let at = seen;
  for (const ts of open) if (ts < at) at = ts;
  return at > place.at ? { ...place, at } : place;
}
