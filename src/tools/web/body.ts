// What came back, as text: unpacked, with a limit on what it may become, and read in the letters it was written in.

import type http from "node:http";
import { type Transform, pipeline } from "node:stream";
import zlib from "node:zlib";
import { Fault } from "../../core/fault.ts";
import { markOf } from "../../ports/letters.ts";

const unpackers: Readonly<Record<string, () => Transform>> = {
  gzip: () => zlib.createGunzip(),
  "x-gzip": () => zlib.createGunzip(),
  deflate: () => zlib.createInflate(),
  br: () => zlib.createBrotliDecompress(),
};

export type Content = { readonly bytes: Buffer; readonly cut: boolean };

/** All of it, or the first `max` bytes: a small answer can unpack to a very large one. */
export async function bodyOf(answer: http.IncomingMessage, max: number): Promise<Content> {
  const packing = (answer.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  const unpack = unpackers[packing];
  if (unpack === undefined && packing !== "identity" && packing !== "") {
    answer.destroy();
    throw new Fault("not-possible", `The answer is packed by ${packing.slice(0, 40)}, which is not known here.`);
  }
  // How it ended is seen by whoever reads the end of the line.
  const stream = unpack === undefined ? answer : pipeline(answer, unpack(), () => undefined);
  const pieces: Buffer[] = [];
  let [size, cut] = [0, false];
  for await (const piece of stream as AsyncIterable<Buffer>) {
    pieces.push(piece.subarray(0, max - size));
    size += piece.length;
    cut = size > max;
    if (cut) break;
  }
  answer.destroy();
  return { bytes: Buffer.concat(pieces), cut };
}

/** The letters: by the mark at its beginning, by what the server says, by what the page says, else UTF-8. */
export function textOf(bytes: Buffer, contentType: string): string {
  const said = /charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType)?.[1];
  const head = bytes.subarray(0, 2_048).toString("latin1");
  const inside =
    /<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]+)/i.exec(head)?.[1] ??
    /<\?xml[^>]{0,200}encoding\s*=\s*["']([\w.:-]+)/i.exec(head)?.[1];
  return decoderOf(markOf(bytes) ?? said ?? inside ?? "utf-8").decode(bytes);
}

function decoderOf(name: string): TextDecoder {
  try {
    return new TextDecoder(name);
  } catch {
    // A name that nobody knows says nothing.
    return new TextDecoder();
  }
}
