// The HTTP calls of the page, one function each. Answers are plain data; what the network does is part of them.
// Never throws for what the gateway or the network did. Addresses are relative, so a proxy may put the page anywhere.

import type { Pending } from "../pending.ts";
import { type Choice, readStrangers, type Stranger } from "../people/people.ts";
import { readSandbox } from "../sandbox.ts";
import { readSteps, type Steps } from "../steps/calls.ts";
import type { Signed } from "../files/addresses.ts";
import { type Device, readDevices } from "../devices/devices.ts";
import { type Credential, headersOf } from "./credential.ts";
import { follow, type Stream, type StreamParts } from "./stream.ts";
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
  /** Follows a conversation; `after` is asked for before each attempt. */
  follow(chat: string, after: () => number | null, parts: Omit<StreamParts, "open">): Stream;
  /** Trades the secret of a link for the credential of this browser. */
  signIn(secret: string): Promise<"signed-in" | "used-link" | "later">;
  devices(): Promise<Fetched<readonly Device[]>>;
  /** What is to be said about the sandbox of the tools. */
  sandbox(): Promise<Fetched<string>>;
  revokeDevice(id: string): Promise<Posted>;
  /** The same paths, to be opened without a header for some minutes. */
  sign(paths: readonly string[]): Promise<Fetched<Signed>>;
  fate(question: string): Promise<Fetched<Fate>>;
  used(session: string): Promise<Fetched<Used>>;
  steps(turn: string): Promise<Fetched<Steps>>;
  /** Who waits to be let in on some platform. */
  pairings(): Promise<Fetched<readonly Stranger[]>>;
  decidePairing(id: string, choice: Choice): Promise<Posted>;
  /** `progress` gets the part that is gone, from 0 to 1. */
  upload(chat: string, file: File, progress: (part: number) => void, signal: AbortSignal): Promise<Uploaded>;
  /** Where a file is; `show` for a picture in its place. To be signed before a browser opens it. */
  filePath(chat: string, file: FileRef, show: boolean): string;
};

const patienceMs = 30_000;

export function client(platform: string, credential: Credential): Client {
  const root = `api/chat/${encodeURIComponent(platform)}`;
  const at = (chat: string) => `${root}/${encodeURIComponent(chat)}`;
  const { get, post, reach } = calls(credential);
  return {
    list: () => get(root, readListing),
    earlier: (chat, before, limit) => get(`${at(chat)}/messages?before=${before}&limit=${limit}`, readMessages),
    post: (message) => post(`${at(message.chat)}/messages`, bodyOf(message)),
    fate: (question) => get(`api/questions/${encodeURIComponent(question)}`, readFate),
    used: (session) => get(`api/sessions/${encodeURIComponent(session)}?limit=1`, readUsed),
    steps: (turn) => get(`api/turns/${encodeURIComponent(turn)}`, readSteps),
    pairings: () => get("api/pairings", readStrangers),
    decidePairing: (id, choice) => post(`api/pairings/${encodeURIComponent(id)}/${choice}`, "{}"),
    devices: () => get("api/devices", readDevices),
    sandbox: () => get("api/status", readSandbox),
    revokeDevice: (id) => post(`api/devices/${encodeURIComponent(id)}/revoke`, "{}"),
    upload: (chat, file, progress, signal) =>
      uploadTo(`${at(chat)}/files?${new URLSearchParams({ name: file.name })}`, {
        file,
        headers: headersOf(credential),
        progress,
        signal,
      }),
    filePath(chat, { name, mime, blob }, show) {
      const query = new URLSearchParams({ name, ...(show ? { type: mime, show: "1" } : {}) });
      return `${at(chat)}/files/${encodeURIComponent(blob)}?${query}`;
    },
    async sign(paths) {
      const body = JSON.stringify({ paths: paths.map((path) => `/${path}`) });
      return read(await reach("api/signed", { method: "POST", body }), readSigned);
    },
    follow: (chat, after, parts) =>
      follow({
        ...parts,
        open(signal) {
          const cursor = after();
          const url = `${at(chat)}/events${cursor === null ? "" : `?after=${cursor}`}`;
          return fetch(url, { headers: headersOf(credential), cache: "no-store", signal });
        },
      }),
    async signIn(secret) {
      const response = await reach("api/sign-in", { method: "POST", body: JSON.stringify({ link: secret }) });
      if (response === null || response.status >= 500) return "later";
      const value = response.ok ? readCredential(await jsonOf(response)) : null;
      if (value === null) return "used-link";
      credential.set(value);
      return "signed-in";
    },
  };
}

function readCredential(value: unknown): string | null {
  const { credential } = (value ?? {}) as { readonly credential?: unknown };
  return typeof credential === "string" ? credential : null;
}

/** Relative like all addresses of the page. Null for anything else than the gateway's answer. */
function readSigned(value: unknown): Signed | null {
  const { paths, expiresAt } = (value ?? {}) as { readonly paths?: unknown; readonly expiresAt?: unknown };
  if (!Array.isArray(paths) || typeof expiresAt !== "number") return null;
  if (!paths.every((path) => typeof path === "string")) return null;
  return { paths: paths.map((path) => path.replace(/^\//, "")), expiresAt };
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

type Calls = {
  get<T>(url: string, readValue: (value: unknown) => T | null): Promise<Fetched<T>>;
  post(url: string, body: string): Promise<Posted>;
  /** Null when there was no answer in time. */
  reach(url: string, init: RequestInit): Promise<Response | null>;
};

function calls(credential: Credential): Calls {
  async function reach(url: string, init: RequestInit): Promise<Response | null> {
    const headers = { "content-type": "application/json", ...headersOf(credential) };
    try {
      return await fetch(url, { ...init, headers, cache: "no-store", signal: AbortSignal.timeout(patienceMs) });
    } catch (error) {
      console.debug(`No answer from ${url}; it will be asked again.`, error);
      return null;
    }
  }
  return {
    reach,
    get: async (url, readValue) => read(await reach(url, {}), readValue),
    async post(url, body) {
      const response = await reach(url, { method: "POST", body });
      if (response === null) return { type: "later", afterMs: null };
      return verdict(response.status, response.headers.get("retry-after"), await jsonOf(response));
    },
  };
}

async function read<T>(response: Response | null, readValue: (value: unknown) => T | null): Promise<Fetched<T>> {
  if (response === null) return { type: "later" };
  if (response.status === 401) return { type: "denied" };
  const value = response.ok ? readValue(await jsonOf(response)) : null;
  return value === null ? { type: "later" } : { type: "got", value };
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
