// For tests: requests that no honest client makes, and what becomes of them.

import { type Socket, connect } from "node:net";

export type Outcome = {
  /** Null when the connection ended without an answer. */
  readonly status: number | null;
  readonly text: string;
};

export type Hostile = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent one after the other, as fast as they are taken, until the server ends the connection. */
  readonly chunks?: () => Iterable<Buffer>;
};

/** Resolves when the server has closed the connection, or kept it after a complete answer. */
export function send(url: string, { method, path, headers, chunks }: Hostile): Promise<Outcome> {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  const lines = Object.entries({ host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`);
  void pour(socket, chunks?.() ?? []);
  return new Promise((resolve) => {
    let text = "";
    const done = () => {
      socket.destroy();
      const status = /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1];
      resolve({ status: status === undefined ? null : Number(status), text });
    };
    socket.setEncoding("utf8");
    socket.on("data", (piece: string) => (text += piece));
    socket.on("error", () => undefined);
    socket.on("close", done);
  });
}

async function pour(socket: Socket, chunks: Iterable<Buffer>): Promise<void> {
  for (const chunk of chunks) {
    if (socket.destroyed) return;
    if (socket.write(chunk)) await new Promise((resolve) => setImmediate(resolve));
    else await room(socket);
  }
}

function room(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      socket.off("drain", done).off("close", done);
      resolve();
    };
    socket.on("drain", done).on("close", done);
  });
}

/** Chunks of a chunked body that never ends. */
export function* endless(piece: Buffer): Generator<Buffer> {
  const framed = Buffer.concat([Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from("\r\n")]);
  for (;;) yield framed;
}
