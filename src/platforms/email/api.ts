// The mailbox and the way out, through their libraries, which are loaded at the first use. Only what we need of them.

import { Readable } from "node:stream";
import type { FetchMessageObject, FetchQueryObject, ImapFlow } from "imapflow";
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
  /** Null when it is gone. */
  heads(uid: number): Promise<{ readonly source: Uint8Array; readonly size: number } | null>;
  read(uid: number): Promise<Uint8Array | null>;
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
/** Mail servers take less; whatever has more was made to keep readers busy. */
export const headsMax = 250_000;

/** What the connection told by itself. */
type Watch = { ended: Error | null; isNews: boolean; tell: () => void };

async function newClient(server: Server): Promise<ImapFlow> {
  const { ImapFlow: Client } = await import("imapflow");
  return new Client({
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
}

/** Whether the folder for sent mails has this one. Many providers put there what they take; null where there is none. */
export async function isInSent(server: Server, messageId: string, signal: AbortSignal): Promise<boolean | null> {
  const client = await newClient(server);
  // A broken connection rejects what is asked, too.
  client.on("error", () => undefined);
  const look = async (): Promise<boolean | null> => {
    await client.connect();
    const folder = (await client.list()).find(({ specialUse }) => specialUse === "\\Sent");
    if (folder === undefined) return null;
    await client.mailboxOpen(folder.path, { readOnly: true });
    const found = await client.search({ header: { "message-id": messageId } }, { uid: true });
    return found !== false && found.length > 0;
  };
  try {
    return await unlessAborted(signal, look);
  } finally {
    client.close();
  }
}

/** Rejects at once when the signal aborts, whatever the server does or does not. */
export async function openMailbox(server: Server, path: string, signal: AbortSignal): Promise<Mailbox> {
  const client = await newClient(server);
  const watch: Watch = { ended: null, isNews: false, tell: () => undefined };
  const end = (error: Error): void => {
    watch.ended ??= error;
    watch.tell();
  };
  client.on("error", end);
  client.on("close", () => end(new Error("the mail server closed the connection")));
  client.on("exists", () => {
    watch.isNews = true;
    watch.tell();
  });
  const opening = async () => {
    await client.connect();
    return client.mailboxOpen(path);
  };
  try {
    // Closing does not end every wait of the library, so nobody waits for it.
    const { uidValidity, uidNext } = await unlessAborted(signal, opening);
    return { uidValidity: String(uidValidity), uidNext, ...reader(client, watch, end) };
  } catch (error) {
    client.close();
    throw error;
  }
}

function reader(client: ImapFlow, watch: Watch, end: (error: Error) => void) {
  return {
    async above(uid) {
      watch.isNews = false;
      const told = await fetched(client, `${uid + 1}:*`, { uid: true });
      // Where there are none, servers answer with the last one; what changes meanwhile is told once more.
      const found = new Set(told.map((one) => one.uid).filter((one) => one > uid));
      return [...found].toSorted((a, b) => a - b);
    },
    async since(day) {
      watch.isNews = false;
      const found = await client.search({ since: day }, { uid: true });
      return (found === false ? [] : found).toSorted((a, b) => a - b);
    },
    async heads(uid) {
      const found = await handedOver(client, uid, "headers", { size: true, headers: true });
      return found === null ? null : { source: found.headers || new Uint8Array(), size: found.size ?? 0 };
    },
    async read(uid) {
      const found = await handedOver(client, uid, "source", { source: true });
      return found === null ? null : found.source || new Uint8Array();
    },
    async markSeen(uid) {
      await client.messageFlagsAdd(String(uid), ["\\Seen"], { uid: true });
    },
    async news(signal) {
      const told = Promise.withResolvers<void>();
      watch.tell = told.resolve;
      if (watch.isNews || signal.aborted || watch.ended !== null) told.resolve();
      // By itself the library would begin only after some time without any command.
      else void client.idle().catch(end);
      // A server that forgets to tell is looked at all the same.
      const limit = setTimeout(told.resolve, idleMs);
      signal.addEventListener("abort", watch.tell, { once: true });
      await told.promise;
      signal.removeEventListener("abort", watch.tell);
      clearTimeout(limit);
      if (watch.ended !== null) throw watch.ended;
    },
    close: () => client.close(),
  } satisfies Omit<Mailbox, "uidValidity" | "uidNext">;
}

/**
 * Null when the mail is gone, which is asked for by itself: an answer can be missing for other reasons, and a mail that is
 * still there has to come again. Of a part that is there and empty the library tells the name alone.
 */
async function handedOver(
  client: ImapFlow,
  uid: number,
  part: "headers" | "source",
  query: FetchQueryObject,
): Promise<FetchMessageObject | null> {
  const told = await fetched(client, String(uid), query);
  const found = told.find((one) => one.uid === uid && part in one);
  if (found !== undefined) return found;
  const left = await fetched(client, String(uid), { uid: true });
  if (left.some((one) => one.uid === uid)) throw new Error(`the server has the mail ${uid}, and does not hand it over`);
  return null;
}

/** What the library asks itself: it gives nothing where a server asked us to wait again and again. */
type Commands = {
  run(
    command: "FETCH",
    range: string,
    query: FetchQueryObject,
    options: { readonly uid: true },
  ): Promise<{ readonly list: readonly FetchMessageObject[] } | undefined>;
};

/**
 * All that the server told until it was done: what was asked for, and other mails whose flags changed meanwhile. The
 * library's own ways to fetch tell of a server that did not answer as if there were no mails.
 */
async function fetched(
  client: ImapFlow,
  range: string,
  query: FetchQueryObject,
): Promise<readonly FetchMessageObject[]> {
  const answer = await (client as unknown as Commands).run("FETCH", range, query, { uid: true });
  if (answer === undefined) throw new Error("the mail server does not answer, or asks us to wait");
  return answer.list;
}

/** What comes of it; rejects as soon as the signal aborts. */
export async function unlessAborted<T>(signal: AbortSignal, begin: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const stopped = Promise.withResolvers<never>();
  const stop = () => stopped.reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([begin(), stopped.promise]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** `wordsLeft`: the server had asked for the mail itself, and may have all of it. */
export type Posted =
  | { readonly type: "taken" }
  | { readonly type: "failed"; readonly error: unknown; readonly wordsLeft: boolean };

export interface Post {
  send(mail: SendMailOptions): Promise<Posted>;
  /** Logs in and does nothing. */
  verify(): Promise<void>;
}

/** The lookup of an uncertain mail and the silence of the SMTP server together stay below the engine's limit for a send. */
export const lookupMs = 5_000;
export const smtpSilenceMs = 50_000;

/** `patienceMs` of silence are the end. */
export function openPost(server: Server, patienceMs = smtpSilenceMs): Post {
  const transport = async () => {
    const { createTransport } = await import("nodemailer");
    const { host, port, tls, user, password, anyCertificate } = server;
    return createTransport({
      host,
      port,
      secure: tls,
      ...(user === null ? {} : { auth: { user, pass: password ?? "" } }),
      tls: { rejectUnauthorized: !anyCertificate },
      connectionTimeout: Math.min(connectMs, patienceMs),
      greetingTimeout: Math.min(connectMs, patienceMs),
      socketTimeout: patienceMs,
      disableFileAccess: false,
      disableUrlAccess: true,
    });
  };
  return {
    async send(mail) {
      const open = await transport();
      let wordsLeft = false;
      // The library tells of a broken connection in the same way before and after the mail was sent. It reads the mail
      // once the server asked for it, and that is noted.
      open.use("stream", ({ message }, done) => {
        const read = message.createReadStream.bind(message);
        message.createReadStream = (options) =>
          Readable.from(
            (async function* words() {
              wordsLeft = true;
              yield* read(options);
            })(),
            { objectMode: false },
          );
        done();
      });
      try {
        await open.sendMail(mail);
        return { type: "taken" };
      } catch (error) {
        return { type: "failed", error, wordsLeft };
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
