// The HTTP calls of the page, one function each. Answers are plain data; what the network does is part of them.
// Never throws for what the gateway or the network did. Addresses are relative, so a proxy may put the page anywhere.

import type { Pending } from "../pending.ts";
import { type Choice, readStrangers, type Stranger } from "../people/people.ts";
import { readSteps, type Steps } from "../steps/calls.ts";
import { type Uploaded, uploadTo } from "./upload.ts";
import {
  type Fate,
  type FileRef,
  type Listed,
  type Message,
  readError,
  readFate,
  readListing,
  readMessages,
  readRetryAfter,
  readUsed,
  type Used,
} from "./wire.ts";

export type Posted =
  | { readonly type: "stored" }
  /** The gateway will never take it as it is. */
  | { readonly type: "refused"; readonly reason: string }
  /** Try again, the same id; `afterMs` when the gateway said when. */
  | { readonly type: "later"; readonly afterMs: number | null }
  | { readonly type: "denied" };

export type Fetched<T> =
  | { readonly type: "got"; readonly value: T }
  | { readonly type: "later" }
  | { readonly type: "denied" };

export type Client = {
  list(): Promise<Fetched<readonly Listed[]>>;
  earlier(chat: string, before: number, limit: number): Promise<Fetched<readonly Message[]>>;
  post(message: Pending): Promise<Posted>;
  eventsUrl(chat: string, after: number | null): string;
  fate(question: string): Promise<Fetched<Fate>>;
  used(session: string): Promise<Fetched<Used>>;
  steps(turn: string): Promise<Fetched<Steps>>;
  /** Who waits to be let in on some platform. */
  pairings(): Promise<Fetched<readonly Stranger[]>>;
  decidePairing(id: string, choice: Choice): Promise<Posted>;
  /** `progress` gets the part that is gone, from 0 to 1. */
  upload(chat: string, file: File, progress: (part: number) => void, signal: AbortSignal): Promise<Uploaded>;
  /** Where a file is; `show` for a picture in its place. */
  fileUrl(chat: string, file: FileRef, show: boolean): string;
};

const patienceMs = 30_000;

export function client(platform: string): Client {
  const root = `api/chat/${encodeURIComponent(platform)}`;
  const at = (chat: string) => `${root}/${encodeURIComponent(chat)}`;
  return {
    list: () => get(root, readListing),
    earlier: (chat, before, limit) => get(`${at(chat)}/messages?before=${before}&limit=${limit}`, readMessages),
    post: (message) => post(`${at(message.chat)}/messages`, bodyOf(message)),
    fate: (question) => get(`api/questions/${encodeURIComponent(question)}`, readFate),
    used: (session) => get(`api/sessions/${encodeURIComponent(session)}?limit=1`, readUsed),
    steps: (turn) => get(`api/turns/${encodeURIComponent(turn)}`, readSteps),
    pairings: () => get("api/pairings", readStrangers),
    decidePairing: (id, choice) => post(`api/pairings/${encodeURIComponent(id)}/${choice}`, "{}"),
    upload: (chat, file, progress, signal) =>
      uploadTo(`${at(chat)}/files?${new URLSearchParams({ name: file.name })}`, file, progress, signal),
    fileUrl(chat, { name, mime, blob }, show) {
      const query = new URLSearchParams({ name, ...(show ? { type: mime, show: "1" } : {}) });
      return `${at(chat)}/files/${encodeURIComponent(blob)}?${query}`;
    },
    eventsUrl: (chat, after) => `${at(chat)}/events${after === null ? "" : `?after=${after}`}`,
  };
}

/** What an answer to a POST means for the message. Pure. */
export function verdict(status: number, retryAfter: string | null, body: unknown): Posted {
  if (status >= 200 && status < 300) return { type: "stored" };
  if (status === 401) return { type: "denied" };
  if (status === 408 || status === 425 || status === 429 || status >= 500 || status < 400)
    return { type: "later", afterMs: readRetryAfter(retryAfter) };
  return { type: "refused", reason: readError(body) ?? `The gateway refused the message (HTTP ${status}).` };
}

function bodyOf(message: Pending): string {
  const { id, text, answer, files } = message;
  if (answer !== undefined) return JSON.stringify({ id, answer });
  return JSON.stringify(files === undefined ? { id, text } : { id, text, files });
}

async function post(url: string, body: string): Promise<Posted> {
  const response = await reach(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  if (response === null) return { type: "later", afterMs: null };
  return verdict(response.status, response.headers.get("retry-after"), await jsonOf(response));
}

async function get<T>(url: string, read: (value: unknown) => T | null): Promise<Fetched<T>> {
  const response = await reach(url, {});
  if (response === null) return { type: "later" };
  if (response.status === 401) return { type: "denied" };
  const value = response.ok ? read(await jsonOf(response)) : null;
  return value === null ? { type: "later" } : { type: "got", value };
}

/** Null when nobody answered in time. */
async function reach(url: string, init: RequestInit): Promise<Response | null> {
  try {
    return await fetch(url, { ...init, cache: "no-store", signal: AbortSignal.timeout(patienceMs) });
  } catch (error) {
    console.debug(`No answer from ${url}; it will be asked again.`, error);
    return null;
  }
}

/** Null when it is no JSON, or broke off: the status alone decides then. */
async function jsonOf(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    console.debug("An answer without a readable body.", error);
    return null;
  }
}
