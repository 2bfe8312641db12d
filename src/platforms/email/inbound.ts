// From a mail to a message; pure. Machines that answer by themselves are not answered, or two of them would write to each
// other for ever. What a mail says of its sender counts only as far as the receiving server vouched for it.

import type { Email } from "postal-mime";
import type { Instant } from "../../core/ids.ts";
import { limits } from "../../core/limits.ts";
import type { Inbound } from "../../core/message.ts";
import { htmlToText, stripQuoted } from "./strip.ts";

/** `auto`: what failed the receiving server's checks is no message; `require`: only what passed them is. */
export type Verify = "auto" | "require" | "off";

export type Self = { readonly account: string; readonly verify: Verify };

export type Attached = { readonly name: string; readonly mime: string; readonly content: Uint8Array };

export type Read =
  | { readonly type: "message"; readonly inbound: Inbound; readonly files: readonly Attached[] }
  | { readonly type: "nothing"; readonly why: string };

const nothing = (why: string): Read => ({ type: "nothing", why });

/** `fallback` names a mail without an id of its own; `now` stands for a date that nobody can read. */
export function readMail(mail: Email, self: Self, fallback: string, now: Instant): Read {
  const from = mail.from?.address?.toLowerCase() ?? "";
  if (!/^[^\s@]+@[^\s@]+$/.test(from)) return nothing("it has no sender");
  if (from === self.account) return nothing("it is our own");
  const machine = machineIn(mail, from);
  if (machine !== null) return nothing(machine);
  const forged = forgedIn(mail, from, self.verify);
  if (forged !== null) return nothing(forged);
  const files = filesOf(mail);
  const id = idIn(mail.messageId) ?? fallback;
  const references = [...idsIn(mail.references), ...idsIn(mail.inReplyTo)];
  const thread = references[0] ?? id;
  const subject = (mail.subject ?? "").replaceAll(/\s+/g, " ").trim();
  const chain = [...new Set([...references, id])].slice(-20);
  const sent = Date.parse(mail.date ?? "");
  const words = wordsOf(mail, subject, references.length === 0);
  if (words.trim() === "" && files.length === 0) return nothing("it is empty");
  const inbound: Inbound = {
    key: id.slice(0, 500),
    from: { platform: "email", account: self.account, chat: from, thread: thread.slice(0, 500) },
    sender: from,
    name: mail.from?.name === undefined || mail.from.name === "" ? from : mail.from.name,
    body: { kind: "text", text: words, files: [] },
    sentAt: (Number.isFinite(sent) ? sent : now) as Instant,
    anchor: id,
    hints: { subject, references: chain.join(" "), message_id: id },
  };
  return { type: "message", inbound, files };
}

/** The subject of a first mail is part of what is said; afterwards it only repeats. */
function wordsOf(mail: Email, subject: string, isFirst: boolean): string {
  const plain = mail.text?.trim() ?? "";
  const own = cut(stripQuoted(plain === "" ? htmlToText(mail.html ?? "") : plain));
  const isCommand = own.startsWith("/");
  if (!isFirst || subject === "" || isCommand || own.startsWith(subject)) return own;
  return own === "" ? subject : `${subject}\n\n${own}`;
}

/** A mail can be as large as a book, a message cannot. */
function cut(words: string): string {
  const max = limits.textMax / 4;
  return words.length <= max
    ? words
    : `${words.slice(0, max).toWellFormed()}\n\n(The mail is longer; the rest was cut off.)`;
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

/** Only the topmost result is of the server that received it; those below can have come with the mail. */
function forgedIn(mail: Email, from: string, verify: Verify): string | null {
  if (verify === "off") return null;
  const results = mail.headers.find(({ key }) => key === "authentication-results")?.value.toLowerCase();
  const result = (method: string) => new RegExp(`\\b${method}=(\\w+)`).exec(results ?? "")?.[1];
  const dmarc = result("dmarc");
  const passed = dmarc === "pass" || (dmarc === undefined && isAligned(results ?? "", from));
  if (passed) return null;
  if (verify === "require") return `nobody vouches for ${from} as its sender`;
  const failed = dmarc === "fail" || (dmarc === undefined && (result("spf") === "fail" || result("dkim") === "fail"));
  return failed ? `it only claims to be from ${from}` : null;
}

/** A signature of the very domain that it says it is from. */
function isAligned(results: string, from: string): boolean {
  const domain = from.split("@")[1] ?? "";
  const signed = /\bdkim=pass\b[^;]*?\bheader\.(?:d|i)=@?([\w.-]+)/.exec(results)?.[1];
  return signed !== undefined && (signed === domain || domain.endsWith(`.${signed}`));
}

function idsIn(text: string | undefined): readonly string[] {
  return text?.match(/<[^<>\s]+>/g) ?? [];
}

function idIn(text: string | undefined): string | null {
  return idsIn(text)[0] ?? null;
}
