// A chat whose lines come from a file or another program: one line is sent, its answer is printed, then the next.
// Answers go to standard output and nothing else does. Ends after the answer to the last line.

import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { Fault } from "../../core/fault.ts";
import type { FileRef, Message } from "../../core/message.ts";
import type { Client } from "../../control/client.ts";
import type { TurnReply } from "../../control/protocol.ts";
import { type Output, plainText } from "../print.ts";
import { choices } from "./choices.ts";
import { type FeedEvent, rest } from "./feed.ts";
import { type FileDesk, fileLabel, readFileOrder } from "./files.ts";
import type { Sender, Sent } from "./sender.ts";

export type Piped = {
  told(event: FeedEvent): void;
  /** Sends everything there is to send; resolves with the exit code. */
  run(lines: Readable): Promise<number>;
};

/** What became of a line that is not for the gateway. */
type Kept = { readonly result: "done" | "failed"; readonly why: string };

/** `lookMs`: how often the gateway is asked what became of a turn whose answer does not come. */
export function piped(
  connect: () => Client,
  sender: Sender,
  output: Output,
  signal: AbortSignal,
  desk: FileDesk,
  lookMs = 1_000,
): Piped {
  const live = Promise.withResolvers<void>();
  let isLive = false;
  /** Turn of each of our lines and when it was stored, by the line's id. */
  const turns = new Map<string, { readonly turn: string; readonly at: number }>();
  const answered = new Set<string>();
  /** What we were told, by the items it was sent as. */
  const heard = new Set<string>();
  const asked = choices();
  let changed = Promise.withResolvers<void>();

  function take(message: Message): void {
    asked.shown(message);
    if (!isLive) return;
    if (message.role === "user") {
      if (message.turn !== null && sender.sent(message.key)) {
        turns.set(message.key, { turn: message.turn, at: message.at });
        answered.delete(message.turn);
      }
    } else {
      output.out(messageText(message, (file) => desk.label(file)));
      heard.add(message.key);
      if (message.turn !== null) answered.add(message.turn);
    }
    changed.resolve();
    changed = Promise.withResolvers<void>();
  }

  /**
   * A turn may say something before it ends, a file for example, and some end without a word of their own. So it is asked:
   * it rests or is over, and everything it said since our line was told here. What it said before may have been told to an
   * earlier chat, such as the question that our line answers.
   */
  async function isOver({ turn, at }: { readonly turn: string; readonly at: number }): Promise<boolean> {
    try {
      const { turn: found, items } = await connect().get<TurnReply>(`/api/turns/${turn}`);
      const rests = found.state === "done" || found.state === "waiting";
      return rests && items.every((item) => item.part > 0 || heard.has(item.id) || item.createdAt < at);
    } catch (error) {
      // What answers a command is no turn.
      if (error instanceof Fault) return answered.has(turn);
      throw error;
    }
  }

  async function answerTo(id: string): Promise<void> {
    while (!signal.aborted) {
      const news = changed.promise;
      const line = turns.get(id);
      if (line !== undefined && (await isOver(line))) return;
      const waited = new AbortController();
      await Promise.race([news, rest(lookMs, waited.signal)]);
      waited.abort();
    }
  }

  async function obey(line: string): Promise<Sent | Kept> {
    try {
      const order = readFileOrder(line);
      if (order === null) return await sender.send(asked.read(line));
      if (order.type === "attach") return await sender.send(order.words, [await desk.attach(order.path)]);
      if (order.type === "wrong") return { result: "failed", why: order.why };
      output.err(`Saved as ${await desk.save(order.number, order.to)}.`);
      return { result: "done", why: "" };
    } catch (error) {
      if (error instanceof Fault) return { result: "failed", why: error.message };
      throw error;
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
        const done = await obey(line);
        if (done.result === "stored") await answerTo(done.id);
        if (done.result === "stored" || done.result === "done") continue;
        output.err(`Not ${done.result === "failed" ? "done" : "sent"}: ${done.why}`);
        code = 1;
      }
      return code;
    },
  };
}

/** What was said, with its files, and the choices of a question numbered: typing the number answers it. */
export function messageText(message: Message, label: (file: FileRef) => string = fileLabel): string {
  const numbered = message.question?.choices.map((one, i) => `  ${i + 1}) ${plainText(one)}`) ?? [];
  const text = message.text === "" ? [] : [plainText(message.text)];
  return [...text, ...(message.files ?? []).map(label), ...numbered].join("\n");
}
