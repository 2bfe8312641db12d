// A chat whose lines come from a file or another program: one line is sent, its answer is printed, then the next.
// Answers go to standard output and nothing else does. Ends after the answer to the last line.

import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { Fault } from "../../core/fault.ts";
import type { Message } from "../../core/message.ts";
import type { Client } from "../../control/client.ts";
import type { TurnReply } from "../../control/protocol.ts";
import { type Output, plainText } from "../print.ts";
import { type FeedEvent, rest } from "./feed.ts";
import type { Sender } from "./sender.ts";

export type Piped = {
  told(event: FeedEvent): void;
  /** Sends everything there is to send; resolves with the exit code. */
  run(lines: Readable): Promise<number>;
};

/** `lookMs`: how often the gateway is asked what became of a turn whose answer does not come. */
export function piped(
  connect: () => Client,
  sender: Sender,
  output: Output,
  signal: AbortSignal,
  lookMs = 1_000,
): Piped {
  const live = Promise.withResolvers<void>();
  let isLive = false;
  /** Turn of each of our lines, by the line's id. */
  const turns = new Map<string, string>();
  const answered = new Set<string>();
  let changed = Promise.withResolvers<void>();

  function take(message: Message): void {
    if (!isLive) return;
    if (message.role === "user") {
      if (message.turn !== null && sender.sent(message.key)) {
        turns.set(message.key, message.turn);
        answered.delete(message.turn);
      }
    } else {
      output.out(messageText(message));
      if (message.turn !== null) answered.add(message.turn);
    }
    changed.resolve();
    changed = Promise.withResolvers<void>();
  }

  /** Some turns end without a message of their own: cancelled, or answered by the one before. */
  async function hasEnded(turn: string): Promise<boolean> {
    try {
      const { turn: found, items } = await connect().get<TurnReply>(`/api/turns/${turn}`);
      return found.state === "done" && items.length === 0;
    } catch (error) {
      if (error instanceof Fault) return false;
      throw error;
    }
  }

  async function answerTo(id: string): Promise<void> {
    while (!signal.aborted) {
      const turn = turns.get(id);
      if (turn !== undefined && answered.has(turn)) return;
      const waited = new AbortController();
      const news = changed.promise.then(() => "news" as const);
      const first = await Promise.race([news, rest(lookMs, waited.signal)]);
      waited.abort();
      if (first !== "news" && turn !== undefined && (await hasEnded(turn))) return;
    }
  }

  return {
    told(event) {
      if (event.type === "message") take(event.message);
      if (event.type === "away") output.err("gateway is away, waiting…");
      if (event.type === "back") output.err("back");
      if (event.type !== "live") return;
      isLive = true;
      live.resolve();
    },
    async run(lines) {
      await live.promise;
      let code = 0;
      for await (const line of createInterface({ input: lines, crlfDelay: Number.POSITIVE_INFINITY })) {
        if (line.trim() === "") continue;
        const sent = await sender.send(line);
        if (sent.result === "stored") await answerTo(sent.id);
        else {
          output.err(`Not sent: ${sent.why}`);
          code = 1;
        }
      }
      return code;
    },
  };
}

/** What was said, with the choices of a question numbered: typing the number answers it. */
export function messageText(message: Message): string {
  const choices = message.question?.choices.map((one, i) => `\n  ${i + 1}) ${plainText(one)}`).join("") ?? "";
  return `${plainText(message.text)}${choices}`;
}
