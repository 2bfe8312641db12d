// What the user wrote and the gateway has not confirmed: unsent drafts and the outbox, kept in the browser's storage.
// Each message has a key of its own there, so that two tabs never overwrite each other. Survives reloads and restarts.
// Where the storage refuses (full, or switched off), everything still works for the life of the page.

import { type FileRef, readFiles } from "./net/wire.ts";

export type Answer = { readonly question: string; readonly choice: string };

export type Pending = {
  readonly id: string;
  readonly chat: string;
  readonly text: string;
  readonly answer?: Answer;
  /** Uploaded already. */
  readonly files?: readonly FileRef[];
  /** When it was written; also the order of sending. */
  readonly at: number;
};

/** The part of the browser's `Storage` that is needed here. */
export type Box = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

export type Keep = {
  /** Oldest first. */
  pending(): readonly Pending[];
  add(message: Omit<Pending, "at">, now: number): Pending;
  remove(id: string): void;
  draft(chat: string): string;
  setDraft(chat: string, text: string): void;
  seen(chat: string): number;
  setSeen(chat: string, n: number): void;
  setting(name: string): string | null;
  setSetting(name: string, value: string | null): void;
};

const prefix = "everturn.";
const pendingPrefix = `${prefix}pending.`;

export function keepIn(box: Box): Keep {
  // Values the storage refused, newest truth for their keys.
  const refused = new Map<string, string>();
  const read = (key: string) => refused.get(key) ?? attempt(() => box.getItem(key)) ?? null;
  const write = (key: string, value: string | null) => {
    refused.delete(key);
    if (value === null) attempt(() => box.removeItem(key));
    else if (attempt(() => (box.setItem(key, value), true)) === null) refused.set(key, value);
  };
  const keys = () => attempt(() => Array.from({ length: box.length }, (_, i) => box.key(i) ?? "")) ?? [];
  const pending = () =>
    [...new Set([...keys(), ...refused.keys()])]
      .filter((key) => key.startsWith(pendingPrefix))
      .map((key) => readPending(read(key)))
      .filter((one) => one !== null)
      .toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  const setOrClear = (key: string, value: string) => write(key, value === "" ? null : value);
  return {
    pending,
    add(message, now) {
      // Two messages of one millisecond, or of a clock set back, keep the order in which they were written.
      const at = Math.max(now, (pending().at(-1)?.at ?? 0) + 1);
      const entry = { ...message, at };
      write(pendingPrefix + entry.id, JSON.stringify(entry));
      return entry;
    },
    remove: (id) => write(pendingPrefix + id, null),
    draft: (chat) => read(`${prefix}draft.${chat}`) ?? "",
    setDraft: (chat, text) => setOrClear(`${prefix}draft.${chat}`, text),
    seen: (chat) => Number(read(`${prefix}seen.${chat}`) ?? 0) || 0,
    setSeen: (chat, n) => write(`${prefix}seen.${chat}`, String(n)),
    setting: (name) => read(`${prefix}${name}`),
    setSetting: (name, value) => write(`${prefix}${name}`, value),
  };
}

/** A change of the storage made by another tab that concerns the outbox. */
export function concernsPending(key: string | null): boolean {
  return key === null || key.startsWith(pendingPrefix);
}

/** A random id; the short way exists only where the address is secure or local. */
export function newId(source: Crypto): string {
  if (typeof source.randomUUID === "function") return source.randomUUID();
  const hex = Array.from(source.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0"));
  return hex.join("");
}

function readPending(json: string | null): Pending | null {
  const value: unknown = json === null ? null : attempt(() => JSON.parse(json) as unknown);
  if (typeof value !== "object" || value === null) return null;
  const { id, chat, text, at, answer } = value as { [name in keyof Pending]?: unknown };
  if (typeof id !== "string" || typeof chat !== "string" || typeof text !== "string" || typeof at !== "number")
    return null;
  const files = readFiles((value as { readonly files?: unknown }).files);
  const carried = files.length === 0 ? {} : { files };
  if (typeof answer !== "object" || answer === null) return { id, chat, text, at, ...carried };
  const { question, choice } = answer as { [name in keyof Answer]?: unknown };
  if (typeof question !== "string" || typeof choice !== "string") return null;
  return { id, chat, text, at, answer: { question, choice } };
}

/** Null when it threw: a storage that is full or forbidden is an ordinary answer here, told in the console. */
function attempt<T>(work: () => T): T | null {
  try {
    return work();
  } catch (error) {
    console.warn("The browser's storage was of no help here; the page goes on without.", error);
    return null;
  }
}
