// What the control port answers: page files, the control protocol, and the routes that platforms declare. Every request
// passes the same steps: place, caller, body, then its route. Loaded at the first request that is not about health.

import { getRequestListener } from "@hono/node-server";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault, sentenceOf } from "../core/fault.ts";
import { dayOf } from "../core/usage.ts";
import { type BodyLimit, BodyTooLarge, type HttpRefusal, type Routes } from "../ports/http.ts";
import { apiRoutes, runRoute } from "./api/index.ts";
import { metricsText } from "./api/metrics.ts";
import { heldIn } from "./api/reads.ts";
import type { ApiParts } from "./api/route.ts";
import { type Guard, type OwnerCall, authenticate, clearedCookie, unknownCredential } from "./auth.ts";
import { bodyReader, isRefusal } from "./body.ts";
import type { Devices, SignedIn } from "./devices.ts";
import { type Refusal, notFound, refusalOf, refuse } from "./faults.ts";
import { matchRoute } from "./match.ts";
import { page, pageHeaders } from "./page.ts";
import type { Draining } from "./protocol.ts";
import type { ControlParts } from "./server.ts";
import { signedAddresses } from "./signed.ts";
import type { Tally } from "./tally.ts";

export type RouterParts = ControlParts & {
  readonly gate: Guard;
  readonly devices: Devices;
  readonly url: string;
  readonly counters: Tally;
  readonly draining: () => Draining | null;
  readonly closing: AbortSignal;
};

/** As many open questions as are counted. */
const askedMax = 1_000;
/** A revoked device may still read the answer to the request that revoked it. */
const revokedGraceMs = 200;

export type Router = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

export function openRouter(parts: RouterParts): Router {
  const answer = answers(parts);
  const listener = getRequestListener(
    async (request, { incoming, outgoing }) => {
      const response = await answer(request, incoming as IncomingMessage, outgoing as ServerResponse).catch(
        (error: unknown) => failed(parts, error),
      );
      const cleared = clearedCookie(request.headers.get("cookie"));
      if (cleared !== null) response.headers.append("set-cookie", cleared);
      return response;
    },
    { errorHandler: (error) => failed(parts, error) },
  );
  return async (incoming, outgoing) => {
    await listener(incoming, outgoing);
  };
}

/** What a request asks for, before anything of it is done. */
type Plan = {
  readonly role: "public" | "static" | "owner" | "checked";
  readonly body: BodyLimit;
  readonly isSigned: boolean;
  refuse(refusal: HttpRefusal): Response;
  /** Looks at the headers before any of the body is read. */
  admit?(request: Request): Promise<Response | null>;
  run(request: Request, caller: OwnerCall | null): Response | Promise<Response>;
};

type Answer = (request: Request, incoming: IncomingMessage, outgoing: ServerResponse) => Promise<Response>;

function answers(parts: RouterParts): Answer {
  const { world, gate, devices, token } = parts;
  const signed = signedAddresses(token, () => world.now());
  const keys = { token, devices, signed };
  const bodies = bodyReader(parts.bodies);
  const planOf = planner(parts, apiParts(parts, signed));

  return async (request, incoming, outgoing) => {
    const url = new URL(request.url);
    const plan = planOf(request.method, url);
    const wrongPlace =
      plan.role === "checked"
        ? gate.checkOrigin(request)
        : gate.checkPlace(request, plan.role === "static" ? "static" : "other");
    if (wrongPlace !== null) return refuseEarly(plan, wrongPlace, incoming);
    const caller = plan.role === "owner" ? authenticate(keys, request, plan.isSigned ? url : null) : null;
    if (caller !== null && "status" in caller) return refuseEarly(plan, caller, incoming);
    if (caller?.device) endWith(caller.device, outgoing);
    const refused = plan.admit === undefined ? null : await plan.admit(request);
    if (refused !== null) return closing(refused, incoming);
    const read = await bodies.read(incoming, plan.body);
    if (isRefusal(read)) return refuseEarly(plan, read, incoming);
    try {
      // It may have been revoked while the body came in.
      if (caller?.device?.revoked.aborted) return plan.refuse(unknownCredential);
      return await plan.run(withBody(request, read.body), caller);
    } catch (error) {
      if (error instanceof BodyTooLarge)
        return refuseEarly(plan, { status: 413, code: "too-large", message: error.message }, incoming);
      throw error;
    } finally {
      read.done();
    }
  };
}

/** Where more of the request is to come, the connection ends with the answer. */
function refuseEarly(plan: Plan, refusal: HttpRefusal, incoming: IncomingMessage): Response {
  return closing(plan.refuse(refusal), incoming);
}

function closing(response: Response, incoming: IncomingMessage): Response {
  const isReading = incoming.method === "GET" || incoming.method === "HEAD";
  // Of other methods the rest is read for a moment, because most clients look at an answer only when they have sent all.
  if (isReading && !incoming.complete) response.headers.set("connection", "close");
  return response;
}

/** Everything that a device has open ends when it is revoked. */
function endWith({ revoked }: SignedIn, outgoing: ServerResponse): void {
  const end = () => setTimeout(() => outgoing.destroy(), revokedGraceMs);
  revoked.addEventListener("abort", end, { once: true });
  outgoing.once("close", () => revoked.removeEventListener("abort", end));
}

function withBody(request: Request, body: Buffer | ReadableStream<Uint8Array> | null): Request {
  if (body === null) return request;
  const { method, headers, signal } = request;
  const bytes = body as Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>;
  return new Request(request.url, { method, headers, signal, body: bytes, duplex: "half" });
}

function planner(parts: RouterParts, control: ApiParts): (method: string, url: URL) => Plan {
  const files = page(parts.pageFolder);

  return (method, url) => {
    const path = url.pathname;
    const mounted = parts.routes.find((one) => path === one.prefix || path.startsWith(`${one.prefix}/`));
    if (mounted !== undefined) return mountedPlan(parts, mounted, method, path);
    const match = matchRoute(apiRoutes, method, path);
    if (match.type === "found") {
      const { route, params } = match;
      return {
        ...own,
        role: route.role,
        body: route.body,
        async run(request, caller) {
          const { headers } = request;
          const body = route.body === "none" ? "" : await request.text();
          const device = caller?.device?.device.id ?? null;
          return runRoute(route, { params, query: url.searchParams, headers, body, device }, control);
        },
      };
    }
    const isOwned = path === "/api" || path.startsWith("/api/") || path === "/metrics";
    const missing = match.type === "nothing" ? notFound(`There is nothing at ${method} ${path}.`) : null;
    if (isOwned) return nowhere("owner", missing ?? wrongMethod(match.type === "wrong-method" ? match.allow : []));
    if (method !== "GET" && method !== "HEAD") return nowhere("public", wrongMethod(["GET"]));
    return {
      ...own,
      role: "static",
      run: (request) => (path === "/" && url.searchParams.has("token") ? oldLink() : files(path, request)),
    };
  };
}

/** Nothing of the body is read. */
function nowhere(role: Plan["role"], refusal: Refusal): Plan {
  return { ...own, role, admit: async () => refuse(refusal), run: () => refuse(refusal) };
}

const own = { body: "none", isSigned: false, refuse } as const satisfies Partial<Plan>;

function mountedPlan({ gate }: RouterParts, mounted: Routes, method: string, path: string): Plan {
  const match = matchRoute(mounted.routes, method, path);
  const route = match.type === "found" ? match.route : null;
  const isOwn = mounted.auth === "own";
  const { admit } = mounted;
  const callerOf = (request: Request) => ({ isOwner: isOwn ? gate.isOwner(request) : true });
  return {
    role: isOwn ? "checked" : "owner",
    body: route?.body ?? "none",
    isSigned: route?.isSigned === true,
    refuse: (refusal) => (mounted.refuse ?? refuse)(refusal),
    async admit(request) {
      const refused = (await admit?.(request, callerOf(request))) ?? null;
      if (refused !== null || route !== null || method === "GET" || method === "HEAD") return refused;
      // Nothing takes this request, so its body is not read. The platform says what is missing in its own form.
      const { headers, signal } = request;
      return mounted.handle(new Request(request.url, { method, headers, signal }), callerOf(request));
    },
    run(request) {
      // A stream opened for its headers alone would stay open.
      if (!isOwn && method === "HEAD") return refuse(wrongMethod(["GET", "POST"]));
      return mounted.handle(request, callerOf(request));
    },
  };
}

function apiParts(parts: RouterParts, signed: ApiParts["signed"]): ApiParts {
  const { gateway, store, archive, servers, devices, world, version, drainSeconds, draining, closing, url } = parts;
  const { redact = (text: string) => text } = parts;
  const facts = () => ({ pid: process.pid, version, drainSeconds, memoryBytes: process.memoryUsage.rss() });
  const signable = parts.routes.flatMap((one) => one.routes.filter((route) => route.isSigned === true));
  return {
    gateway,
    store,
    archive,
    servers,
    devices,
    signed,
    isSignable: (path) => matchRoute(signable, "GET", path).type === "found",
    redact,
    origin: url,
    now: () => world.now(),
    facts,
    draining,
    metrics: () => metricsOf(parts),
    closing,
  };
}

async function metricsOf({ gateway, archive, servers, world, counters }: RouterParts): Promise<string> {
  const now = world.now();
  const [counts, held, asked, today] = await Promise.all([
    archive.counts(),
    heldIn(archive),
    archive.asked(askedMax),
    archive.usage({ since: dayOf(now) }),
  ]);
  const memory = process.memoryUsage();
  const measured = { counts, held, asked, today, servers: servers.list(), memory, now };
  return metricsText(counters.counters, { status: gateway.status(), ...measured });
}

function wrongMethod(takes: readonly string[]): Refusal {
  return { status: 405, code: "method-not-allowed", message: `This address takes ${takes.join(" or ")}.` };
}

/** Bookmarks of earlier versions hold the control token: it is not looked at, and it leaves the address bar. */
function oldLink(): Response {
  const headers = { ...pageHeaders, location: "/#old-link", "cache-control": "no-store" };
  return new Response(null, { status: 303, headers });
}

function failed({ world, redact }: Pick<ControlParts, "world" | "redact">, error: unknown): Response {
  if (error instanceof Fault) return refuse(refusalOf(error, redact));
  if (error instanceof Error && error.name === "RequestError")
    return refuse({ status: 400, code: "bad-request", message: `The request cannot be read: ${error.message}.` });
  world.log("error", "a request could not be answered", {
    error: sentenceOf(error),
    stack: error instanceof Error ? error.stack : undefined,
  });
  return refuse({ status: 500, code: "bug", message: "This is a mistake of the gateway. Its log has the details." });
}
