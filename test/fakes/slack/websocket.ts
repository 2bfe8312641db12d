// The server's side of a WebSocket, as much of it as a fake needs: texts, pings, a goodbye, and sudden death. A peer that
// is deaf reads nothing and answers nothing, though its connection stands.

import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";

export type Peer = {
  send(text: string): void;
  /** A ping of the server's own. */
  ping(): void;
  /** The polite end. */
  close(code?: number): void;
  /** The other one. */
  destroy(): void;
  setDeaf(): void;
};

const magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const text = 1;
const goodbye = 8;
const ping = 9;
const pong = 10;

export function welcome(
  request: IncomingMessage,
  socket: Duplex,
  on: { readonly text: (text: string) => void; readonly gone: () => void },
): Peer {
  const key = request.headers["sec-websocket-key"] ?? "";
  const accept = createHash("sha1").update(`${key}${magic}`).digest("base64");
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  let isDeaf = false;
  let buffer = Buffer.alloc(0);
  let words = "";
  const write = (opcode: number, content: Buffer): void => {
    if (!isDeaf && socket.writable) socket.write(frame(opcode, content));
  };
  const take = ({ opcode, isLast, content }: Frame): void => {
    if (opcode === ping) write(pong, content);
    if (opcode === goodbye) {
      write(goodbye, content);
      socket.end();
    }
    if (opcode > text) return;
    words += content.toString("utf8");
    if (!isLast) return;
    const whole = words;
    words = "";
    on.text(whole);
  };
  socket.on("data", (chunk: Buffer) => {
    if (isDeaf) return;
    buffer = Buffer.concat([buffer, chunk]);
    for (let next = read(buffer); next !== null; next = read(buffer)) {
      buffer = buffer.subarray(next.size);
      take(next);
    }
  });
  socket.on("error", () => undefined);
  socket.on("close", on.gone);
  socket.on("end", () => socket.end());
  return {
    send: (one) => write(text, Buffer.from(one)),
    ping: () => write(ping, Buffer.from("ping")),
    close(code = 1000) {
      const content = Buffer.alloc(2);
      content.writeUInt16BE(code);
      write(goodbye, content);
    },
    destroy: () => void socket.destroy(),
    setDeaf: () => (isDeaf = true),
  };
}

type Frame = { readonly opcode: number; readonly isLast: boolean; readonly content: Buffer; readonly size: number };

/** The first whole frame of what has come, or null. */
function read(buffer: Buffer): Frame | null {
  const [first = 0, second = 0] = buffer;
  if (buffer.length < 2) return null;
  const short = second & 0x7f;
  const head = short === 126 ? 4 : short === 127 ? 10 : 2;
  const mask = second & 0x80 ? 4 : 0;
  if (buffer.length < head + mask) return null;
  const length = short === 126 ? buffer.readUInt16BE(2) : short === 127 ? Number(buffer.readBigUInt64BE(2)) : short;
  const size = head + mask + length;
  if (buffer.length < size) return null;
  const key = buffer.subarray(head, head + mask);
  const content = Buffer.from(buffer.subarray(head + mask, size));
  if (mask > 0) for (let n = 0; n < content.length; n++) content[n] = (content[n] ?? 0) ^ (key[n % 4] ?? 0);
  return { opcode: first & 0x0f, isLast: (first & 0x80) !== 0, content, size };
}

function frame(opcode: number, content: Buffer): Buffer {
  const { length } = content;
  const head = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
  head[0] = 0x80 | opcode;
  head[1] = length < 126 ? length : length < 65_536 ? 126 : 127;
  if (head.length === 4) head.writeUInt16BE(length, 2);
  if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, content]);
}
