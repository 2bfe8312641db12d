// The connection: a socket with or without TLS, lines in and out. Whoever reads it sees its end as an error.

import { once } from "node:events";
import { type Socket, isIP } from "node:net";
import { Fault, sentenceOf } from "../../core/fault.ts";
import type { IrcSettings } from "./index.ts";
import { type Line, cutLines, parseLine } from "./lines.ts";

export type Connection = {
  /** One line; a line end inside it would be another command. */
  write(line: string): void;
  lines(): AsyncGenerator<Line>;
  close(): void;
};

/** A server that sends so many bytes without ending its line is none. */
const lineMax = 16_384;

/** Called with the reason for which a line was not taken. */
export type Skipped = (reason: string) => void;

export async function connect(settings: IrcSettings, skipped: Skipped, signal: AbortSignal): Promise<Connection> {
  const socket = await opened(settings, signal);
  return {
    write: (line) => void socket.write(`${line.replace(/[\r\n\0]+/g, " ")}\r\n`),
    lines: () => linesOf(socket, skipped),
    close: () => void socket.destroy(),
  };
}

async function opened({ host, port, tls, sasl }: IrcSettings, signal: AbortSignal): Promise<Socket> {
  const isExternal = sasl !== null && "certificate" in sasl;
  if (isExternal && !tls) throw new Fault("denied", "A client certificate needs TLS. Set platforms.irc.tls to true.");
  const own = isExternal ? await certificateOf(sasl) : {};
  // An address is no name of a server; its certificate is checked all the same.
  const at = { host, port, ...own, ...(tls && isIP(host) === 0 ? { servername: host } : {}) };
  const socket = tls ? (await import("node:tls")).connect(at) : (await import("node:net")).connect(at);
  socket.setNoDelay(true);
  try {
    await once(socket, tls ? "secureConnect" : "connect", { signal });
  } catch (error) {
    socket.destroy();
    if (signal.aborted) throw error;
    throw new Error(`${host}, port ${port}, cannot be reached${tls ? " with TLS" : ""}: ${sentenceOf(error)}`, {
      cause: error,
    });
  }
  return socket;
}

/** Read for each connection, so that a renewed certificate is used without a restart. */
async function certificateOf({ certificate, key }: { readonly certificate: string; readonly key: string }) {
  try {
    const { readFile } = await import("node:fs/promises");
    return { cert: await readFile(certificate), key: await readFile(key) };
  } catch (error) {
    const why = `The client certificate for IRC cannot be read: ${sentenceOf(error)}. Check platforms.irc.sasl.`;
    throw new Fault("denied", why);
  }
}

async function* linesOf(socket: Socket, skipped: Skipped): AsyncGenerator<Line> {
  const cut = cutLines();
  for await (const chunk of socket) {
    const pieces = cut.take(chunk as Buffer);
    if (cut.held() > lineMax) throw new Error("The server sends what is not IRC.");
    for (const piece of pieces) {
      const line = parseLine(piece);
      if (line !== null) yield line;
      else if (piece.trim() !== "") skipped("not a line of IRC");
    }
  }
}
