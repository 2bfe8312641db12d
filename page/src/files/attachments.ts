// What the user has attached and not sent yet, for each conversation: on its way, ready, or refused with why. What is ready
// is kept in the browser's storage like unsent text. Files themselves stay with the browser until they are uploaded.

import { type ReadonlySignal, signal } from "@preact/signals";
import type { Client } from "../net/client.ts";
import { type FileRef, readFiles } from "../net/wire.ts";
import { type Keep, newId } from "../pending.ts";

export type Attachment = {
  readonly id: string;
  readonly name: string;
  readonly bytes: number;
  readonly state:
    | { readonly type: "sending"; readonly part: number }
    | { readonly type: "ready"; readonly file: FileRef }
    | { readonly type: "failed"; readonly why: string; readonly again: boolean };
};

export type Attachments = {
  /** Of the open conversation. */
  readonly list: ReadonlySignal<readonly Attachment[]>;
  add(files: readonly File[]): void;
  remove(id: string): void;
  retry(id: string): void;
  /** The files that are ready, which are then no longer attached. */
  take(): readonly FileRef[];
  giveBack(chat: string, files: readonly FileRef[]): void;
  turnTo(chat: string): void;
};

/** As the gateway has them. */
export const fileMax = 50_000_000;
export const filesMax = 10;

type Parts = { readonly client: Pick<Client, "upload">; readonly keep: Keep; readonly denied: () => void };

export function attachments({ client, keep, denied }: Parts): Attachments {
  const list = signal<readonly Attachment[]>([]);
  const byChat = new Map<string, readonly Attachment[]>();
  const sources = new Map<string, { readonly file: File; stop: AbortController }>();
  let chat = "";

  const of = (where: string) => byChat.get(where) ?? keptIn(keep, where);

  function set(where: string, next: readonly Attachment[]): void {
    byChat.set(where, next);
    const ready = readyIn(next);
    keep.setSetting(`files.${where}`, ready.length === 0 ? null : JSON.stringify(ready));
    if (where === chat) list.value = next;
  }

  function change(where: string, id: string, state: Attachment["state"]): void {
    set(
      where,
      of(where).map((one) => (one.id === id ? { ...one, state } : one)),
    );
  }

  async function send(where: string, id: string): Promise<void> {
    const source = sources.get(id);
    if (source === undefined) return;
    source.stop = new AbortController();
    change(where, id, { type: "sending", part: 0 });
    const progress = (part: number) => change(where, id, { type: "sending", part });
    const sent = await client.upload(where, source.file, progress, source.stop.signal);
    if (sent.type === "denied") denied();
    if (sent.type !== "stored") {
      const why = sent.type === "failed" ? sent.why : "This browser is not known to the gateway.";
      return change(where, id, { type: "failed", why, again: true });
    }
    sources.delete(id);
    change(where, id, { type: "ready", file: sent.file });
  }

  return {
    list,
    add(files) {
      const where = chat;
      for (const file of files) {
        const id = newId(crypto);
        const wrong = refusal(file.size, of(where).filter((one) => one.state.type !== "failed").length);
        const state = wrong === null ? ({ type: "sending", part: 0 } as const) : failed(wrong);
        set(where, [...of(where), { id, name: file.name, bytes: file.size, state }]);
        if (wrong !== null) continue;
        sources.set(id, { file, stop: new AbortController() });
        void send(where, id);
      }
    },
    remove(id) {
      const source = sources.get(id);
      sources.delete(id);
      source?.stop.abort();
      set(
        chat,
        of(chat).filter((one) => one.id !== id),
      );
    },
    retry: (id) => void send(chat, id),
    take() {
      const ready = readyIn(of(chat));
      set(
        chat,
        of(chat).filter((one) => one.state.type !== "ready"),
      );
      return ready;
    },
    giveBack: (where, files) => set(where, [...files.map(ready), ...of(where)]),
    turnTo(next) {
      chat = next;
      list.value = of(next);
    },
  };
}

/** Why a file is not taken; null when it is. Pure. */
export function refusal(bytes: number, attached: number): string | null {
  if (attached >= filesMax) return `At most ${filesMax} files go with one message.`;
  if (bytes > fileMax) return `It is larger than ${fileMax / 1_000_000} MB.`;
  return null;
}

function failed(why: string): Attachment["state"] {
  return { type: "failed", why, again: false };
}

function ready(file: FileRef): Attachment {
  return { id: newId(crypto), name: file.name, bytes: file.bytes, state: { type: "ready", file } };
}

function readyIn(list: readonly Attachment[]): readonly FileRef[] {
  return list.flatMap(({ state }) => (state.type === "ready" ? [state.file] : []));
}

function keptIn(keep: Keep, chat: string): readonly Attachment[] {
  try {
    return readFiles(JSON.parse(keep.setting(`files.${chat}`) ?? "[]")).map(ready);
  } catch (error) {
    console.debug("Attached files were not kept readably; they are to be attached again.", error);
    return [];
  }
}
