// Requests to a server in the network, watched: an answer larger than it may be is broken off, and an answer that breaks
// off by itself is told at once instead of being waited for until patience ends.

import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import { contentOf } from "../../ports/content.ts";

const answerBytes = 16e6;

/** `brokenOff` gets the key of a call whose answer ended; a caller that has the result by then ignores it. */
export function watchedFetch(brokenOff: (key: string) => void): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    if (response.body === null) return response;
    const key = typeof init?.body === "string" ? keyIn(init.body) : null;
    const isStream = response.headers.get("content-type")?.includes("text/event-stream") === true;
    const body = ReadableStream.from(
      bounded(contentOf(response), isStream, (isResumable) => {
        if (key !== null && response.ok && !isResumable) brokenOff(key);
      }),
    );
    return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
  };
}

/** A stream may be endless, but none of its lines; anything else has one size. */
async function* bounded(
  body: AsyncIterable<Uint8Array>,
  isStream: boolean,
  ended: (isResumable: boolean) => void,
): AsyncGenerator<Uint8Array> {
  let size = 0;
  // A server that numbers its events may close the stream and go on in another.
  let isResumable = false;
  try {
    for await (const chunk of body) {
      const at = isStream ? chunk.lastIndexOf(10) : -1;
      size = at === -1 ? size + chunk.length : chunk.length - at - 1;
      if (size > answerBytes) throw new Error(`it answered with more than ${answerBytes / 1e6} MB`);
      isResumable ||= isStream && /^id:/m.test(Buffer.from(chunk).toString("latin1"));
      yield chunk;
    }
  } finally {
    ended(isResumable);
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
