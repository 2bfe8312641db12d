// Settings of e-mail: a mailbox to read, a server to send through.

import * as v from "valibot";
import { flag, group, oneOf, secretText, text, whole } from "../kinds.ts";
import { everyPlatform, inDoubt, people } from "./every.ts";

const server = (port: number) => ({
  host: text,
  port: v.optional(whole(1, 65_535), port),
  tls: v.optional(flag, true),
  user: v.exactOptional(text),
  password: v.exactOptional(secretText),
  anyCertificate: v.optional(flag, false),
});

const addresses = v.pipe(
  people,
  v.transform((all) => all.map((one) => one.toLowerCase())),
);

const settings = group({
  ...everyPlatform,
  // Addresses are the same however they are written.
  allow: v.exactOptional(addresses),
  admins: v.optional(addresses, []),
  // Whoever is not known gets no answer by default: a code sent to a forged address would go to somebody else.
  pairing: v.optional(flag, false),
  address: v.pipe(v.string("must be text"), v.trim(), v.regex(/^[^\s@]+@[^\s@]+$/, "must be an e-mail address")),
  name: v.optional(text, "Everturn"),
  imap: group({ ...server(993), mailbox: v.optional(text, "INBOX") }),
  smtp: group(server(465)),
  // A sender is easily forged, so only what the receiving server verified is a message.
  verify: v.optional(oneOf("auto", "require", "off"), "require"),
  authServer: v.exactOptional(text),
  inDoubt,
});

export const email = v.union([v.literal(false), settings], "must be a group of settings, or false to switch it off");

/** What its owner should know although it can be used; null when all is well. */
export function emailWarning(own: false | { readonly verify: string; readonly authServer?: string }): string | null {
  if (own === false || own.verify !== "require" || own.authServer !== undefined) return null;
  return "platforms.email answers no mail, because platforms.email.authServer is missing; set it to the first word of the Authentication-Results that your mail server writes, such as mx.google.com";
}
