// Sends what waits in the outbox: one message at a time per conversation, oldest first, each until it is confirmed.
// The same id goes out every time, so a repeat is harmless; this is why it may repeat without limit.
// Another tab may send the same message: then one of the two hears "duplicate", which is a confirmation too.

import type { Posted } from "./client.ts";
import type { Pending } from "../pending.ts";

export type Sender = {
  /** Looks at the outbox again, now, also where a pause between two attempts is running. */
  wake(): void;
};

export type SenderParts = {
  readonly pending: () => readonly Pending[];
  readonly post: (message: Pending) => Promise<Posted>;
  readonly stored: (message: Pending) => void;
  readonly refused: (message: Pending, reason: string) => void;
  readonly denied: () => void;
  /** Resolves after the time, or at once when the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
};

const pauseMaxMs = 10_000;

export function sender(parts: SenderParts): Sender {
  const running = new Set<string>();
  const pauses = new Set<AbortController>();

  const next = (chat: string) => parts.pending().find((one) => one.chat === chat);

  /** False when the gateway does not know us: only a person can change that. */
  async function deliver(message: Pending): Promise<boolean> {
    for (let attempt = 0; ; attempt++) {
      const posted = await parts.post(message);
      switch (posted.type) {
        case "stored":
          parts.stored(message);
          return true;
        case "refused":
          parts.refused(message, posted.reason);
          return true;
        case "denied":
          parts.denied();
          return false;
        case "later":
          await rest(posted.afterMs ?? Math.min(pauseMaxMs, 500 * 2 ** Math.min(attempt, 10)));
      }
      // The feed, or another tab, may have confirmed it during the pause.
      if (!parts.pending().some((one) => one.id === message.id)) return true;
    }
  }

  async function rest(ms: number): Promise<void> {
    const woken = new AbortController();
    pauses.add(woken);
    await parts.pause(ms, woken.signal);
    pauses.delete(woken);
  }

  async function drain(chat: string): Promise<void> {
    running.add(chat);
    try {
      for (let message = next(chat); message !== undefined; message = next(chat)) {
        if (!(await deliver(message))) return;
      }
    } finally {
      running.delete(chat);
    }
  }

  return {
    wake() {
      for (const one of pauses) one.abort();
      for (const { chat } of parts.pending()) if (!running.has(chat)) void drain(chat);
    },
  };
}

/** A pause by the browser's clock. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}
