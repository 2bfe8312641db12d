// Says lines to a target at the pace of the network, piece by piece. Behind each piece goes a ping: when the server answers
// it, it has taken the lines before, except those that it refused meanwhile. Where the server echoes our own lines, each echo
// is such an answer. What is taken is stored before the next piece leaves, so no break and no kill repeats it.

import { createHash } from "node:crypto";
import { later } from "../../core/ids.ts";
import type { SendResult } from "../../core/outbox.ts";
import { orAborted } from "../../core/running/aborted.ts";
import type { Confirm } from "../../ports/platform.ts";
import type { World } from "../../ports/world.ts";
import type { Connection } from "./api.ts";
import { type Refused, away, broken, plainAgain, resultOf } from "./faults.ts";
import { type LineRange, piecesLeft, receiptOf, takenLines } from "./outbound.ts";

/** What the server says about lines to a target until it comes to a token. */
export type Waiting = {
  readonly target: string;
  readonly refused: Refused[];
  readonly done: () => void;
  readonly echoed?: (text: string) => void;
};
export type Pings = Map<string, Waiting>;

type Speaking = { readonly connection: Connection; readonly pings: Pings; readonly gone: AbortController };

export type Words = {
  readonly item: string;
  readonly target: string;
  readonly lines: readonly string[];
  /** Receipts of an earlier attempt. */
  readonly receipts: readonly string[];
  /** Waits until one more line may be said. */
  readonly turn: (signal: AbortSignal) => Promise<void>;
  readonly confirm: Confirm;
  readonly world: Pick<World, "now" | "sleep" | "id" | "log">;
};

/** So many lines may be uncertain at a time. */
const pieceMax = 5;
/** A server that does not answer a ping in this time is left: the socket may look open for minutes. */
const answerMs = 20_000;

export async function sayLines(now: Speaking, words: Words, signal: AbortSignal): Promise<SendResult> {
  const { lines, target, receipts, world } = words;
  const ends = AbortSignal.any([signal, now.gone.signal]);
  const taken = new Set(takenLines(receipts, lines.length));
  let token = "";
  for (const piece of piecesLeft(lines.length, taken, pieceMax)) {
    token = tokenOf(words.item, world.id());
    const told = await sayPiece(now, words, { piece, token, taken }, ends);
    if (!told.isAnswered) return told.said === 0 ? away : broken;
    const result = resultOf(told.refused, told.said, token, target);
    if (result.type === "retry" || (result.type === "refused" && taken.size === 0)) return result;
    if (told.refused.length > 0)
      world.log("warn", `irc: ${target} did not get ${told.refused.length} of ${told.said} lines`, {
        why: told.refused[0]?.why,
      });
    await noteTaken(words, taken, piece);
  }
  return { type: "accepted", remoteId: token === "" ? (receipts.at(-1) ?? words.item) : token };
}

/** The last receipt is the end of the item itself. */
async function noteTaken({ lines, confirm }: Words, taken: Set<number>, range: LineRange): Promise<void> {
  const before = taken.size;
  for (let n = range.from; n <= range.to; n++) taken.add(n);
  if (taken.size > before && taken.size < lines.length) await confirm(receiptOf(range, lines.length));
}

type Told = {
  readonly said: number;
  readonly refused: readonly Refused[];
  /** The server has come to the ping behind the lines. */
  readonly isAnswered: boolean;
};

type Piece = { readonly piece: LineRange; readonly token: string; readonly taken: Set<number> };

async function sayPiece(now: Speaking, words: Words, part: Piece, ends: AbortSignal): Promise<Told> {
  const { piece, token, taken } = part;
  const lines = words.lines.slice(piece.from, piece.to + 1);
  let storing: Promise<void> = Promise.resolve();
  const isEchoed = lines.map(() => false);
  const echoed = (text: string): void => {
    const n = lines.findIndex((line, at) => line === text && isEchoed[at] === false);
    if (n < 0) return;
    isEchoed[n] = true;
    const at = piece.from + n;
    storing = storing.then(() => noteTaken(words, taken, { from: at, to: at }));
    // Its failure is seen where all receipts are awaited.
    void Promise.allSettled([storing]);
  };
  const told = await utter(now, words, { lines, token, echoed }, ends);
  await storing;
  const again = told.isAnswered ? plainAgain(told.refused, lines) : [];
  if (again.length === 0) return told;
  return { ...(await utter(now, words, { lines: again, token }, ends)), said: told.said };
}

type Utterance = { readonly lines: readonly string[]; readonly token: string } & Pick<Waiting, "echoed">;

async function utter(
  now: Speaking,
  words: Words,
  { token, lines, ...more }: Utterance,
  ends: AbortSignal,
): Promise<Told> {
  const { target, turn, world } = words;
  const refused: Refused[] = [];
  const answered = new Promise<void>((done) => now.pings.set(token, { target, refused, done, ...more }));
  let said = 0;
  for (const line of lines) {
    await turn(ends);
    if (ends.aborted) break;
    now.connection.write(`PRIVMSG ${target} :${line}`);
    said++;
  }
  if (!ends.aborted) now.connection.write(`PING :${token}`);
  const isAnswered = await withLimit(now, answered, world, ends);
  now.pings.delete(token);
  return { said, refused, isAnswered };
}

/** Whether the server answers in time; one that does not is left. */
async function withLimit(
  { connection }: Pick<Speaking, "connection">,
  answered: Promise<void>,
  world: Pick<World, "now" | "sleep">,
  ends: AbortSignal,
): Promise<boolean> {
  const over = new AbortController();
  const limit = world.sleep(later(world.now(), answerMs), AbortSignal.any([ends, over.signal])).then(() => false);
  const isAnswered = await Promise.race([
    orAborted(answered, ends).then(
      () => true,
      () => false,
    ),
    limit,
  ]);
  if (!isAnswered && !ends.aborted) connection.close();
  over.abort();
  return isAnswered;
}

/** A harmless question, to know whether the server still answers. */
export async function ask(now: Speaking, token: string, signal: AbortSignal): Promise<void> {
  const answered = new Promise<void>((done) => now.pings.set(token, { target: "", refused: [], done }));
  now.connection.write(`PING :${token}`);
  try {
    await orAborted(answered, AbortSignal.any([signal, now.gone.signal]));
  } finally {
    now.pings.delete(token);
  }
}

export function tokenOf(item: string, id: string): string {
  return createHash("sha256").update(`${item} ${id}`).digest("base64url").slice(0, 20);
}
