// How a command reaches the running gateway: the address from gateway_state.json, the token from control.token.
// Every failure becomes a Fault that says what to do; the token never appears in one.

import { readFileSync } from "node:fs";
import { Fault, type FaultCode, sentenceOf } from "../core/fault.ts";
import { contentOf } from "../ports/content.ts";
import { shellWord } from "../core/shell.ts";
import { readToken } from "./auth.ts";
import type { ErrorReply, Whereabouts } from "./protocol.ts";

export type Place = {
  /** gateway_state.json of the home. */
  readonly stateFile: string;
  readonly tokenFile: string;
  readonly home: string;
};

export type ServerEvent = { readonly type: string; readonly id: string | null; readonly data: string };

export type Client = {
  readonly url: string;
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body?: unknown): Promise<T>;
  /** The body is the file itself. */
  upload<T>(path: string, file: Blob): Promise<T>;
  download(path: string): Promise<AsyncIterable<Uint8Array>>;
  /** Server-sent events until the stream or the signal ends; a lost connection ends it with a Fault. */
  events(path: string, signal: AbortSignal): AsyncGenerator<ServerEvent>;
};

/** Reads afresh where the gateway is: after a restart it may be elsewhere. */
export function connectGateway(place: Place): Client {
  const { url } = whereabouts(place);
  const token = readToken(place.tokenFile);
  if (token === null) throw notRunning(place.home);

  async function call(path: string, init: Omit<RequestInit, "headers">, kind?: string): Promise<Response> {
    const headers = { authorization: `Bearer ${token}`, "content-type": kind ?? "application/json" };
    try {
      const response = await fetch(`${url}${path}`, { ...init, headers });
      if (response.ok) return response;
      throw await toFault(response);
    } catch (error) {
      if (error instanceof Fault || (error as Error).name === "AbortError") throw error;
      throw notRunning(place.home, error);
    }
  }

  return {
    url,
    get: async <T>(path: string) => (await (await call(path, {})).json()) as T,
    post: async <T>(path: string, body?: unknown) =>
      (await (await call(path, { method: "POST", body: JSON.stringify(body ?? {}) })).json()) as T,
    upload: async <T>(path: string, file: Blob) =>
      (await (await call(path, { method: "POST", body: file }, file.type)).json()) as T,
    download: async (path) => contentOf(await call(path, {})),
    async *events(path, signal) {
      const response = await call(path, { signal });
      if (response.body === null) return;
      try {
        yield* toEvents(response.body.pipeThrough(new TextDecoderStream()));
      } catch (error) {
        if (signal.aborted) return;
        throw notRunning(place.home, error);
      }
    },
  };
}

export function notRunning(home: string, cause?: unknown): Fault {
  const start = `everturn gateway start --home ${shellWord(home)}`;
  return new Fault("not-found", `No gateway is running for ${home}. Start one with \`${start}\`.`, cause);
}

function whereabouts({ stateFile, home }: Place): Whereabouts {
  let text: string;
  try {
    text = readFileSync(stateFile, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") throw notRunning(home, error);
    throw new Fault("home-unusable", `${stateFile} could not be read: ${sentenceOf(error)}`, error);
  }
  const found = parse(text);
  // The token must not go to whatever took the port of a gateway that is no more.
  if (found === null || !isAlive(found.pid)) throw notRunning(home);
  return found;
}

function isAlive(pid: number): boolean {
  try {
    return Number.isSafeInteger(pid) && pid > 0 && process.kill(pid, 0);
  } catch (error) {
    // It lives, but belongs to somebody else.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function parse(text: string): Whereabouts | null {
  try {
    const { url, pid } = JSON.parse(text) as Partial<Whereabouts>;
    return typeof url === "string" && url.startsWith("http://") ? { url, pid: Number(pid) } : null;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof TypeError) return null;
    throw error;
  }
}

async function toFault(response: Response): Promise<Fault> {
  const text = await response.text();
  try {
    const { error } = JSON.parse(text) as ErrorReply;
    return new Fault(error.code as FaultCode, error.message);
  } catch (error) {
    return new Fault("not-possible", `The gateway answered ${response.status}: ${text.slice(0, 200)}`, error);
  }
}

/** Splits a stream of text into events; comments are skipped. */
export async function* toEvents(text: AsyncIterable<string>): AsyncGenerator<ServerEvent> {
  let rest = "";
  for await (const chunk of text) {
    rest += chunk;
    for (let end = rest.indexOf("\n\n"); end !== -1; end = rest.indexOf("\n\n")) {
      const event = toEvent(rest.slice(0, end));
      rest = rest.slice(end + 2);
      if (event !== null) yield event;
    }
  }
}

function toEvent(block: string): ServerEvent | null {
  let type = "message";
  let id: string | null = null;
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const at = line.indexOf(":");
    const value = line.slice(at + 1).replace(/^ /, "");
    const field = line.slice(0, at);
    if (field === "event") type = value;
    if (field === "id") id = value;
    if (field === "data") data.push(value);
  }
  return data.length === 0 ? null : { type, id, data: data.join("\n") };
}
