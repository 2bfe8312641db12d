// E-mail, from its settings. Most mailboxes have one password for both ways, and its user is the address itself.

import type { Config } from "../../config/schema.ts";
import { type EmailSettings, email } from "../../platforms/email/index.ts";
import type { Far } from "./index.ts";

type Own = Exclude<Config["platforms"]["email"], false>;

export function openEmail(own: Own): Far {
  const password = own.imap.password?.reveal() ?? null;
  const settings: EmailSettings = {
    address: own.address,
    name: own.name,
    mailbox: own.imap.mailbox,
    verify: own.verify,
    authServer: own.authServer ?? null,
    imap: serverOf(own.imap, own.imap.user ?? own.address, password),
    smtp: serverOf(
      own.smtp,
      // A server on the same machine may want no password at all.
      own.smtp.user ?? (password === null || !own.smtp.tls ? null : (own.imap.user ?? own.address)),
      own.smtp.password?.reveal() ?? password,
    ),
  };
  return (around) => ({ platform: email(settings, around) });
}

function serverOf({ host, port, tls, anyCertificate }: Own["smtp"], user: string | null, password: string | null) {
  return { host, port, tls, anyCertificate, user, password };
}
