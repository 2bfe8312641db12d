// The far side of webhooks: a server that takes signed posts, checks them by itself and keeps the keys it has seen, as the
// documents ask of receivers. It can refuse, fail and break off, and outlives any gateway.

import { createHmac } from "node:crypto";
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http";
import type { AddressInfo } from "node:net";

export type Posted = {
  readonly id: string;
  readonly hook: string;
  readonly chat: string | null;
  readonly answers: string | null;
  readonly text: string;
  readonly choices?: readonly string[];
  readonly files?: readonly { readonly name: string; readonly data?: string }[];
};

export type Failing = "rate" | "server" | "html" | "dropped-before" | "dropped-after" | "denied" | "redirect";

export type Receiver = {
  readonly url: string;
  /** What was taken, each key once, in order. */
  readonly taken: readonly Posted[];
  /** Every post that came with a right signature, repeats too. */
  readonly posts: readonly Posted[];
  /** Posts that were not signed with the secret. */
  readonly unsigned: number;
  failNext(kind: Failing): void;
  goDown(): Promise<void>;
  comeBack(): Promise<void>;
};

export async function receiver(secret: string): Promise<Receiver> {
  const taken: Posted[] = [];
  const posts: Posted[] = [];
  const keys = new Set<string>();
  let unsigned = 0;
  let failing: Failing | null = null;
  let server: Server | null = null;
  let port = 0;

  async function listen(): Promise<void> {
    const opened = createServer((incoming, outgoing) => void answer(incoming, outgoing));
    await new Promise<void>((resolve) => opened.listen({ host: "127.0.0.1", port }, resolve));
    ({ port } = opened.address() as AddressInfo);
    server = opened;
  }

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    if (!isSigned(incoming.headers["x-everturn-signature"], body)) {
      unsigned++;
      return void outgoing.writeHead(401).end();
    }
    const how = failing;
    failing = how === "denied" ? "denied" : null;
    const before = beforeTaking(how);
    if (before === "drop") return void outgoing.destroy();
    if (before !== null) return void outgoing.writeHead(before.status, before.headers).end(before.body);
    const posted = JSON.parse(body) as Posted;
    posts.push(posted);
    const key = String(incoming.headers["idempotency-key"]);
    if (!keys.has(key)) taken.push(posted);
    keys.add(key);
    if (how === "dropped-after") return void outgoing.destroy();
    outgoing.writeHead(204).end();
  }

  function isSigned(header: string | string[] | undefined, body: string): boolean {
    const found = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(header));
    return createHmac("sha256", secret).update(`${found?.[1]}.${body}`).digest("hex") === found?.[2];
  }

  await listen();
  return {
    get url() {
      return `http://127.0.0.1:${port}/answers`;
    },
    taken,
    posts,
    get unsigned() {
      return unsigned;
    },
    failNext: (kind) => void (failing = kind),
    async goDown() {
      await new Promise((resolve) => {
        server?.close(resolve);
        server?.closeAllConnections();
      });
    },
    comeBack: listen,
  };
}

type Answer = { readonly status: number; readonly headers: Record<string, string>; readonly body: string };

function beforeTaking(how: Failing | null): Answer | "drop" | null {
  switch (how) {
    case "rate":
      return { status: 429, headers: { "retry-after": "2" }, body: "" };
    case "server":
      return { status: 500, headers: {}, body: "" };
    case "html":
      return { status: 502, headers: { "content-type": "text/html" }, body: "<html><h1>Bad gateway</h1></html>" };
    case "denied":
      return { status: 401, headers: {}, body: "" };
    case "redirect":
      return { status: 302, headers: { location: "/elsewhere" }, body: "" };
    case "dropped-before":
      return "drop";
    default:
      return null;
  }
}
