// The mailbox and the way out, through their libraries, which are loaded at the first use. Only what we need of them.

import type { ImapFlow } from "imapflow";
import type { SendMailOptions } from "nodemailer";

export type Server = {
  readonly host: string;
  readonly port: number;
  /** From the first byte; otherwise as soon as the server offers it. */
  readonly tls: boolean;
  readonly user: string | null;
  readonly password: string | null;
  /** Whether a certificate that nobody vouches for is taken; for servers at home. */
  readonly anyCertificate: boolean;
};

/** An open mailbox. Whatever breaks it ends `closed`. */
export interface Mailbox {
  readonly uidValidity: string;
  readonly uidNext: number;
  /** Ids of all messages above one, in order; or, without one, of those that came since a day. */
  above(uid: number): Promise<readonly number[]>;
  since(day: Date): Promise<readonly number[]>;
  /** Null when it is gone, or larger than may be. */
  read(uid: number): Promise<Uint8Array | "too-large" | null>;
  markSeen(uid: number): Promise<void>;
  /** Resolves when something new may be there, or after a while in any case. Rejects when the connection is gone. */
  news(signal: AbortSignal): Promise<void>;
  close(): void;
}

/** IDLE is begun anew before routers forget the connection; by then a dead one is found too. */
const idleMs = 4 * 60_000;
const silenceMs = 6 * 60_000;
const connectMs = 30_000;

export const messageMax = 75_000_000;

export async function openMailbox(server: Server, path: string): Promise<Mailbox> {
  const { ImapFlow: Client } = await import("imapflow");
  const client: ImapFlow = new Client({
    host: server.host,
    port: server.port,
    secure: server.tls,
    auth: { user: server.user ?? "", pass: server.password ?? "" },
    tls: { rejectUnauthorized: !server.anyCertificate },
    logger: false,
    maxIdleTime: idleMs,
    socketTimeout: silenceMs,
    connectionTimeout: connectMs,
  });
  let ended: Error | null = null;
  let isNews = false;
  let tell: () => void = () => undefined;
  const end = (error: Error): void => {
    ended ??= error;
    tell();
  };
  client.on("error", end);
  client.on("close", () => end(new Error("the mail server closed the connection")));
  client.on("exists", () => {
    isNews = true;
    tell();
  });
  await client.connect();
  const { uidValidity, uidNext } = await client.mailboxOpen(path);
  return {
    uidValidity: String(uidValidity),
    uidNext,
    async above(uid) {
      isNews = false;
      const found = await client.fetchAll(`${uid + 1}:*`, { uid: true }, { uid: true });
      // Where there are none, servers answer with the last one.
      return found
        .map((one) => one.uid)
        .filter((one) => one > uid)
        .toSorted((a, b) => a - b);
    },
    async since(day) {
      const found = await client.search({ since: day }, { uid: true });
      return (found === false ? [] : found).toSorted((a, b) => a - b);
    },
    async read(uid) {
      const facts = await client.fetchOne(String(uid), { size: true }, { uid: true });
      if (facts === false) return null;
      if ((facts.size ?? 0) > messageMax) return "too-large";
      const found = await client.fetchOne(String(uid), { source: true }, { uid: true });
      return found === false ? null : (found.source ?? null);
    },
    async markSeen(uid) {
      await client.messageFlagsAdd(String(uid), ["\\Seen"], { uid: true });
    },
    async news(signal) {
      const told = Promise.withResolvers<void>();
      tell = told.resolve;
      if (isNews || signal.aborted || ended !== null) tell();
      // By itself the library would begin only after some time without any command.
      else void client.idle().catch(end);
      // A server that forgets to tell is looked at all the same.
      const limit = setTimeout(told.resolve, idleMs);
      signal.addEventListener("abort", () => told.resolve(), { once: true });
      await told.promise;
      clearTimeout(limit);
      if (ended !== null) throw ended;
    },
    close: () => client.close(),
  };
}

export interface Post {
  send(mail: SendMailOptions): Promise<void>;
  /** Logs in and does nothing. */
  verify(): Promise<void>;
}

export function openPost(server: Server): Post {
  const transport = async () => {
    const { createTransport } = await import("nodemailer");
    const { host, port, tls, user, password, anyCertificate } = server;
    return createTransport({
      host,
      port,
      secure: tls,
      ...(user === null ? {} : { auth: { user, pass: password ?? "" } }),
      tls: { rejectUnauthorized: !anyCertificate },
      connectionTimeout: connectMs,
      greetingTimeout: connectMs,
      // Below the engine's own limit for a send.
      socketTimeout: 50_000,
      disableFileAccess: false,
      disableUrlAccess: true,
    });
  };
  return {
    async send(mail) {
      const open = await transport();
      try {
        await open.sendMail(mail);
      } finally {
        open.close();
      }
    },
    async verify() {
      const open = await transport();
      try {
        await open.verify();
      } finally {
        open.close();
      }
    },
  };
}
