// What the user says: the text in the composer, the messages on their way, and what came back refused.
// A message is in the browser's storage before the composer is emptied, and leaves it only when it is confirmed.

import { type ReadonlySignal, signal } from "@preact/signals";
import type { Client } from "./net/client.ts";
import { pause, sender } from "./net/sender.ts";
import type { FileRef, Message } from "./net/wire.ts";
import { type Answer, type Keep, newId, type Pending } from "./pending.ts";

/** A message that the feed has not shown yet. */
export type Unsent = { readonly message: Pending; readonly state: "waiting" | "stored" };

export type Refusal = { readonly chat: string; readonly reason: string };

export type Outgoing = {
  readonly unsent: ReadonlySignal<readonly Unsent[]>;
  readonly refusal: ReadonlySignal<Refusal | null>;
  readonly composer: ReadonlySignal<string>;
  /** How many messages this page has sent on their way; views follow it to give the focus back. */
  readonly count: ReadonlySignal<number>;
  write(text: string): void;
  send(text: string, files?: readonly FileRef[]): void;
  answer(question: string, choice: string): void;
  dismiss(): void;
  /** Shows the unsent text of another conversation. */
  turnTo(chat: string): void;
  /** The feed has shown these. */
  seen(messages: readonly Message[]): void;
  /** Another tab has changed the storage. */
  reread(): void;
  /** Writes down what waits to be written; for the moment before the page is left. */
  flush(): void;
  wake(): void;
};

export type OutgoingParts = {
  readonly keep: Keep;
  readonly client: Pick<Client, "post">;
  readonly chat: () => string;
  readonly denied: () => void;
  /** A message was refused: its files are attached again. */
  readonly returned?: (message: Pending) => void;
  /** A message has just been stored. */
  readonly stored: () => void;
};

/** Texts up to this length are written down at every keystroke, longer ones a moment later. */
const quickMax = 50_000;
const slowWriteMs = 300;

export function outgoing(parts: OutgoingParts): Outgoing {
  const { keep } = parts;
  const unsent = signal<readonly Unsent[]>(keep.pending().map(waiting));
  const refusal = signal<Refusal | null>(null);
  const composer = signal("");
  const count = signal(0);
  let lateWrite: ReturnType<typeof setTimeout> | undefined;

  /** Confirmed ones stay visible until the feed shows them; they stand before those that wait. */
  const refresh = (confirmed: readonly Unsent[]) => {
    unsent.value = [...confirmed, ...keep.pending().map(waiting)];
  };
  const confirmed = () => unsent.value.filter((one) => one.state === "stored");

  const outbox = sender({
    pending: () => keep.pending(),
    post: (message) => parts.client.post(message),
    pause,
    denied: parts.denied,
    stored(message) {
      // The feed may have been faster than this answer: then it is no longer waiting, and already shown.
      const shown = !keep.pending().some((one) => one.id === message.id);
      keep.remove(message.id);
      refresh(shown ? confirmed() : [...confirmed(), { message, state: "stored" }]);
      parts.stored();
    },
    refused(message, reason) {
      keep.remove(message.id);
      giveBack(message);
      refusal.value = { chat: message.chat, reason };
      refresh(confirmed());
    },
  });

  function giveBack(message: Pending): void {
    if (message.answer !== undefined) return;
    const here = message.chat === parts.chat();
    const written = here ? composer.value : keep.draft(message.chat);
    const text = written === "" ? message.text : `${message.text}\n\n${written}`;
    if (here) composer.value = text;
    keep.setDraft(message.chat, text);
    parts.returned?.(message);
  }

  function flush(): void {
    if (lateWrite === undefined) return;
    clearTimeout(lateWrite);
    lateWrite = undefined;
    keep.setDraft(parts.chat(), composer.value);
  }

  function put(text: string, more: { readonly answer?: Answer; readonly files?: readonly FileRef[] }): void {
    keep.add({ id: newId(crypto), chat: parts.chat(), text, ...more }, Date.now());
    refusal.value = null;
    count.value++;
    refresh(confirmed());
    outbox.wake();
  }

  return {
    unsent,
    refusal,
    composer,
    count,
    write(text) {
      composer.value = text;
      clearTimeout(lateWrite);
      lateWrite = setTimeout(flush, slowWriteMs);
      if (text.length <= quickMax) flush();
    },
    send(text, files = []) {
      if (text.trim() !== "" || files.length > 0) put(text, files.length === 0 ? {} : { files });
    },
    answer: (question, choice) => put(choice, { answer: { question, choice } }),
    dismiss: () => (refusal.value = null),
    turnTo: (chat) => (composer.value = keep.draft(chat)),
    seen(messages) {
      const keys = new Set(messages.map((one) => one.key));
      if (!unsent.value.some((one) => keys.has(one.message.id))) return;
      for (const one of unsent.value) if (keys.has(one.message.id)) keep.remove(one.message.id);
      refresh(confirmed().filter((one) => !keys.has(one.message.id)));
    },
    reread: () => refresh(confirmed()),
    flush,
    wake: () => outbox.wake(),
  };
}

function waiting(message: Pending): Unsent {
  return { message, state: "waiting" };
}
