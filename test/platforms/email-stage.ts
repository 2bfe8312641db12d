// What the stories of e-mail stand on, whoever serves the mailboxes.

import type { MailServer } from "../fakes/mail.ts";
import { type Gateway, until } from "../process/stage.ts";

export const bot = "bot@fake.test";

export function configOf({ imapPort, smtpPort, password }: MailServer, allow: readonly string[]): string {
  return `control: { port: 0 }
platforms:
  email:
    address: ${bot}
    imap: { host: 127.0.0.1, port: ${imapPort}, tls: false, password: ${password} }
    smtp: { host: 127.0.0.1, port: ${smtpPort}, tls: false }
    allow: [${allow.map((one) => `"${one}"`).join(", ")}]
    verify: auto
`;
}

export async function connected({ url, token }: Pick<Gateway, "url" | "token">): Promise<void> {
  type Status = { readonly platforms: readonly { readonly platform: string; readonly up: boolean }[] };
  await until(
    async () => {
      const answer = await fetch(`${url}/api/status`, { headers: { authorization: `Bearer ${token}` } });
      return (await answer.json()) as Status;
    },
    ({ platforms }) => platforms.some(({ platform, up }) => platform === "email" && up),
    "the mailbox is open",
  );
}
