// What was said while we were away, where the server keeps it: first the channels, then everybody who wrote to us, one after
// the other and page by page until nothing comes. Behind each question goes a ping, which the server answers when it has
// told all. Until everything was told our place in the stream must not move: what is not yet told would be lost by a death.
// Pure.

import { type Line, isChannel } from "./lines.ts";

/** One place of which the server is asked; null: who wrote to us. */
type Asking = {
  readonly target: string | null;
  /** What was said after this is asked for. */
  readonly from: string;
  /** The time of the newest line that was told. */
  readonly last: string;
  /** Whether this page has anything. */
  readonly isTold: boolean;
};

export type Playback = {
  /** Where we were. */
  readonly begin: string;
  /** The first is being asked for. */
  readonly waiting: readonly Asking[];
  /** The newest time of anything that was said, told or heard meanwhile. */
  readonly latest: string;
  readonly until: string;
};

export type Page = { readonly playback: Playback; readonly out: readonly string[] };

const mark = "history";
const pageMax = 100;
const targetsMax = 50;

export function replay(channels: readonly string[], from: string, until: string): Page {
  const waiting = [...channels, null].map((target) => since(target, from));
  return asked({ begin: from, waiting, latest: from, until });
}

export function isOver({ waiting }: Playback): boolean {
  return waiting.length === 0;
}

/** Every line of the server, before anything else is done with it. */
export function noted(playback: Playback, { command, params, tags }: Line): Playback {
  if (command === "PRIVMSG" || command === "NOTICE") {
    const time = tags["time"] ?? "";
    const told = "batch" in tags ? raised(playback, time) : playback;
    return time > told.latest ? { ...told, latest: time } : told;
  }
  if (command !== "CHATHISTORY" || params[0] !== "TARGETS") return playback;
  const [, target = "", time = ""] = params;
  const told = raised(playback, time);
  if (isChannel(target) || told.waiting.some((one) => one.target === target)) return told;
  return { ...told, waiting: [...told.waiting, since(target, playback.begin)] };
}

/** The server has come to a ping; null when it is another. */
export function turned(playback: Playback, token: string): Page | null {
  const [now, ...rest] = playback.waiting;
  if (token !== mark || now === undefined) return null;
  const from = now.isTold ? nextOf(now) : null;
  if (from === null) return asked({ ...playback, waiting: rest });
  return asked({ ...playback, waiting: [{ ...now, from, isTold: false }, ...rest] });
}

/**
 * Several lines may have the same time, on both sides of the end of a page: those are asked for again, and what was told
 * before is known. A page that is full of one time is left behind. Null when the server tells what it was not asked for.
 */
function nextOf({ from, last }: Asking): string | null {
  const near = before(last);
  if (near > from) return near;
  return last > from ? last : null;
}

function since(target: string | null, time: string): Asking {
  return { target, from: before(time), last: time, isTold: false };
}

function raised(playback: Playback, time: string): Playback {
  const [now, ...rest] = playback.waiting;
  if (now === undefined) return playback;
  const last = time > now.last ? time : now.last;
  return { ...playback, waiting: [{ ...now, last, isTold: true }, ...rest] };
}

function asked(playback: Playback): Page {
  const [now] = playback.waiting;
  if (now === undefined) return { playback, out: [] };
  const after = `timestamp=${now.from}`;
  const question =
    now.target === null
      ? `CHATHISTORY TARGETS ${after} timestamp=${playback.until} ${targetsMax}`
      : `CHATHISTORY AFTER ${now.target} ${after} ${pageMax}`;
  return { playback, out: [question, `PING :${mark}`] };
}

function before(time: string): string {
  const at = Date.parse(time);
  return Number.isNaN(at) ? time : new Date(at - 1).toISOString();
}
