// Reads the body of a request within the limit of its route: its size, the time it takes, and what all bodies together
// hold in memory. A refused request leaves nothing in memory; its connection is closed by the server.

import type { IncomingMessage } from "node:http";
import { type BodyLimit, BodyTooLarge, type HttpRefusal } from "../ports/http.ts";

export const bodyLimits = {
  /** Bytes of all bodies that are in memory at the same time. */
  togetherMax: 128 * 1024 * 1024,
  /** How long a body that is read completely may take. */
  wholeMs: 30_000,
  /** Levels of arrays and objects in a body of JSON. */
  depthMax: 200,
} as const;

export type BodyReader = {
  /** The body; null where there is none. It is in memory only until the route has run: `done` gives its room back. */
  read(incoming: IncomingMessage, limit: BodyLimit): Promise<ReadBody | HttpRefusal>;
};

export type ReadBody = { readonly body: Buffer | ReadableStream<Uint8Array> | null; done(): void };

export function isRefusal(value: object): value is HttpRefusal {
  return "status" in value;
}

const nothing: ReadBody = { body: null, done: () => undefined };

export type BodySettings = { readonly togetherMax: number; readonly wholeMs: number };

export function bodyReader(settings: BodySettings = bodyLimits): BodyReader {
  let together = 0;

  async function whole(incoming: IncomingMessage, max: number): Promise<ReadBody | HttpRefusal> {
    let size = 0;
    const chunks: Buffer[] = [];
    const give = () => void (together -= size);
    const found = await new Promise<HttpRefusal | null>((resolve) => {
      const timer = setTimeout(() => end(tooSlow), settings.wholeMs);
      const take = (chunk: Buffer) => {
        size += chunk.length;
        together += chunk.length;
        if (size > max) end(tooLarge(max));
        else if (together > settings.togetherMax) end(tooMany);
        else chunks.push(chunk);
      };
      const finish = () => end(null);
      const broken = () => end(cutShort);
      function end(refusal: HttpRefusal | null): void {
        clearTimeout(timer);
        incoming.off("data", take).off("end", finish).off("close", broken).off("error", broken).pause();
        resolve(refusal);
      }
      incoming.on("data", take).on("end", finish).on("close", broken).on("error", broken);
    });
    if (found === null) {
      const body = Buffer.concat(chunks);
      if (!isTooDeep(body)) return { body, done: give };
    }
    give();
    return found ?? tooDeep;
  }

  return {
    async read(incoming, limit) {
      const announced = incoming.headers["content-length"];
      const hasBody = incoming.headers["transfer-encoding"] !== undefined || Number(announced ?? 0) > 0;
      if (!hasBody) return nothing;
      const max = limit === "none" ? 0 : "whole" in limit ? limit.whole : limit.stream;
      if (max === 0) return noBody;
      if (Number(announced ?? 0) > max) return tooLarge(max);
      const encoding = incoming.headers["content-encoding"]?.toLowerCase() ?? "identity";
      if (encoding !== "identity") return compressed;
      if (limit !== "none" && "whole" in limit) return whole(incoming, max);
      return { body: bounded(incoming, max), done: () => undefined };
    },
  };
}

/** Asks for a chunk only when the reader wants one, so that a slow reader holds no bytes here. */
function bounded(incoming: IncomingMessage, max: number): ReadableStream<Uint8Array> {
  const chunks = incoming.iterator({ destroyOnReturn: false }) as AsyncIterator<Buffer>;
  let size = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done === true) return controller.close();
        size += value.length;
        if (size > max) return controller.error(new BodyTooLarge(`The body is larger than ${max} bytes.`));
        controller.enqueue(new Uint8Array(value.buffer, value.byteOffset, value.length));
      },
    },
    { highWaterMark: 0 },
  );
}

/** Whether JSON nests deeper than anything that is meant to be read. Other bodies may only look like it in strings. */
export function isTooDeep(body: Uint8Array, depthMax: number = bodyLimits.depthMax): boolean {
  const first = body.find((byte) => byte > 0x20);
  if (first !== 0x7b && first !== 0x5b) return false;
  let depth = 0;
  let isText = false;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (isText) {
      if (byte === 0x5c) at++;
      else if (byte === 0x22) isText = false;
    } else if (byte === 0x22) isText = true;
    else if (byte === 0x7b || byte === 0x5b) {
      if (++depth > depthMax) return true;
    } else if (byte === 0x7d || byte === 0x5d) depth--;
  }
  return false;
}

function tooLarge(max: number): HttpRefusal {
  const size = max >= 1024 * 1024 ? `${Math.floor(max / 1024 / 1024)} MB` : `${Math.ceil(max / 1024)} kB`;
  return { status: 413, code: "too-large", message: `The body is too large: at most ${size} are taken here.` };
}

const noBody: HttpRefusal = {
  status: 413,
  code: "too-large",
  message: "This address takes no body. Send the request without one.",
};

const compressed: HttpRefusal = {
  status: 415,
  code: "bad-request",
  message: "Compressed bodies are not taken. Send it without Content-Encoding.",
};

const tooSlow: HttpRefusal = {
  status: 408,
  code: "too-slow",
  message: "The body took too long. Send the request again.",
};

const cutShort: HttpRefusal = {
  status: 400,
  code: "bad-request",
  message: "The body ended before its announced end. Send the request again.",
};

const tooMany: HttpRefusal = {
  status: 429,
  code: "busy",
  message: "Too many large requests at once. Send this one again in a moment.",
};

const tooDeep: HttpRefusal = {
  status: 400,
  code: "bad-request",
  message: `The JSON is nested too deeply: at most ${bodyLimits.depthMax} levels are read.`,
};
