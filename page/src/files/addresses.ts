// Addresses of files that a browser opens by itself, without a header: each is signed by the gateway and works for some
// minutes. What is asked for at the same time goes in one request.

import type { Client, Fetched } from "../net/client.ts";

export type Address = { readonly url: string; readonly expiresAt: number };

export type Addresses = {
  /** Null when the gateway did not answer. */
  get(path: string): Promise<Address | null>;
};

export type Signed = { readonly paths: readonly string[]; readonly expiresAt: number };

const atOnce = 100;
/** One that ends sooner may end before it is used. */
const marginMs = 60_000;

export function isFresh(address: Address, now: number): boolean {
  return address.expiresAt > now + marginMs;
}

export function addresses(client: Pick<Client, "sign">, denied: () => void, now: () => number = Date.now): Addresses {
  const known = new Map<string, Address>();
  let waiting = new Map<string, PromiseWithResolvers<Address | null>>();

  async function ask(all: ReadonlyMap<string, PromiseWithResolvers<Address | null>>): Promise<void> {
    const paths = [...all.keys()];
    const answer: Fetched<Signed> = await client.sign(paths);
    if (answer.type === "denied") denied();
    for (const [at, path] of paths.entries()) {
      const url = answer.type === "got" ? answer.value.paths[at] : undefined;
      const found = answer.type === "got" && url !== undefined ? { url, expiresAt: answer.value.expiresAt } : null;
      if (found !== null) known.set(path, found);
      all.get(path)?.resolve(found);
    }
  }

  function flush(): void {
    const all = [...waiting];
    waiting = new Map();
    for (let from = 0; from < all.length; from += atOnce) void ask(new Map(all.slice(from, from + atOnce)));
  }

  return {
    async get(path) {
      const found = known.get(path);
      if (found !== undefined && isFresh(found, now())) return found;
      if (waiting.size === 0) queueMicrotask(flush);
      const asked = waiting.get(path) ?? Promise.withResolvers<Address | null>();
      waiting.set(path, asked);
      return asked.promise;
    },
  };
}
