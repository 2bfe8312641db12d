// Hands typed lines to the gateway, one after another and each until it is confirmed. A line keeps its id however often
// it is sent, so a repeat after a lost answer is harmless.

import { randomUUID } from "node:crypto";
import { Fault } from "../../core/fault.ts";
import type { FileRef } from "../../core/message.ts";
import type { Client } from "../../control/client.ts";
import { rest } from "./feed.ts";

export type Sent = { readonly id: string; readonly result: "stored" | "refused" | "given-up"; readonly why: string };

export type Sender = {
  /** Resolves when the line is stored, refused for good, or the sender was stopped. */
  send(text: string, files?: readonly FileRef[]): Promise<Sent>;
  readonly unconfirmed: number;
  /** Whether this terminal sent the message with that id. */
  sent(id: string): boolean;
};

type PostedMessage = { readonly id: string; readonly text: string; readonly files?: readonly FileRef[] };

/** The gateway will never take such a line, however often it is sent. */
const hopeless = new Set<string>(["bad-request", "too-large", "empty", "unauthorized", "not-possible"]);

const pauseMinMs = 100;
const pauseMaxMs = 2_000;

export function sender(connect: () => Client, path: string, signal: AbortSignal): Sender {
  const ids = new Set<string>();
  let unconfirmed = 0;
  let last: Promise<unknown> = Promise.resolve();

  async function deliver(message: PostedMessage): Promise<Sent> {
    const { id } = message;
    let pauseMs = pauseMinMs;
    while (!signal.aborted) {
      try {
        await connect().post(path, message);
        return { id, result: "stored", why: "" };
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        if (hopeless.has(error.code)) return { id, result: "refused", why: error.message };
      }
      await rest(pauseMs, signal);
      pauseMs = Math.min(pauseMaxMs, pauseMs * 2);
    }
    return { id, result: "given-up", why: "the chat ended before the gateway confirmed it" };
  }

  return {
    send(text, files = []) {
      const id = randomUUID();
      ids.add(id);
      unconfirmed++;
      const sent = last
        .then(() => deliver({ id, text, ...(files.length === 0 ? {} : { files }) }))
        .then((answer) => {
          if (answer.result !== "given-up") unconfirmed--;
          return answer;
        });
      last = sent;
      return sent;
    },
    get unconfirmed() {
      return unconfirmed;
    },
    sent: (id) => ids.has(id),
  };
}
