// The only way out of a sandbox: a proxy that connects to granted hosts at public addresses, and to nothing else. It speaks
// HTTP (CONNECT and plain requests) and SOCKS 5 on one socket. A name is resolved once, and the connection goes to exactly
// the address that was checked, so a name that changes its address in between gains nothing.

import { lookup } from "node:dns/promises";
import { type Server, type Socket, connect, createServer } from "node:net";
import { isAddress, isPublic } from "../../core/addresses.ts";
import { sentenceOf } from "../../core/fault.ts";
import { type Destination, isGranted, parseDestination } from "./hosts.ts";

/** The network behind the proxy. */
export type Network = {
  /** All addresses of a name. */
  resolve(host: string): Promise<readonly string[]>;
  isAllowed(address: string): boolean;
  connect(address: string, port: number): Socket;
};

export const publicNetwork: Network = {
  resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  isAllowed: isPublic,
  connect: (host, port) => connect({ host, port }),
};

/** How long one address may take, how many are tried, and how long a client may take to say where it wants to go. */
const [connectMs, maxAddresses, requestMs] = [10_000, 4, 30_000];
const maxHeaderBytes = 64 * 1024;
const maxConnections = 512;

type Opened =
  | { readonly type: "open"; readonly socket: Socket }
  | { readonly type: "refused"; readonly why: string }
  | { readonly type: "failed"; readonly why: string };

export function openProxy(hosts: readonly string[], network: Network = publicNetwork): Server {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: false }, (client) => {
    client.on("error", () => client.destroy());
    client.setTimeout(requestMs, () => client.destroy());
    readRequest(client, (bytes) => serve(client, bytes, hosts, network));
  });
  server.maxConnections = maxConnections;
  return server;
}

/** Calls back with the first bytes again and again, until it says that it has taken them. */
function readRequest(client: Socket, take: (bytes: Buffer) => boolean): void {
  let bytes = Buffer.alloc(0);
  const onData = (part: Buffer) => {
    bytes = Buffer.concat([bytes, part]);
    client.pause();
    client.off("data", onData);
    if (take(bytes)) return;
    if (bytes.length > maxHeaderBytes) return void answer(client, 431, "The request is too long.");
    client.on("data", onData);
    client.resume();
  };
  client.on("data", onData);
}

/** True when the request is complete and answered, or being answered. */
function serve(client: Socket, bytes: Buffer, hosts: readonly string[], network: Network): boolean {
  if (bytes[0] === 5) return serveSocks(client, bytes, hosts, network);
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return false;
  const [first = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const rest = bytes.subarray(end + 4);
  const [method = "", target = ""] = first.split(" ");
  const request =
    method === "CONNECT" ? { to: parseDestination(target), sent: rest } : plainRequest(method, target, lines, rest);
  if (request.to === null) {
    answer(client, 400, "This is a proxy. It takes CONNECT host:port and requests for http:// addresses.");
    return true;
  }
  void open(request.to, hosts, network).then((opened) => {
    if (opened.type !== "open") return answer(client, opened.type === "refused" ? 403 : 502, opened.why);
    if (method === "CONNECT") client.write("HTTP/1.1 200 Connection established\r\n\r\n");
    join(client, opened.socket, request.sent);
  });
  return true;
}

/** For the server itself: without what was meant for the proxy, and one request a connection. */
function plainRequest(
  method: string,
  target: string,
  lines: readonly string[],
  rest: Buffer,
): { readonly to: Destination | null; readonly sent: Buffer } {
  const url = URL.canParse(target) ? new URL(target) : null;
  if (url?.protocol !== "http:") return { to: null, sent: rest };
  const to = parseDestination(url.host, 80);
  const kept = lines.filter((line) => !/^(?:proxy-[\w-]+|connection|keep-alive|host):/i.test(line));
  const head = [`${method} ${url.pathname}${url.search} HTTP/1.1`, `Host: ${url.host}`, ...kept, "Connection: close"];
  return { to, sent: Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`, "latin1"), rest]) };
}

async function open(to: Destination, hosts: readonly string[], network: Network): Promise<Opened> {
  const { host, port } = to;
  if (!isGranted(to, hosts))
    return { type: "refused", why: `The sandbox has no access to ${host}:${port}. Ask for this host to be allowed.` };
  let addresses: readonly string[];
  try {
    addresses = isAddress(host) ? [host] : await network.resolve(host);
  } catch (error) {
    return { type: "failed", why: `${host} could not be resolved (${sentenceOf(error)}).` };
  }
  const allowed = addresses.filter((address) => network.isAllowed(address)).slice(0, maxAddresses);
  if (allowed.length === 0)
    return { type: "refused", why: `${host} is not a public address. The sandbox reaches the public internet only.` };
  let why = "";
  for (const address of allowed) {
    const socket = network.connect(address, port);
    const failure = await connected(socket);
    if (failure === null) return { type: "open", socket };
    why = failure;
  }
  return { type: "failed", why: `${host}:${port} could not be reached (${why}).` };
}

/** Null when it is, else why not. */
function connected(socket: Socket): Promise<string | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => fail(new Error("no answer")), connectMs);
    const fail = (error: Error) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(error.message);
    };
    socket.once("error", fail);
    socket.once("connect", () => {
      clearTimeout(timer);
      socket.off("error", fail);
      resolve(null);
    });
  });
}

function join(client: Socket, server: Socket, sent: Buffer): void {
  client.setTimeout(0);
  for (const [one, other] of [
    [client, server],
    [server, client],
  ] as const) {
    one.on("error", () => other.destroy());
    one.on("close", () => other.destroy());
  }
  if (sent.length > 0) server.write(sent);
  client.pipe(server);
  server.pipe(client);
}

/** What still comes is read and dropped, so that the client sees the answer and not a reset. */
function finish(client: Socket, bytes: string | Buffer): void {
  client.end(bytes);
  client.resume();
}

function answer(client: Socket, status: number, why: string): void {
  const names: Readonly<Record<number, string>> = {
    400: "Bad Request",
    403: "Forbidden",
    431: "Request Header Fields Too Large",
    502: "Bad Gateway",
  };
  const head = [`HTTP/1.1 ${status} ${names[status]}`, "Content-Type: text/plain; charset=utf-8", "Connection: close"];
  finish(client, `${[...head, `Content-Length: ${Buffer.byteLength(why) + 1}`].join("\r\n")}\r\n\r\n${why}\n`);
}

// -------------------------------------------------------------------------------------------------------- SOCKS 5

/** Bytes of a greeting: version, number of methods, methods. */
const greetingBytes = (bytes: Buffer) => 2 + (bytes[1] ?? 0);
const socksReply = { ok: 0, failed: 1, refused: 2, unsupported: 7 } as const;

function serveSocks(client: Socket, bytes: Buffer, hosts: readonly string[], network: Network): boolean {
  if (bytes.length < 2 || bytes.length < greetingBytes(bytes)) return false;
  client.write(Buffer.from([5, 0]));
  const early = bytes.subarray(greetingBytes(bytes));
  if (early.length > 0) client.unshift(early);
  readRequest(client, (request) => {
    const parsed = parseSocks(request);
    if (parsed === "incomplete") return false;
    const reply = (code: number) => Buffer.from([5, code, 0, 1, 0, 0, 0, 0, 0, 0]);
    if (parsed === null) {
      finish(client, reply(socksReply.unsupported));
      return true;
    }
    void open(parsed.to, hosts, network).then((opened) => {
      if (opened.type !== "open")
        return finish(client, reply(opened.type === "refused" ? socksReply.refused : socksReply.failed));
      client.write(reply(socksReply.ok));
      return join(client, opened.socket, parsed.rest);
    });
    return true;
  });
  client.resume();
  return true;
}

/** A request to connect: version, command, zero, kind of address, address, port. Null for anything else. */
export function parseSocks(bytes: Buffer): { readonly to: Destination; readonly rest: Buffer } | "incomplete" | null {
  if (bytes.length < 5) return "incomplete";
  const [version, command, , kind, size = 0] = bytes;
  if (version !== 5 || command !== 1) return null;
  const length = kind === 1 ? 4 : kind === 4 ? 16 : kind === 3 ? size : null;
  if (length === null) return null;
  const start = kind === 3 ? 5 : 4;
  if (bytes.length < start + length + 2) return "incomplete";
  const raw = bytes.subarray(start, start + length);
  const groups = () => Array.from({ length: 8 }, (_, at) => raw.readUInt16BE(at * 2).toString(16)).join(":");
  const host = kind === 3 ? raw.toString("latin1") : kind === 1 ? [...raw].join(".") : `[${groups()}]`;
  const to = parseDestination(host, bytes.readUInt16BE(start + length));
  return to === null ? null : { to, rest: bytes.subarray(start + length + 2) };
}
