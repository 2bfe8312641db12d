// One request over HTTP, to an address that was looked at: the name is resolved here, each address it has is judged, and the
// connection goes to one of those and no other. So a name that means something else a moment later leads nowhere.

import { lookup } from "node:dns/promises";
import http from "node:http";
import https from "node:https";
import { type LookupFunction, isIP } from "node:net";
import { Fault, sentenceOf } from "../../core/fault.ts";
import { orAborted } from "../../core/running/aborted.ts";

export type Connecting = {
  /** Whether an address may be connected to. */
  readonly mayConnect: (address: string) => boolean;
  readonly signal: AbortSignal;
  /** Every address of a name. */
  readonly resolve?: (name: string) => Promise<readonly Resolved[]>;
};
export type Resolved = { readonly address: string; readonly family: number };

/** What is sent along: enough to get a page as a reader would, and nothing about anybody. */
const headers = {
  "user-agent": "Mozilla/5.0 (compatible; Everturn; +https://www.npmjs.com/package/everturn)",
  accept: "text/html,application/xhtml+xml,text/plain,text/markdown,application/json,application/xml;q=0.9,*/*;q=0.5",
  "accept-encoding": "gzip, deflate, br",
  "accept-language": "en,*;q=0.5",
} as const;

export async function request(url: URL, connecting: Connecting): Promise<http.IncomingMessage> {
  // A look-up cannot be broken off; nobody waits for it any longer then.
  const chosen = await orAborted(addressesOf(url, connecting), connecting.signal);
  const { request: send } = url.protocol === "https:" ? https : http;
  const { promise, resolve, reject } = Promise.withResolvers<http.IncomingMessage>();
  // A connection of its own: one that is used again leads to wherever it was opened to.
  const asked = send(url, {
    headers,
    agent: false,
    lookup: always(chosen),
    signal: connecting.signal,
    maxHeaderSize: 65_536,
  });
  asked.on("response", resolve);
  asked.on("error", reject);
  asked.end();
  try {
    return await promise;
  } catch (error) {
    connecting.signal.throwIfAborted();
    throw new Fault("not-possible", `${url.host} could not be reached: ${reasonOf(error)}.`, error);
  }
}

/** Those that may be connected to, in the order in which they are tried. */
async function addressesOf(url: URL, { mayConnect, resolve = all }: Connecting): Promise<readonly Resolved[]> {
  const name = url.hostname.replace(/^\[|\]$/g, "");
  const family = isIP(name);
  const found = family === 0 ? await resolved(name, resolve) : [{ address: name, family }];
  const usable = found.filter(({ address }) => mayConnect(address));
  if (usable.length === 0) {
    const todo = "agent.tools.web.allowPrivate in the configuration allows it";
    throw new Fault(
      "not-possible",
      `${url.hostname} is in a private network, which is not reached from here; ${todo}.`,
    );
  }
  return usable;
}

async function resolved(
  name: string,
  resolve: (name: string) => Promise<readonly Resolved[]>,
): Promise<readonly Resolved[]> {
  try {
    return await resolve(name);
  } catch (error) {
    throw new Fault("not-found", `The name ${name} is not known to the network: ${reasonOf(error)}.`, error);
  }
}

const all = (name: string): Promise<readonly Resolved[]> => lookup(name, { all: true });

function always(addresses: readonly Resolved[]): LookupFunction {
  return (_, options, done) => {
    const [first] = addresses;
    if (options.all === true || first === undefined) done(null, [...addresses]);
    else done(null, first.address, first.family);
  };
}

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing answers there",
  ECONNRESET: "the connection was cut",
  ENOTFOUND: "there is no such name",
  EAI_AGAIN: "the name could not be looked up now",
  ETIMEDOUT: "it took too long",
  EHOSTUNREACH: "there is no way to it",
  ENETUNREACH: "there is no way to it",
  CERT_HAS_EXPIRED: "its certificate has expired",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is its own",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is for another name",
};

export function reasonOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return reasons[code] ?? sentenceOf(error).replace(/\.$/, "");
}
