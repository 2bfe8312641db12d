// What the control port answers: page files, the control protocol, metrics, and the routes that platforms hand over. Every
// request passes the guard first; routes that check their callers themselves are reached under any name, but not by pages
// of other sites. Loaded at the first request that is not about health.

import { getRequestListener } from "@hono/node-server";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault, sentenceOf } from "../core/fault.ts";
import { dayOf } from "../core/usage.ts";
import type { World } from "../ports/world.ts";
import { api } from "./api/index.ts";
import type { Guard } from "./auth.ts";
import { type Refusal, refusalOf, refuse } from "./faults.ts";
import { metricsText } from "./api/metrics.ts";
import type { Tally } from "./tally.ts";
import { page, pageHeaders, plain } from "./page.ts";
import type { Draining } from "./protocol.ts";
import type { ControlParts } from "./server.ts";

export type RouterParts = ControlParts & {
  readonly gate: Guard;
  readonly counters: Tally;
  readonly draining: () => Draining | null;
  readonly closing: AbortSignal;
};

/** As many open questions as are counted. */
const askedMax = 1_000;

export type Router = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

export function openRouter(parts: RouterParts): Router {
  const answer = answers(parts);
  const listener = getRequestListener(answer, { errorHandler: (error) => failed(parts.world, error) });
  return async (incoming, outgoing) => {
    await listener(incoming, outgoing);
  };
}

function answers(parts: RouterParts): (request: Request) => Promise<Response> {
  const { gateway, store, archive, world, version, drainSeconds, gate, counters, draining, closing } = parts;
  const facts = () => ({ pid: process.pid, version, drainSeconds, memoryBytes: process.memoryUsage.rss() });
  const control = api({ gateway, store, archive, now: () => world.now(), facts, draining, closing });
  const files = page(parts.pageFolder);

  async function metrics(): Promise<Response> {
    const now = world.now();
    const [counts, asked, today] = await Promise.all([
      archive.counts(),
      archive.asked(askedMax),
      archive.usage({ since: dayOf(now) }),
    ]);
    const text = metricsText(counters.counters, {
      status: gateway.status(),
      counts,
      asked,
      today,
      memory: process.memoryUsage(),
      now,
    });
    return new Response(text, {
      headers: { "content-type": "text/plain; version=0.0.4", "cache-control": "no-store" },
    });
  }

  async function answer(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const path = url.pathname;
    const routes = parts.routes.find((one) => path === one.prefix || path.startsWith(`${one.prefix}/`));
    if (routes?.auth === "own") {
      const refusal = gate.checkOrigin(request);
      return refusal === null ? routes.handle(request, { isOwner: gate.isOwner(request) }) : refuse(refusal);
    }
    const owned = path === "/api" || path.startsWith("/api/") || path === "/metrics";
    const safe = request.method === "GET" || request.method === "HEAD";
    const refusal =
      gate.checkPlace(request, owned || !safe ? "other" : "static") ?? (owned ? gate.checkToken(request) : null);
    if (refusal !== null) return refuse(refusal);
    // Nobody asks for it, and a stream opened for its headers alone would stay open.
    if (owned && request.method === "HEAD") return refuse(wrongMethod("GET or POST"));
    if (path === "/metrics") return metrics();
    if (owned) return routes === undefined ? control(request) : routes.handle(request, { isOwner: true });
    if (!safe) return refuse(wrongMethod("GET"));
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
