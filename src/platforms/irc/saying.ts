// Says lines to somebody at the pace of the network, with a ping behind them: what the server refused until it answered that
// was refused of these lines.

import { createHash } from "node:crypto";
import { orAborted } from "../../core/running/aborted.ts";
import type { Connection } from "./api.ts";
import type { Refused } from "./faults.ts";

/** Whoever waits for the server to come to this token. */
export type Pings = Map<string, { readonly target: string; readonly refused: Refused[]; readonly done: () => void }>;

type Speaking = { readonly connection: Connection; readonly pings: Pings };

type Words = {
  readonly target: string;
  readonly lines: readonly string[];
  readonly token: string;
  /** Waits until one more line may be said. */
  readonly turn: (signal: AbortSignal) => Promise<void>;
};

export type Told = {
  readonly token: string;
  readonly said: number;
  readonly refused: readonly Refused[];
  /** The server has come to the ping behind the lines. */
  readonly isAnswered: boolean;
};

export async function utter(now: Speaking, { target, lines, token, turn }: Words, ends: AbortSignal): Promise<Told> {
  const refused: Refused[] = [];
  const answered = new Promise<void>((done) => now.pings.set(token, { target, refused, done }));
  let said = 0;
  for (const line of lines) {
    await turn(ends);
    if (ends.aborted) break;
    now.connection.write(`PRIVMSG ${target} :${line}`);
    said++;
  }
  if (!ends.aborted) now.connection.write(`PING :${token}`);
  const isAnswered = await orAborted(answered, ends).then(
    () => true,
    () => false,
  );
  now.pings.delete(token);
  return { token, said, refused, isAnswered };
}

export function tokenOf(item: string, id: string): string {
  return createHash("sha256").update(`${item} ${id}`).digest("base64url").slice(0, 20);
}
