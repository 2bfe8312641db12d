// E-mail: a mailbox that is read by IMAP and answered by SMTP. What was read is known by its place in the mailbox, stored
// with each mail; a mailbox that was made anew is gone through again from the day of the last one, and mails known by their
// ids are not taken twice. A thread is a conversation.

import { Fault, sentenceOf } from "../../core/fault.ts";
import type { FileRef, Inbound } from "../../core/message.ts";
import type { OutboxItem, SendResult } from "../../core/outbox.ts";
import type { Inlet, Platform, Surroundings } from "../../ports/platform.ts";
import {
  type Mailbox,
  type Post,
  type Server,
  headsMax,
  isInSent,
  lookupMs,
  messageMax,
  openMailbox,
  openPost,
  unlessAborted,
} from "./api.ts";
import { listenFault, sendResultOf } from "./faults.ts";
import { type Attached, type Nothing, readHeads, readMail } from "./inbound.ts";
import { toMail } from "./outbound.ts";
import { parseMail } from "./parse.ts";
import type { Verify } from "./results.ts";

export type EmailSettings = {
  readonly address: string;
  /** How we call ourselves. */
  readonly name: string;
  readonly imap: Server;
  readonly smtp: Server;
  readonly mailbox: string;
  readonly verify: Verify;
  /** Whose words about senders count; null when it is not known. */
  readonly authServer: string | null;
};

/** What the stored cursor holds; `day` helps when the numbers of a mailbox began anew. */
type Place = { readonly validity: string; readonly uid: number; readonly day: number };

const dayMs = 86_400_000;

export function email(settings: EmailSettings, around: Surroundings): Platform {
  const post = openPost(settings.smtp);
  const unverified = { count: 0 };
  return {
    name: "email",
    account: settings.address.toLowerCase(),
    can: { keyedSend: false, draftEveryMs: null, pace: { perSecond: 2, chatEveryMs: 1_000 }, isFar: true },
    parts: (text) => [text],
    listen: (inlet, from, signal) => listen({ settings, around, inlet, unverified }, from, signal),
    send: (item, signal) => send(post, settings, around, item, signal),
    draft: () => undefined,
    ping: () => post.verify().catch(unlessRefused),
    async probe(signal) {
      const mailbox = await opened(settings, signal);
      mailbox.close();
      try {
        await post.verify();
      } catch (error) {
        throw listenFault(error, settings.smtp.host);
      }
      return `reads ${settings.mailbox} at ${settings.imap.host} and sends through ${settings.smtp.host}`;
    },
    notice: () => noticeOf(settings, unverified.count),
  };
}

function noticeOf({ verify, authServer }: EmailSettings, count: number): string | null {
  if (verify === "require" && authServer === null) return "answers no mail: platforms.email.authServer is not set";
  return count === 0 ? null : `${count} unverified ${count === 1 ? "mail" : "mails"} not answered since the start`;
}

/** A server that wants another password answers, so the connection is fine. */
function unlessRefused(error: unknown): void {
  if (!(error instanceof Error && "code" in error && error.code === "EAUTH")) throw error;
}

async function opened({ imap, mailbox }: EmailSettings, signal: AbortSignal): Promise<Mailbox> {
  try {
    return await openMailbox(imap, mailbox, signal);
  } catch (error) {
    throw listenFault(error, imap.host);
  }
}

async function listen(of: Omit<Taking, "mailbox">, from: string | null, signal: AbortSignal): Promise<void> {
  const { settings } = of;
  // Without authServer no mail can be verified, so mails stay unread in the mailbox until it is set.
  const notice = noticeOf(settings, 0);
  if (notice !== null) throw new Fault("denied", `E-mail ${notice}. Mails wait in ${settings.mailbox} until it is.`);
  try {
    const mailbox = await opened(settings, signal);
    try {
      // Who has to end does not wait for what is being stored: it comes again from the stored place.
      await unlessAborted(signal, () => follow({ ...of, mailbox }, from, signal));
    } catch (error) {
      throw listenFault(error, settings.imap.host);
    } finally {
      mailbox.close();
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function follow(of: Taking, from: string | null, signal: AbortSignal): Promise<void> {
  const { mailbox, inlet, around } = of;
  let place = await beginning(mailbox, from, inlet, around);
  while (!signal.aborted) {
    inlet.up();
    for (const uid of await unread(mailbox, place)) {
      place = { validity: mailbox.uidValidity, uid, day: around.world.now() };
      await take(of, uid, JSON.stringify(place), signal);
      if (signal.aborted) return;
    }
    await mailbox.news(signal);
  }
}

/** The first time, what is there already was not meant for us. */
async function beginning(mailbox: Mailbox, from: string | null, inlet: Inlet, around: Surroundings): Promise<Place> {
  const stored = from === null ? null : (JSON.parse(from) as Place);
  if (stored !== null) return stored;
  const place = { validity: mailbox.uidValidity, uid: mailbox.uidNext - 1, day: around.world.now() };
  await inlet.moved(JSON.stringify(place));
  return place;
}

/** Where the mailbox was made anew its numbers mean nothing, and whatever is young enough is looked at again. */
function unread(mailbox: Mailbox, { validity, uid, day }: Place): Promise<readonly number[]> {
  return validity === mailbox.uidValidity ? mailbox.above(uid) : mailbox.since(new Date(day - dayMs));
}

type Taking = {
  readonly settings: EmailSettings;
  readonly around: Surroundings;
  readonly inlet: Inlet;
  readonly mailbox: Mailbox;
  readonly unverified: { count: number };
};

/** Whoever may not speak is judged by the headers alone; the rest of their mail is never fetched. */
async function take(of: Taking, uid: number, cursor: string, signal: AbortSignal): Promise<void> {
  const { around, inlet, mailbox } = of;
  const heads = await parsed(of, uid, readHeads, await headsAt(mailbox, uid));
  if (signal.aborted) return;
  if (heads.type === "nothing") return leave(of, uid, cursor, heads);
  if (await inlet.hears(heads.inbound)) {
    const source = (await mailbox.read(uid)) ?? gone;
    const read = await parsed(of, uid, readMail, source);
    if (signal.aborted) return;
    if (read.type === "nothing") return leave(of, uid, cursor, read);
    await inlet.accept(await withFiles(around, read.inbound, read.files), cursor);
  } else await inlet.accept(heads.inbound, cursor);
  // A courtesy to whoever looks into the mailbox.
  void mailbox.markSeen(uid).catch((error: unknown) => {
    around.world.log("debug", "a mail could not be marked as read", { uid, why: sentenceOf(error) });
  });
}

const gone: Nothing = { type: "nothing", why: "it is gone" };

function leave({ around, inlet, unverified }: Taking, uid: number, cursor: string, left: Nothing): Promise<void> {
  if (left.isUnverified === true) unverified.count++;
  around.world.log("info", "a mail was left unanswered", { uid, why: left.why });
  return inlet.moved(cursor);
}

async function headsAt(mailbox: Mailbox, uid: number): Promise<Uint8Array | Nothing> {
  const heads = await mailbox.heads(uid);
  if (heads === null) return gone;
  if (heads.size > messageMax) return { type: "nothing", why: `it is larger than ${messageMax} bytes` };
  if (heads.source.length > headsMax) return { type: "nothing", why: `its headers are larger than ${headsMax} bytes` };
  return heads.source;
}

async function parsed<T>(
  { settings: { address, verify, authServer }, around, mailbox }: Taking,
  uid: number,
  read: (...given: Parameters<typeof readMail>) => T,
  source: Uint8Array | Nothing,
): Promise<T | Nothing> {
  if (!(source instanceof Uint8Array)) return source;
  const self = { account: address.toLowerCase(), verify, authServer };
  try {
    return read(await parseMail(source), self, `uid:${mailbox.uidValidity}:${uid}`, around.world.now());
  } catch (error) {
    return { type: "nothing", why: `it cannot be read: ${String(error)}` };
  }
}

/** A file that may not be kept becomes a line; a disk that refuses is told, and the mail comes again. */
async function withFiles({ blobs }: Surroundings, inbound: Inbound, files: readonly Attached[]): Promise<Inbound> {
  if (files.length === 0 || inbound.body.kind !== "text") return inbound;
  const kept: FileRef[] = [];
  const missing: string[] = [];
  // One after another: a mail can have more of them than may be open at the same time.
  for (const { name, mime, content } of files) {
    try {
      kept.push(await blobs.put(content, { name, mime }));
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== "too-large") throw error;
      missing.push(`[The file ${name} could not be had: ${error.message}]`);
    }
  }
  const text = [inbound.body.text, ...missing].filter((words) => words !== "").join("\n\n");
  return { ...inbound, body: { ...inbound.body, text, files: kept } };
}

async function send(
  post: Post,
  settings: EmailSettings,
  around: Surroundings,
  item: OutboxItem,
  signal: AbortSignal,
): Promise<SendResult> {
  if (signal.aborted) return { type: "retry", afterMs: 0, why: "there was no time left" };
  const files = item.files.map((file) => {
    return { filename: file.name, contentType: file.mime, path: around.blobs.path(file.blob) };
  });
  const mail = toMail(item, settings, files);
  const messageId = String(mail.messageId);
  const accepted: SendResult = { type: "accepted", remoteId: messageId };
  if (mayHaveArrived(item) && (await wasTaken(settings, around, messageId, signal))) return accepted;
  const posted = await post.send(mail);
  return posted.type === "taken" ? accepted : sendResultOf(posted.error, posted.wordsLeft);
}

/** A mail that is asked for again after it was held goes out in any case. */
function mayHaveArrived({ now }: OutboxItem): boolean {
  return now.state === "sending" && (now.doubts ?? 0) + (now.cuts ?? 0) > 0;
}

/** Where that cannot be learned, the mail goes out again under the same id, so that mailboxes can recognize the copy. */
async function wasTaken(
  { imap }: EmailSettings,
  { world }: Surroundings,
  messageId: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    return (await isInSent(imap, messageId, AbortSignal.any([signal, AbortSignal.timeout(lookupMs)]))) === true;
  } catch (error) {
    world.log("debug", "it could not be learned whether a mail was sent", { messageId, why: sentenceOf(error) });
    return false;
  }
}
