// Connections to model providers, kept alive between requests. They belong to one agent and are closed with it; the
// runtime's shared ones stay open for everything else in the process.

export interface Connections {
  readonly fetch: typeof fetch;
  /** Ends every connection, in use or idle. A later request opens new ones. */
  close(): Promise<void>;
}

type Dispatcher = { destroy(): Promise<void> };

export function openConnections(): Connections {
  let opening: Promise<Dispatcher | null> | null = null;
  return {
    async fetch(input, init) {
      const dispatcher = await (opening ??= newDispatcher());
      return fetch(input, { ...init, ...(dispatcher === null ? {} : { dispatcher }) } as RequestInit);
    },
    async close() {
      const last = opening;
      opening = null;
      await (await last)?.destroy();
    },
  };
}

/** Newer runtimes first; undici documents these symbols as the place of the dispatcher that `fetch` uses by default. */
const places = ["undici.globalDispatcher.2", "undici.globalDispatcher.1"];
/** Classes that need no arguments; the second one reads proxies from the environment. */
const known = ["Agent", "EnvHttpProxyAgent"];

/** A client like the runtime's own, which is not exported. Null where a program has set one of another kind. */
async function newDispatcher(): Promise<Dispatcher | null> {
  // The runtime creates its own with the first request. This one goes nowhere.
  await fetch("data:,");
  for (const place of places) {
    const found: unknown = Reflect.get(globalThis, Symbol.for(place));
    if (typeof found !== "object" || found === null) continue;
    const kind = found.constructor as new () => Dispatcher;
    if (known.includes(kind.name)) return new kind();
  }
  return null;
}
