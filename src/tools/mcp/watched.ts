// Requests to a server in the network, watched: an answer that is too large is cut off, and the end of a stream is
// reported at once, because the protocol's library waits for the time limit of the call instead.

import type { FetchLike } from "@modelcontextprotocol/client";
import { contentOf } from "../../ports/content.ts";

const answerBytes = 16e6;

export type StreamEvents = {
  /** A call is sent. Returns the function to call when its answer ends; the result may be in that answer. */
  readonly answering: (key: string) => () => void;
  /** A stream that the server sends messages on ended, or could not be opened. */
  readonly streamEnded: () => void;
  /** The server does not continue the stream after this event. */
  readonly notResumed: (lastEventId: string) => void;
  /** Whether a call waits for the rest of its answer in another stream. */
  readonly isResuming: () => boolean;
};

export function watchedFetch(events: StreamEvents): FetchLike {
  return async (url, init) => {
    const isGet = init?.method === undefined || init.method === "GET";
    const lastEventId = isGet ? new Headers(init?.headers).get("last-event-id") : null;
    const key = typeof init?.body === "string" ? keyIn(init.body) : null;
    // A repeat has the same key, so the call is found now and not at the end of the answer.
    const answerEnded = key === null ? null : events.answering(key);
    let response: Response;
    try {
      response = await fetch(url, init);
    } catch (error) {
      if (isGet && init?.signal?.aborted !== true) events.streamEnded();
      throw error;
    }
    if (lastEventId !== null && !response.ok) events.notResumed(lastEventId);
    const isStream = response.headers.get("content-type")?.includes("text/event-stream") === true;
    if (isGet && !response.ok && response.status !== 405) events.streamEnded();
    if (response.body === null) return response;
    const body = ReadableStream.from(
      bounded(contentOf(response), isStream, () => {
        if (response.ok) answerEnded?.();
        if (isGet && isStream && response.ok) events.streamEnded();
      }),
    );
    return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
  };
}

/** A stream may be endless, but none of its lines; anything else has one size. */
async function* bounded(
  body: AsyncIterable<Uint8Array>,
  isStream: boolean,
  ended: () => void,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  try {
    for await (const chunk of body) {
      const at = isStream ? chunk.lastIndexOf(10) : -1;
      size = at === -1 ? size + chunk.length : chunk.length - at - 1;
      if (size > answerBytes) throw new Error(`it answered with more than ${answerBytes / 1e6} MB`);
      yield chunk;
    }
  } finally {
    ended();
  }
}

export const keyName = "everturn/key";

function keyIn(body: string): string | null {
  try {
    const { params } = JSON.parse(body) as { readonly params?: { readonly _meta?: Readonly<Record<string, unknown>> } };
    const key = params?._meta?.[keyName];
    return typeof key === "string" ? key : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
