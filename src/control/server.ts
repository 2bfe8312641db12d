// The gateway's one HTTP server: control protocol, page files, health, and the routes that platforms hand over.
// Loopback only; every request passes the guard first. `close` ends everything that is open at once, so that neither
// a page nor a watcher can hold a stop.

import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo, Server } from "node:net";
import { Fault, sentenceOf } from "../core/fault.ts";
import type { Gateway } from "../ports/gateway.ts";
import type { Routes } from "../ports/http.ts";
import type { ToolServers } from "../ports/peers.ts";
import type { Archive, Store } from "../ports/store.ts";
import type { World } from "../ports/world.ts";
import { type Guard, guard } from "./auth.ts";
import type { BodySettings } from "./body.ts";
import type { Devices } from "./devices.ts";
import { tally } from "./tally.ts";
import type { Draining } from "./protocol.ts";
import type { Router } from "./router.ts";
import { toDraining, toHealth, toReady } from "./views.ts";

export type ControlParts = {
  readonly gateway: Gateway;
  readonly store: Pick<Store, "session" | "turn" | "item" | "commit">;
  readonly archive: Archive;
  readonly servers: ToolServers;
  readonly world: Pick<World, "now" | "log">;
  readonly routes: readonly Routes[];
  readonly token: string;
  readonly version: string;
  /** Takes known secrets out of status answers and errors. */
  readonly redact?: (text: string) => string;
  /** How long a stop lets turns run; whoever waits for one needs to know. */
  readonly drainSeconds: number;
  /** Where the built page lies. */
  readonly pageFolder: string;
  readonly host: string;
  readonly port: number;
  /** A connection on which nothing moves for this long is dropped; live streams ping more often. */
  readonly silenceMs?: number;
  /** Limits on bodies, where a test wants others. */
  readonly bodies?: BodySettings;
};

export type Control = {
  readonly url: string;
  /** A link that lets one browser in, once, within ten minutes. */
  newLink(): Promise<string>;
  close(): Promise<void>;
};

/** How long the headers and all of a request may take, how large its headers may be, and how many may be open. */
const headersTimeout = 15_000;
const requestTimeout = 300_000;
const maxHeaderSize = 16 * 1024;
const connectionsMax = 4_096;

export async function openControl(parts: ControlParts): Promise<Control> {
  // As an ES module, node:http reads all its lazy exports and so loads a whole HTTP client: 50 ms and 16 MB for nothing.
  const { createServer } = process.getBuiltinModule("node:http");
  const closing = new AbortController();
  const counters = tally();
  let draining: Draining | null = null;
  const unwatch = parts.gateway.watch((event) => {
    counters.count(event);
    if (event.type === "draining") draining = toDraining(event);
  });
  let gate: Guard | null = null;
  let router: Promise<Router> | null = null;
  let url = "";

  function answer(incoming: IncomingMessage, outgoing: ServerResponse): void {
    if (gate === null || answerHealth(parts, gate, incoming, outgoing)) return;
    // Everything but health waits for its first caller: the start does not pay for it.
    router ??= load(gate);
    router.then((route) => route(incoming, outgoing)).catch((error: unknown) => giveUp(parts, outgoing, error));
  }

  async function load(gate: Guard): Promise<Router> {
    const [{ openRouter }, known] = await Promise.all([import("./router.ts"), signedIn()]);
    const shared = { gate, devices: known, url, counters, draining: () => draining, closing: closing.signal };
    return openRouter({ ...parts, ...shared });
  }

  let devices: Promise<Devices> | null = null;
  function signedIn(): Promise<Devices> {
    const { store, archive, gateway, world } = parts;
    devices ??= import("./devices.ts").then(({ openDevices }) =>
      openDevices({
        store: {
          commit: (changes, by) => store.commit(changes, by),
          devices: () => archive.devices(),
          links: () => archive.links(),
        },
        boot: () => gateway.status().boot,
        world,
      }),
    );
    return devices;
  }

  const server = createServer({ headersTimeout, requestTimeout, maxHeaderSize }, answer);
  server.maxConnections = connectionsMax;
  server.timeout = parts.silenceMs ?? 60_000;
  await listen(server, parts.host, parts.port);
  const { port } = server.address() as AddressInfo;
  gate = guard(parts.token, port);

  const name = parts.host.includes(":") ? `[${parts.host}]` : parts.host;
  url = `http://${name}:${port}`;
  return {
    url,
    async newLink() {
      const [{ linkOf }, known] = await Promise.all([import("./api/devices.ts"), signedIn()]);
      return linkOf(url, (await known.newLink()).secret);
    },
    close() {
      closing.abort();
      unwatch();
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
}

/** `/healthz` and `/readyz`, asked under our own name; false leaves everything else to the router. */
function answerHealth(
  { gateway, version, world }: ControlParts,
  gate: Guard,
  { method, url, headers }: IncomingMessage,
  outgoing: ServerResponse,
): boolean {
  const path = url?.split("?", 1)[0];
  if ((path !== "/healthz" && path !== "/readyz") || (method !== "GET" && method !== "HEAD")) return false;
  if (!gate.knows(headers.host)) return false;
  // One that brings a body is refused like everywhere.
  if (headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0) return false;
  const status = gateway.status();
  const ready = toReady(status);
  const body = path === "/healthz" ? toHealth(status, version, world.now()) : ready;
  const kind = { "content-type": "application/json", "cache-control": "no-store", "x-content-type-options": "nosniff" };
  outgoing.writeHead(path === "/healthz" || ready.ready ? 200 : 503, kind);
  outgoing.end(JSON.stringify(body));
  return true;
}

function giveUp({ world }: ControlParts, outgoing: ServerResponse, error: unknown): void {
  world.log("error", "a request could not be answered", { error: sentenceOf(error) });
  outgoing.destroy();
}

/** Listens there for a moment, to find out before it matters whether a gateway could; a Fault says why not. */
export async function tryAddress(host: string, port: number): Promise<void> {
  const { createServer } = process.getBuiltinModule("node:net");
  const server = createServer();
  await listen(server, host, port);
  await new Promise<void>((closed) => server.close(() => closed()));
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error: NodeJS.ErrnoException) => reject(unusable(error, host, port)));
    server.listen({ host, port }, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });
}

function unusable(error: NodeJS.ErrnoException, host: string, port: number): Fault {
  const place = `${host}:${port}`;
  const todo = "set `control.port` in config.yaml, or EVERTURN_CONTROL__PORT, to another port (0 takes any free one).";
  switch (error.code) {
    case "EADDRINUSE":
      return new Fault("port-unusable", `Another program already uses ${place}. Stop it, or ${todo}`, error);
    case "EACCES":
      return new Fault("port-unusable", `This user may not use ${place}; ${todo}`, error);
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new Fault(
        "port-unusable",
        `This machine has no address ${host}. Set \`control.host\` to 127.0.0.1.`,
        error,
      );
    default:
      return new Fault("port-unusable", `${place} cannot be used (${error.message}); ${todo}`, error);
  }
}
