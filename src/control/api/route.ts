// What a route of the control protocol is: data that says who may call it and how much body it takes, and what it does.

import type { Gateway } from "../../ports/gateway.ts";
import type { HttpRoute } from "../../ports/http.ts";
import type { ToolServers } from "../../ports/peers.ts";
import type { Archive, Store } from "../../ports/store.ts";
import type { Devices } from "../devices.ts";
import type { Params } from "../match.ts";
import type { Draining } from "../protocol.ts";
import type { SignedAddresses } from "../signed.ts";
import type { ProcessFacts } from "../views.ts";

/** `public`: everybody who reaches the port under its own name. `owner`: the control token, or a device that is signed in. */
export type RouteRole = "public" | "owner";

export type ApiRoute = HttpRoute & {
  readonly role: RouteRole;
  handle(call: ApiCall, parts: ApiParts): Response | Promise<Response>;
};

export type ApiCall = {
  readonly params: Params;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  /** Empty where there is no body. */
  readonly body: string;
  /** The device that calls; null for the control token and where a route is public. */
  readonly device: string | null;
};

export type ApiParts = {
  readonly gateway: Gateway;
  readonly store: Pick<Store, "session" | "turn" | "item">;
  readonly archive: Archive;
  readonly servers: ToolServers;
  readonly devices: Devices;
  readonly signed: SignedAddresses;
  /** Whether a browser may open a path by a signed address. */
  readonly isSignable: (path: string) => boolean;
  /** Takes known secrets out of a text. */
  readonly redact: (text: string) => string;
  readonly origin: string;
  readonly now: () => number;
  readonly facts: () => ProcessFacts;
  readonly draining: () => Draining | null;
  readonly metrics: () => Promise<string>;
  /** Ends when the server closes: long answers must not hold the stop. */
  readonly closing: AbortSignal;
};

/** For orders without text of their own. */
export const smallBody = { whole: 16 * 1024 } as const;
/** For texts of up to two million characters. */
export const textBody = { whole: 4 * 1024 * 1024 } as const;

export function json(value: unknown): Response {
  return Response.json(value, { headers: { "cache-control": "no-store", "x-content-type-options": "nosniff" } });
}

/** Answers about the gateway itself: errors of programs and platforms in it may quote a secret. */
export function redactedJson(value: unknown, redact: ApiParts["redact"]): Response {
  const headers = {
    "content-type": "application/json",
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  };
  return new Response(redact(JSON.stringify(value)), { headers });
}
