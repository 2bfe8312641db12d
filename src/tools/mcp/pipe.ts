// The transport to a server that is a program of ours to start: JSON-RPC in lines over its input and output. A few lines
// that are none, such as a greeting, are passed over; a server that sends nothing else is let go.

import {
  type JSONRPCMessage,
  type Transport,
  deserializeMessage,
  serializeMessage,
} from "@modelcontextprotocol/client";
import { type Peer, type PeerOptions, openPeer } from "../../peers/child.ts";

/** Lines in a row that cannot be read. */
const garbageMax = 100;

export type Pipe = Transport & {
  /** The library recognizes a program by these two: silence then means an older server and not an outage. */
  readonly pid: number | null;
  readonly stderr: null;
  /** Why the program ended by itself; null while it runs, and when we closed it. */
  readonly over: () => string | null;
};

export type PipeOptions = Omit<PeerOptions, "line" | "ended">;

export function pipe(launch: () => Promise<PipeOptions>): Pipe {
  let peer: Peer | null = null;
  let over: string | null = null;
  let isClosed = false;
  let garbage = 0;

  function read(line: string): void {
    let message: JSONRPCMessage;
    try {
      message = deserializeMessage(line);
    } catch (error) {
      garbage++;
      transport.onerror?.(error instanceof Error ? error : new Error(String(error)));
      if (garbage > garbageMax) void peer?.end("it sends lines that are no messages");
      return;
    }
    garbage = 0;
    transport.onmessage?.(message);
  }

  const transport: Pipe = {
    get pid() {
      return peer?.pid ?? null;
    },
    stderr: null,
    over: () => over,
    async start() {
      const options = await launch();
      if (isClosed) throw new Error("we closed it");
      peer = openPeer({
        ...options,
        line: read,
        ended(why) {
          const isOwn = isClosed;
          // What it said last may still be on its way when its end is known.
          setImmediate(() => {
            const said = peer?.lastWords() ?? "";
            if (!isOwn) over = said === "" ? why : `${why}; its last words: ${said.slice(-300)}`;
            transport.onclose?.();
          });
        },
      });
    },
    async send(message) {
      if (peer === null) throw new Error("it is not started");
      await peer.send(serializeMessage(message).trimEnd());
    },
    async close() {
      isClosed = true;
      await peer?.end("we closed it");
    },
  };
  return transport;
}
