// A TCP proxy on loopback between the gateway and any server, which fails the way networks fail.
//
//   const proxy = await faultProxy({ port: server.port }, { http: true });
//   atEnd(t, () => proxy.close());
//   // Let the gateway connect to proxy.port (or proxy.url) instead of the server, then, from any moment on:
//   proxy.begin({ type: "reset", when: "after" });   // for standing and new connections
//   proxy.begin((n) => (n === 3 ? { type: "half-open" } : null));   // only for the third connection
//   proxy.begin({ type: "stall", when: "after", on: /\r\nDATA\r\n/ });   // only once the client has sent this
//   proxy.end();   // New connections pass. Stalled ones go on; half-open ones stay dead.
//
// With `http`, requests are recorded in `exchanges` with when their answer went back, and `answer` faults are possible.
// With `tls` (from test/kit/certificates.ts) the proxy ends TLS and speaks plain text to the server. For a name that does not
// resolve see test/kit/names.ts.

import assert from "node:assert/strict";
import { type AddressInfo, type Server, type Socket, connect, createServer } from "node:net";
import { TLSSocket, createSecureContext } from "node:tls";
import { setTimeout as sleep } from "node:timers/promises";
import { patienceMs } from "../process/stage.ts";
import type { Certificates } from "./certificates.ts";
import { HttpRequests } from "./http-requests.ts";

type Moment = {
  /** The connection is healthy until what its client has sent matches this. */
  readonly on?: RegExp;
};

export type NetworkFault =
  /** `before`: nothing reaches the server. `after`: the server has answered, and its answer is lost. */
  | ({ readonly type: "reset"; readonly when: "before" | "after" } & Moment)
  /** `before`: nothing passes in either direction. `after`: the answer stops after its first bytes. */
  | ({ readonly type: "stall"; readonly when: "before" | "after" } & Moment)
  /** The far side is gone without FIN or RST: connections are accepted, and nothing is ever answered. */
  | ({ readonly type: "half-open" } & Moment)
  /** A proxy answers in the server's place, whether or not the request was delivered. Needs `http`. */
  | ({
      readonly type: "answer";
      readonly status: number;
      readonly delivered: boolean;
      readonly html?: string;
    } & Moment)
  /** `certificate`: another one that nobody trusts. `plain`: a server that speaks no TLS. Needs `tls`. */
  | { readonly type: "tls"; readonly how: "certificate" | "plain" }
  /** Nobody listens at the port. */
  | { readonly type: "refuse" };

/** One HTTP request as the proxy saw it. */
export type Exchange = {
  readonly text: string;
  /** When the first bytes of the server's answer were passed on; null where the client may not have read them. */
  answeredAt: number | null;
};

export type FaultProxy = {
  readonly port: number;
  /** With the name localhost, so that names can fail as well. */
  readonly url: string;
  /** How many connections there were so far. */
  readonly connections: number;
  readonly exchanges: readonly Exchange[];
  begin(fault: NetworkFault | ((connection: number) => NetworkFault | null)): void;
  end(): void;
  /** Resets every standing connection. */
  cut(): void;
  close(): Promise<void>;
};

export type Settings = { readonly http?: boolean; readonly tls?: Certificates };

export const captivePortal = "<!DOCTYPE html><html><body><h1>Welcome to the hotel network</h1></body></html>";
/** Enough for a status line, too little for an answer. */
const firstBytes = 20;
/** So much of what a client has sent is kept for `on`. */
const sentMax = 20_000;
/** When a connection ends so soon after an answer, its client may have given up before, or may not have read it. */
const hasteMs = 2_000;

export async function faultProxy(
  target: { readonly port: number; readonly host?: string },
  settings: Settings = {},
): Promise<FaultProxy> {
  const links = new Set<Link>();
  /** Every accepted socket that is not closed; a client may leave without a word. */
  const sockets = new Set<Socket>();
  let isClosed = false;
  const exchanges: Exchange[] = [];
  const contexts =
    settings.tls === undefined
      ? null
      : {
          good: createSecureContext(settings.tls.trusted),
          bad: createSecureContext(settings.tls.untrusted),
        };
  let choose: (connection: number) => NetworkFault | null = () => null;
  let connections = 0;

  function accept(raw: Socket): void {
    connections++;
    sockets.add(raw);
    raw.once("close", () => sockets.delete(raw));
    const fault = choose(connections);
    if (isClosed || fault?.type === "refuse") return void raw.resetAndDestroy();
    if (fault?.type === "tls" && fault.how === "plain") return answerPlain(raw);
    const context = contexts === null ? null : fault?.type === "tls" ? contexts.bad : contexts.good;
    const link = new Link(raw, context, target, settings.http === true ? exchanges : null, connections);
    links.add(link);
    link.onClose = () => links.delete(link);
    link.change(fault);
  }

  let server = await listen(0, accept);
  const { port } = server.address() as AddressInfo;
  let listening: Promise<unknown> = Promise.resolve();

  function change(next: typeof choose): void {
    choose = next;
    for (const link of links) link.change(next(link.number));
    const isRefusing = next(Number.POSITIVE_INFINITY)?.type === "refuse";
    if (isRefusing && server.listening) server.close();
    if (!isRefusing && !server.listening)
      listening = listening.then(async () => {
        if (!server.listening && !isClosed) server = await listenAgain(port, accept);
      });
  }

  return {
    port,
    url: `${settings.tls === undefined ? "http" : "https"}://localhost:${port}`,
    get connections() {
      return connections;
    },
    exchanges,
    begin: (fault) => change(typeof fault === "function" ? fault : () => fault),
    end: () => change(() => null),
    cut() {
      for (const link of links) link.reset();
    },
    async close() {
      isClosed = true;
      await listening;
      server.close();
      for (const link of links) link.reset();
      for (const socket of sockets) socket.destroy();
    },
  };
}

function listen(port: number, accept: (socket: Socket) => void): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer({ allowHalfOpen: true, noDelay: true }, accept);
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => resolve(server));
  });
}

/** While nobody listened, the system may have lent the port to an outgoing connection, for a moment. */
async function listenAgain(port: number, accept: (socket: Socket) => void): Promise<Server> {
  for (const deadline = Date.now() + patienceMs; ; await sleep(100)) {
    try {
      return await listen(port, accept);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE" || Date.now() > deadline) throw error;
    }
  }
}

function answerPlain(raw: Socket): void {
  raw.on("error", () => undefined);
  raw.once("end", () => raw.destroy());
  raw.once("data", () => raw.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"));
}

/** One connection of the gateway, with its own one to the server. */
class Link {
  readonly number: number;
  onClose: () => void = () => undefined;
  readonly #raw: Socket;
  /** Plain text of the client: the raw socket, or TLS on top of it. */
  readonly #client: Socket;
  readonly #server: Socket;
  readonly #requests = new HttpRequests();
  readonly #exchanges: Exchange[] | null;
  readonly #open: Exchange[] = [];
  #answered: Exchange | null = null;
  #fault: NetworkFault | null = null;
  #isActing = false;
  #isDead = false;
  /** Bytes of the answer that passed while it stalls. */
  #passed = 0;
  #sent = "";
  readonly #toServer: (Buffer | null)[] = [];
  readonly #toClient: (Buffer | null)[] = [];

  constructor(
    raw: Socket,
    context: ReturnType<typeof createSecureContext> | null,
    { port, host = "127.0.0.1" }: { readonly port: number; readonly host?: string },
    exchanges: Exchange[] | null,
    number: number,
  ) {
    this.number = number;
    this.#raw = raw;
    this.#exchanges = exchanges;
    this.#client = context === null ? raw : new TLSSocket(raw, { isServer: true, secureContext: context });
    this.#server = connect({ port, host, allowHalfOpen: true, noDelay: true });
    raw.on("error", () => undefined);
    this.#client.on("error", () => undefined);
    this.#client.on("data", (chunk: Buffer) => this.#fromClient(chunk));
    this.#client.on("end", () => {
      this.#left();
      this.#pass(this.#toServer, null);
    });
    raw.on("close", () => this.#close());
    this.#server.on("data", (chunk: Buffer) => this.#fromServer(chunk));
    this.#server.on("end", () => this.#pass(this.#toClient, null));
    this.#server.on("error", () => this.#serverFailed());
  }

  change(fault: NetworkFault | null): void {
    if (this.#isDead) return;
    this.#fault = fault;
    this.#isActing = fault !== null && ("on" in fault ? fault.on : undefined) === undefined;
    this.#passed = 0;
    if (this.#isActing) this.#strike();
    this.#flush();
  }

  reset(): void {
    this.#server.destroy();
    // Node leaks the handle of a socket that is reset while it shuts down, and then never exits.
    const isEnding = this.#raw.writableEnded || this.#client.writableEnded;
    if (isEnding) this.#raw.destroy();
    else this.#raw.resetAndDestroy();
    this.#client.destroy();
  }

  /** What a fault does to a connection that stands. */
  #strike(): void {
    const fault = this.#fault;
    const isNew = this.#sent === "";
    if (fault?.type === "half-open") {
      this.#isDead = true;
      this.#server.destroy();
    } else if (isNew) return;
    else if (fault?.type === "tls" || fault?.type === "refuse") this.reset();
    else if (fault?.type === "reset" && fault.when === "before") this.reset();
    else if (fault?.type === "answer") {
      if (this.#requests.isUpgraded) this.reset();
      else if (this.#open.length > 0) this.#answer(fault);
    }
  }

  #fromClient(chunk: Buffer): void {
    if (this.#isDead) {
      this.#note(chunk);
      return;
    }
    this.#sent = `${this.#sent}${chunk.toString("latin1")}`.slice(-sentMax);
    const fault = this.#fault;
    if (fault !== null && !this.#isActing && "on" in fault && fault.on?.test(this.#sent) === true) {
      this.#isActing = true;
      if (fault.type === "half-open") this.#strike();
    }
    this.#note(chunk);
    if (this.#isDead) return;
    if (this.#isActing && fault?.type === "reset" && fault.when === "before") return this.reset();
    if (this.#isActing && fault?.type === "answer" && !fault.delivered) {
      assert.ok(this.#exchanges !== null, "an answer fault needs the option http");
      if (this.#open.length > 0) this.#answer(fault);
      return;
    }
    this.#pass(this.#toServer, chunk);
  }

  #fromServer(chunk: Buffer): void {
    const fault = this.#fault;
    if (this.#isActing && fault?.type === "reset") return this.reset();
    if (this.#isActing && fault?.type === "answer") return this.#answer(fault);
    this.#pass(this.#toClient, chunk);
  }

  #note(chunk: Buffer): void {
    if (this.#exchanges === null) return;
    for (const { text } of this.#requests.push(chunk)) {
      const exchange = { text, answeredAt: null };
      // A client that asks again on this connection has read the answer before.
      this.#answered = null;
      this.#open.push(exchange);
      this.#exchanges.push(exchange);
    }
  }

  #settle(exchange: Exchange): void {
    exchange.answeredAt = Date.now();
    this.#answered = exchange;
  }

  /** The client closes its side, or is cut off. */
  #left(): void {
    const last = this.#answered;
    if (last !== null && Date.now() - (last.answeredAt ?? 0) < hasteMs) last.answeredAt = null;
  }

  #pass(queue: (Buffer | null)[], chunk: Buffer | null): void {
    queue.push(chunk);
    this.#flush();
  }

  #flush(): void {
    if (this.#isDead) return;
    const fault = this.#isActing && this.#fault?.type === "stall" ? this.#fault : null;
    if (fault?.when === "before") return;
    for (const chunk of this.#toServer.splice(0)) write(this.#server, chunk);
    if (fault === null) {
      for (const chunk of this.#toClient.splice(0)) {
        // A client that has closed its side reads no answer.
        const isRead = chunk !== null && !this.#client.readableEnded;
        if (isRead) for (const exchange of this.#open.splice(0)) this.#settle(exchange);
        write(this.#client, chunk);
      }
      return;
    }
    const next = this.#toClient[0];
    if (next === undefined || next === null || this.#passed >= firstBytes) return;
    const first = next.subarray(0, firstBytes - this.#passed);
    this.#passed += first.length;
    this.#toClient[0] = next.subarray(first.length);
    this.#client.write(first);
  }

  #answer({ status, html = captivePortal }: NetworkFault & { readonly type: "answer" }): void {
    this.#isDead = true;
    this.#server.destroy();
    const head = `HTTP/1.1 ${status} ${status === 200 ? "OK" : "Bad Gateway"}\r\nContent-Type: text/html\r\n`;
    this.#client.end(`${head}Content-Length: ${Buffer.byteLength(html)}\r\nConnection: close\r\n\r\n${html}`);
  }

  #serverFailed(): void {
    if (!this.#isDead) this.reset();
  }

  #close(): void {
    this.#left();
    this.#isDead = true;
    this.#server.destroy();
    this.onClose();
  }
}

function write(socket: Socket, chunk: Buffer | null): void {
  if (chunk === null) socket.end();
  else if (chunk.length > 0 && socket.writable) socket.write(chunk);
}
