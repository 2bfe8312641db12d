// The connection: a socket with or without TLS, lines in and out. Whoever reads it sees its end as an error.

import { once } from "node:events";
import { type Socket, isIP } from "node:net";
import { sentenceOf } from "../../core/fault.ts";
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

export async function connect(settings: IrcSettings, signal: AbortSignal): Promise<Connection> {
  const socket = await opened(settings, signal);
  return {
    write: (line) => void socket.write(`${line.replace(/[\r\n\0]+/g, " ")}\r\n`),
    lines: () => linesOf(socket),
    close: () => void socket.destroy(),
  };
}

async function opened({ host, port, tls }: IrcSettings, signal: AbortSignal): Promise<Socket> {
  // An address is no name of a server; its certificate is checked all the same.
  const at = { host, port, ...(tls && isIP(host) === 0 ? { servername: host } : {}) };
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

async function* linesOf(socket: Socket): AsyncGenerator<Line> {
  const cut = cutLines();
  for await (const chunk of socket) {
    const pieces = cut.take(chunk as Buffer);
    if (cut.held() > lineMax) throw new Error("The server sends what is not IRC.");
    for (const piece of pieces) {
      const line = parseLine(piece);
      if (line !== null) yield line;
    }
  }
}
