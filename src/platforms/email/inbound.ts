// From a mail to a message; pure. Machines that answer by themselves are not answered, or two of them would write to each
// other for ever. What a mail says of its sender counts only as far as the receiving server vouched for it. Headers are
// judged by themselves, so that a stranger's words cost nothing.

import type { Email } from "postal-mime";
import type { Instant } from "../../core/ids.ts";
import { limits } from "../../core/limits.ts";
import type { Inbound } from "../../core/message.ts";
import { htmlToText } from "./html.ts";
import { type Verify, doubtOf, namesSeveral, parseResults } from "./results.ts";
import { carriesOthers, stripQuoted } from "./strip.ts";

export type Self = {
  readonly account: string;
  readonly verify: Verify;
  /** The name that the receiving server gives itself in what it found out about a sender; null when it is not known. */
  readonly authServer: string | null;
};

export type Attached = { readonly name: string; readonly mime: string; readonly content: Uint8Array };

/** `isUnverified`: it was left because nothing proves its sender. */
export type Nothing = { readonly type: "nothing"; readonly why: string; readonly isUnverified?: true };
export type Heads = { readonly type: "message"; readonly inbound: Inbound };
export type Read = (Heads & { readonly files: readonly Attached[] }) | Nothing;

const nothing = (why: string): Nothing => ({ type: "nothing", why });

/** Much more than words need; what is longer is cut before anything is done with it. */
const sourceMax = 1_000_000;
const wordsMax = limits.textMax / 4;
const subjectMax = 2_000;
const idMax = 500;

/**
 * What the headers alone say: a message without words, to learn whether its sender may speak. `fallback` names a mail
 * without an id of its own; `now` stands for a date that nobody can read.
 */
export function readHeads(mail: Email, self: Self, fallback: string, now: Instant): Heads | Nothing {
  const from = mail.from?.address?.toLowerCase() ?? "";
  if (!/^[^\s@]+@[^\s@]+$/.test(from)) return nothing("it has no sender");
  if (from === self.account) return nothing("it is our own");
  const machine = machineIn(mail, from);
  if (machine !== null) return nothing(machine);
  const forged = forgedIn(mail, from, self);
  if (forged !== null) return { ...nothing(forged), isUnverified: true };
  const id = idsIn(mail.messageId)[0] ?? fallback;
  const references = referencesIn(mail);
  const chain = [...new Set([...references, id])].slice(-20);
  const sent = Date.parse(mail.date ?? "");
  const inbound: Inbound = {
    key: id,
    from: { platform: "email", account: self.account, chat: from, thread: references[0] ?? id },
    sender: from,
    // Anybody can write any name beside an address, and names are let in like ids.
    name: from,
    body: { kind: "text", text: "", files: [] },
    sentAt: (Number.isFinite(sent) ? sent : now) as Instant,
    anchor: id,
    hints: { subject: subjectOf(mail), references: chain.join(" "), message_id: id },
  };
  return { type: "message", inbound };
}

/** The whole mail, of somebody who may speak. */
export function readMail(mail: Email, self: Self, fallback: string, now: Instant): Read {
  const heads = readHeads(mail, self, fallback, now);
  if (heads.type === "nothing") return heads;
  const files = filesOf(mail);
  const text = wordsOf(mail, subjectOf(mail), referencesIn(mail).length === 0);
  if (text.trim() === "" && files.length === 0) return nothing("it is empty");
  const carries = carriesOthers(text, subjectOf(mail)) ? { carries: true as const } : {};
  return { type: "message", inbound: { ...heads.inbound, body: { kind: "text", text, files: [] }, ...carries }, files };
}

function subjectOf(mail: Email): string {
  return (mail.subject ?? "").slice(0, subjectMax).toWellFormed().replaceAll(/\s+/g, " ").trim();
}

function referencesIn(mail: Email): readonly string[] {
  return [...idsIn(mail.references), ...idsIn(mail.inReplyTo)];
}

/** The subject of a first mail is part of what is said; afterwards it only repeats. */
function wordsOf(mail: Email, subject: string, isFirst: boolean): string {
  const plain = mail.text?.slice(0, sourceMax).trim() ?? "";
  const html = plain === "" ? (mail.html ?? "") : "";
  const words = plain === "" ? htmlToText(html.slice(0, sourceMax)) : plain;
  const own = stripQuoted(words, { subject, isReply: !isFirst });
  if (own.startsWith("/")) return own.slice(0, wordsMax).toWellFormed();
  const isCut = (mail.text ?? "").length > sourceMax || html.length > sourceMax;
  const said = cut(own, isCut);
  if (!isFirst || subject === "" || own.startsWith(subject)) return said;
  return said === "" ? subject : `${subject}\n\n${said}`;
}

/** A mail can be as large as a book, a message cannot. */
function cut(words: string, isCut: boolean): string {
  return words.length <= wordsMax && !isCut
    ? words
    : `${words.slice(0, wordsMax).toWellFormed()}\n\n(The mail is longer; the rest was cut off.)`.trim();
}

function filesOf(mail: Email): readonly Attached[] {
  return mail.attachments.flatMap(({ filename, mimeType, content, related, disposition }) => {
    // Logos and lines that belong to the look of a mail are nothing that was sent.
    if (related === true && disposition !== "attachment" && !mimeType.startsWith("image/")) return [];
    if (typeof content === "string") return [];
    return [{ name: filename ?? nameFor(mimeType), mime: mimeType, content: new Uint8Array(content) }];
  });
}

function nameFor(mime: string): string {
  if (mime === "message/rfc822") return "message.eml";
  if (mime === "text/calendar") return "invite.ics";
  return `file.${mime.split("/")[1]?.replaceAll(/[^\w]/g, "") ?? "bin"}`;
}

/** Why nobody waits for an answer to it; null when somebody does. */
function machineIn(mail: Email, from: string): string | null {
  const header = (name: string) =>
    mail.headers
      .find(({ key }) => key === name)
      ?.value.trim()
      .toLowerCase();
  const submitted = header("auto-submitted");
  if (submitted !== undefined && submitted !== "no") return "it was sent by a program";
  if (["bulk", "junk", "list", "auto_reply"].includes(header("precedence") ?? "")) return "it went to many";
  if (header("list-id") !== undefined || header("list-unsubscribe") !== undefined) return "it came through a list";
  if (["x-autoreply", "x-autorespond", "x-loop", "x-everturn"].some((name) => header(name) !== undefined))
    return "it answers by itself";
  if (header("return-path") === "<>") return "it reports about a mail";
  if (/^(?:mailer-daemon|postmaster|no-?reply|do-?not-?reply|bounces?)(?:[+-].*)?@/.test(from))
    return "nobody reads its answers";
  return null;
}

function forgedIn(mail: Email, from: string, { verify, authServer }: Self): string | null {
  if (verify === "off") return null;
  const senders = mail.headerLines.filter(({ key }) => key === "from");
  if (senders.length !== 1 || senders.some(({ line }) => namesSeveral(line))) return "it names several senders";
  const found = mail.headers.filter(({ key }) => key === "authentication-results").map(({ value }) => value);
  const doubt = doubtOf(from, verify, authServer, found);
  const [topmost] = found;
  if (doubt === null || authServer !== null || topmost === undefined) return doubt;
  // Whose name it is, its owner knows.
  return `${doubt}; the topmost results are by ${parseResults(topmost).server || "a server without a name"}, and authServer is not set`;
}

/** What is longer is no id that any program made. */
function idsIn(text: string | undefined): readonly string[] {
  return (text?.match(/<[^<>\s]+>/g) ?? []).filter((id) => id.length <= idMax);
}
