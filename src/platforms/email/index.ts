// E-mail: a mailbox that is read by IMAP and answered by SMTP. What was read is known by its place in the mailbox, stored
// with each mail; a mailbox that was made anew is gone through again from the day of the last one, and mails known by their
// ids are not taken twice. A thread is a conversation.

import { sentenceOf } from "../../core/fault.ts";
import type { Inbound } from "../../core/message.ts";
import type { OutboxItem, SendResult } from "../../core/outbox.ts";
import type { Inlet, Platform, Surroundings } from "../../ports/platform.ts";
import { type Mailbox, type Post, type Server, messageMax, openMailbox, openPost } from "./api.ts";
import { listenFault, sendResultOf } from "./faults.ts";
import { type Attached, type Read, type Verify, readMail } from "./inbound.ts";
import { toMail } from "./outbound.ts";

export type EmailSettings = {
  readonly address: string;
  /** How we call ourselves. */
  readonly name: string;
  readonly imap: Server;
  readonly smtp: Server;
  readonly mailbox: string;
  readonly verify: Verify;
};

/** What the stored cursor holds; `day` helps when the numbers of a mailbox began anew. */
type Place = { readonly validity: string; readonly uid: number; readonly day: number };

const dayMs = 86_400_000;

export function email(settings: EmailSettings, around: Surroundings): Platform {
  const post = openPost(settings.smtp);
  return {
    name: "email",
    account: settings.address.toLowerCase(),
    can: { keyedSend: false, draftEveryMs: null, pace: { perSecond: 2, chatEveryMs: 1_000 }, isFar: true },
    parts: (text) => [text],
    listen: (inlet, from, signal) => listen(settings, around, inlet, from, signal),
    send: (item, signal) => send(post, settings, around, item, signal),
    draft: () => undefined,
    async probe() {
      const mailbox = await opened(settings);
      mailbox.close();
      try {
        await post.verify();
      } catch (error) {
        throw listenFault(error, settings.smtp.host);
      }
      return `reads ${settings.mailbox} at ${settings.imap.host} and sends through ${settings.smtp.host}`;
    },
  };
}

async function opened({ imap, mailbox }: EmailSettings): Promise<Mailbox> {
  try {
    return await openMailbox(imap, mailbox);
  } catch (error) {
    throw listenFault(error, imap.host);
  }
}

async function listen(
  settings: EmailSettings,
  around: Surroundings,
  inlet: Inlet,
  from: string | null,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const mailbox = await opened(settings);
  const close = () => mailbox.close();
  signal.addEventListener("abort", close, { once: true });
  try {
    // Who has to end does not wait for what is being stored: it comes again from the stored place.
    await Promise.race([follow({ settings, around, inlet, mailbox }, from, signal), aborted(signal)]);
  } catch (error) {
    if (signal.aborted) return;
    throw listenFault(error, settings.imap.host);
  } finally {
    signal.removeEventListener("abort", close);
    close();
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

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
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
};

async function take({ settings, around, inlet, mailbox }: Taking, uid: number, cursor: string, signal: AbortSignal) {
  const read = await readAt(mailbox, settings, uid, around);
  if (signal.aborted) return;
  if (read.type === "nothing") {
    around.world.log("info", "a mail was left unanswered", { uid, why: read.why });
    return inlet.moved(cursor);
  }
  const isHeard = read.files.length === 0 || (await inlet.hears(read.inbound));
  await inlet.accept(isHeard ? await withFiles(around, read.inbound, read.files) : read.inbound, cursor);
  // A courtesy to whoever looks into the mailbox.
  void mailbox.markSeen(uid).catch((error: unknown) => {
    around.world.log("debug", "a mail could not be marked as read", { uid, why: sentenceOf(error) });
  });
}

async function readAt(mailbox: Mailbox, settings: EmailSettings, uid: number, { world }: Surroundings): Promise<Read> {
  const source = await mailbox.read(uid);
  if (source === null) return { type: "nothing", why: "it is gone" };
  if (source === "too-large") return { type: "nothing", why: `it is larger than ${messageMax} bytes` };
  const { default: PostalMime } = await import("postal-mime");
  const self = { account: settings.address.toLowerCase(), verify: settings.verify };
  try {
    return readMail(await PostalMime.parse(source), self, `uid:${mailbox.uidValidity}:${uid}`, world.now());
  } catch (error) {
    return { type: "nothing", why: `it cannot be read: ${String(error)}` };
  }
}

async function withFiles({ blobs }: Surroundings, inbound: Inbound, files: readonly Attached[]): Promise<Inbound> {
  if (files.length === 0 || inbound.body.kind !== "text") return inbound;
  const kept = await Promise.all(files.map(({ name, mime, content }) => blobs.put(content, { name, mime })));
  return { ...inbound, body: { ...inbound.body, files: kept } };
}

async function send(
  post: Post,
  { address, name }: EmailSettings,
  { blobs }: Surroundings,
  item: OutboxItem,
  signal: AbortSignal,
): Promise<SendResult> {
  if (signal.aborted) return { type: "retry", afterMs: 0, why: "there was no time left" };
  const files = item.files.map((file) => {
    return { filename: file.name, contentType: file.mime, path: blobs.path(file.blob) };
  });
  const mail = toMail(item, { address, name }, files);
  try {
    await post.send(mail);
    return { type: "accepted", remoteId: String(mail.messageId) };
  } catch (error) {
    return sendResultOf(error);
  }
}
