// Requests to a server at home, which may read a long prompt for many minutes before its first word. The runtime's own
// fetch gives up after five; this one waits until it is told to stop.

import { type IncomingMessage, request } from "node:http";
import { Readable } from "node:stream";

/** Those without a body have none, not an empty one. */
const bodiless = new Set([204, 205, 304]);

/** As `fetch`, for plain http and the bodies that the packages send; anything else is left to the runtime. */
export const patientFetch: typeof fetch = async (input, init = {}) => {
  const { method = "GET", headers, body, signal } = init;
  const isSimple = typeof input === "string" || input instanceof URL;
  if (!isSimple || !String(input).startsWith("http:") || (body != null && typeof body !== "string"))
    return fetch(input, init);
  signal?.throwIfAborted();
  const answered = Promise.withResolvers<IncomingMessage>();
  const sent = request(input, {
    method,
    headers: { ...Object.fromEntries(new Headers(headers)), "accept-encoding": "identity" },
    // A line of its own each time: one that was kept may have died meanwhile.
    agent: false,
    ...(signal == null ? {} : { signal }),
  });
  sent.on("response", answered.resolve);
  // In the words that the packages know from the runtime.
  sent.on("error", (cause) => answered.reject(new TypeError("fetch failed", { cause })));
  sent.end(body ?? undefined);
  const answer = await answered.promise;
  const status = answer.statusCode ?? 500;
  if (status >= 300 && status < 400 && answer.headers.location !== undefined) {
    answer.destroy();
    return fetch(input, init);
  }
  return new Response(bodiless.has(status) ? null : (Readable.toWeb(answer) as ReadableStream<Uint8Array>), {
    status,
    statusText: answer.statusMessage ?? "",
    headers: headersOf(answer),
  });
};

function headersOf({ headersDistinct }: IncomingMessage): Headers {
  const all = new Headers();
  for (const [name, values = []] of Object.entries(headersDistinct)) for (const one of values) all.append(name, one);
  return all;
}
