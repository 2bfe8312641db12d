// The gateway's one HTTP server: control protocol, page files, health, and the routes that platforms hand over.
// Loopback only; every request passes the guard first. `close` ends everything that is open at once, so that neither
// a page nor a watcher can hold a stop.

import { getRequestListener } from "@hono/node-server";
import { type Server, createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Fault, sentenceOf } from "../core/fault.ts";
import type { Gateway } from "../ports/gateway.ts";
import type { Routes } from "../ports/http.ts";
import type { Archive, Store } from "../ports/store.ts";
import type { World } from "../ports/world.ts";
import { api } from "./api.ts";
import { type Guard, guard } from "./auth.ts";
import { type Refusal, refusalOf, refuse } from "./faults.ts";
import { tally } from "./metrics.ts";
import { page, pageHeaders, plain } from "./page.ts";
import { toHealth, toReady } from "./views.ts";

export type ControlParts = {
  readonly gateway: Gateway;
  readonly store: Pick<Store, "session" | "turn" | "item">;
  readonly archive: Archive;
  readonly world: Pick<World, "now" | "log">;
  readonly routes: readonly Routes[];
  readonly token: string;
  readonly version: string;
  /** Where the built page lies. */
  readonly pageFolder: string;
  readonly host: string;
  readonly port: number;
  /** A connection on which nothing moves for this long is dropped; live streams ping more often. */
  readonly silenceMs?: number;
};

export type Control = {
  readonly url: string;
  /** The link that lets a browser in. */
  readonly link: string;
  close(): Promise<void>;
};

export async function openControl(parts: ControlParts): Promise<Control> {
  const closing = new AbortController();
  let answer: ((request: Request) => Promise<Response>) | null = null;
  const listener = getRequestListener(
    (request) => answer?.(request) ?? refuse({ status: 503, code: "starting", message: "The gateway is starting." }),
    { errorHandler: (error) => failed(parts.world, error) },
  );
  const server = createServer((incoming, outgoing) => void listener(incoming, outgoing));
  server.timeout = parts.silenceMs ?? 60_000;
  await listen(server, parts.host, parts.port);
  const { port } = server.address() as AddressInfo;
  answer = router(parts, guard(parts.token, port), closing.signal);

  const name = parts.host.includes(":") ? `[${parts.host}]` : parts.host;
  const url = `http://${name}:${port}`;
  return {
    url,
    link: `${url}/?token=${parts.token}`,
    close() {
      closing.abort();
      return new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
    },
  };
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
  const todo = "Set `control.port` in config.yaml, or EVERTURN_CONTROL__PORT, to another port (0 takes any free one).";
  switch (error.code) {
    case "EADDRINUSE":
      return new Fault(
        "port-unusable",
        `Another program already uses ${place}. Stop it, or choose another port. ${todo}`,
        error,
      );
    case "EACCES":
      return new Fault("port-unusable", `This user may not use ${place}. ${todo}`, error);
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return new Fault(
        "port-unusable",
        `This machine has no address ${host}. Set \`control.host\` to 127.0.0.1.`,
        error,
      );
    default:
      return new Fault("port-unusable", `${place} cannot be used: ${error.message}. ${todo}`, error);
  }
}

function router(parts: ControlParts, gate: Guard, closing: AbortSignal): (request: Request) => Promise<Response> {
  const { gateway, store, archive, world, version } = parts;
  const facts = () => ({ pid: process.pid, version, memoryBytes: process.memoryUsage.rss() });
  const control = api({ gateway, store, archive, now: () => world.now(), facts, closing });
  const files = page(parts.pageFolder);
  const counters = tally();
  closing.addEventListener(
    "abort",
    gateway.watch((event) => counters.count(event)),
  );

  async function metrics(): Promise<Response> {
    const text = counters.text(gateway.status(), await archive.counts(), process.memoryUsage(), world.now());
    return new Response(text, {
      headers: { "content-type": "text/plain; version=0.0.4", "cache-control": "no-store" },
    });
  }

  async function answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const path = url.pathname;
    const owned = path === "/api" || path.startsWith("/api/") || path === "/metrics";
    const safe = request.method === "GET" || request.method === "HEAD";
    const refusal =
      gate.checkPlace(request, owned || !safe ? "other" : "static") ?? (owned ? gate.checkToken(request) : null);
    if (refusal !== null) return refuse(refusal);
    // Nobody asks for it, and a stream opened for its headers alone would stay open.
    if (owned && request.method === "HEAD") return refuse(wrongMethod("GET or POST"));
    if (path === "/metrics") return metrics();
    if (owned) {
      const routes = parts.routes.find((one) => path === one.prefix || path.startsWith(`${one.prefix}/`));
      return routes === undefined ? control(request) : routes.handle(request);
    }
    if (!safe) return refuse(wrongMethod("GET"));
    if (path === "/healthz") return json(200, toHealth(gateway.status(), version, world.now()));
    if (path === "/readyz") {
      const ready = toReady(gateway.status());
      return json(ready.ready ? 200 : 503, ready);
    }
    const token = path === "/" ? url.searchParams.get("token") : null;
    return token === null ? files(path, request) : enter(gate, token);
  }

  return (request) => answer(request).catch((error: unknown) => failed(world, error));
}

function wrongMethod(takes: string): Refusal {
  return { status: 405, code: "method-not-allowed", message: `This address takes ${takes}.` };
}

/** The access link: trades the token in the address for a cookie, so that it stays out of the history and the page. */
function enter(gate: Guard, token: string): Response {
  const refusal = gate.checkLink(token);
  if (refusal !== null) return plain(401, `${refusal.message}\n`);
  const headers = { ...pageHeaders, location: "/", "set-cookie": gate.cookie, "cache-control": "no-store" };
  return new Response(null, { status: 303, headers });
}

function failed(world: Pick<World, "log">, error: unknown): Response {
  if (error instanceof Fault) return refuse(refusalOf(error));
  if (error instanceof Error && error.name === "RequestError")
    return refuse({ status: 400, code: "bad-request", message: `The request cannot be read: ${error.message}.` });
  world.log("error", "a request could not be answered", {
    error: sentenceOf(error),
    stack: error instanceof Error ? error.stack : undefined,
  });
  return refuse({ status: 500, code: "bug", message: "This is a mistake of the gateway. Its log has the details." });
}

function json(status: number, value: unknown): Response {
  const headers = {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  };
  return new Response(JSON.stringify(value), { status, headers });
}
