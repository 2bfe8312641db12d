// Far sides for breaks of IRC and SMTP connections: a server in memory or a real one behind a fault proxy, and what people see
// there. State lives here, outside of any gateway. The gateway is asked to send by its API, so nothing depends on what IRC
// or a mailbox lets through meanwhile.

import type { TestContext } from "node:test";
import { fakeIrc } from "../fakes/irc.ts";
import { ircUser } from "../fakes/irc-user.ts";
import { openMail, whyNoMail } from "../fakes/mail.ts";
import { type SmtpCommand, fakeSmtp } from "../fakes/smtp.ts";
import type { Certificates } from "../kit/certificates.ts";
import { type FaultProxy, faultProxy } from "../kit/fault-proxy.ts";
import { atEnd } from "../process/stage.ts";
import { missing as noNgircd, ngircd } from "./ngircd.ts";

export type LineSideName = "irc" | "irc-echo" | "ngircd" | "smtp" | "postfix";

export type LineSide = {
  readonly platform: "irc" | "email";
  readonly proxy: FaultProxy;
  /** Its part of config.yaml, below `platforms:`. */
  readonly config: string;
  /** An address to send to. */
  address(chat: string): string;
  /** What is sent under a name, and which visible messages it becomes. */
  visible(name: string): readonly string[];
  seen(chat: string): readonly string[] | Promise<readonly string[]>;
  /**
   * How many visible messages are uncertain at most when a send breaks in this moment; 0 where none is. `isDelivered`: what
   * is sent meanwhile reaches the server, perhaps later.
   */
  uncertainAt(moment: string, isDelivered: boolean): number;
  /** The server refuses what comes in this moment until it is called with null; absent where it cannot. */
  refuse?(moment: string | null): void;
};

export type LineOpening = { readonly t: TestContext; readonly tls?: Certificates };
type Open = (opening: LineOpening) => Promise<LineSide>;

/** The chats that are sent to; the first is the one whose send breaks. */
export const chats: readonly string[] = ["alice", "bob", "carol"];
/** The name of the message that breaks. */
export const victim = "broken";

const lineCount = 12;
/** So many lines are uncertain on IRC without echoes. */
const pieceMax = 5;

/** Moments of a send, each as what the gateway has said by then; null: before anything. */
const moments = {
  irc: {
    "before the first line": null,
    "at the first line": new RegExp(`PRIVMSG \\S+ :${victim} line 0\\.`),
    "at the eighth line": new RegExp(`PRIVMSG \\S+ :${victim} line 7\\.`),
    "behind the last line": new RegExp(`PRIVMSG \\S+ :${victim} line ${lineCount - 1}\\.\r\nPING`),
  },
  email: {
    "at the greeting": null,
    "at MAIL": /\r\nMAIL FROM/i,
    "at RCPT": /\r\nRCPT TO/i,
    "at DATA": /\r\nDATA\r\n/i,
    "in the mail": /X-Everturn/i,
    "at the final dot": /\r\n\.\r\n$/,
  },
} as const;

const platformOf = { irc: "irc", "irc-echo": "irc", ngircd: "irc", smtp: "email", postfix: "email" } as const;

export function momentsOf(side: LineSideName): readonly string[] {
  return Object.keys(moments[platformOf[side]]);
}

export function momentIn(platform: LineSide["platform"], moment: string): RegExp | null {
  const known: Readonly<Record<string, RegExp | null>> = moments[platform];
  return known[moment] ?? null;
}

/** When a server can refuse by itself. */
export const refusalMoments: Readonly<Record<LineSideName, readonly string[]>> = {
  irc: ["at the first line", "at the eighth line"],
  "irc-echo": ["at the eighth line"],
  ngircd: [],
  smtp: ["at the greeting", "at MAIL", "at RCPT", "at DATA", "at the final dot"],
  postfix: [],
};

async function proxyTo({ t, tls }: LineOpening, port: number): Promise<FaultProxy> {
  const proxy = await faultProxy({ port }, tls === undefined ? {} : { tls });
  atEnd(t, () => proxy.close());
  return proxy;
}

function ircSide(
  { tls }: LineOpening,
  proxy: FaultProxy,
  { password, ...more }: Pick<LineSide, "seen" | "refuse"> & { readonly password?: string },
): LineSide {
  return {
    platform: "irc",
    proxy,
    config: `  irc:
    host: localhost
    port: ${proxy.port}
    tls: ${tls !== undefined}
    nick: ever
${password === undefined ? "" : `    password: ${password}\n`}    lineEveryMs: 0
    allow: ["*"]
`,
    address: (chat) => `irc/ever@localhost/${chat}`,
    visible: (name) => Array.from({ length: lineCount }, (_, n) => `${name} line ${n}.`),
    uncertainAt: (moment, isDelivered) => (moment === "before the first line" && !isDelivered ? 0 : pieceMax),
    ...more,
  };
}

async function fakeIrcSide(opening: LineOpening, echoes: boolean): Promise<LineSide> {
  const server = await fakeIrc("right", echoes);
  atEnd(opening.t, () => server.close());
  const lineAt: Readonly<Record<string, number>> = { "at the first line": 0, "at the eighth line": 7 };
  return ircSide(opening, await proxyTo(opening, server.port), {
    password: "right",
    seen: (chat) => server.said.flatMap(({ target, text }) => (target === chat ? [text] : [])),
    refuse(moment) {
      const passing = moment === null ? undefined : lineAt[moment];
      if (passing !== undefined) server.failNext("ERROR", passing);
    },
  });
}

const ngircdSide: Open = async (opening) => {
  const server = await ngircd(opening.t);
  const users = new Map(
    await Promise.all(chats.map(async (nick) => [nick, await ircUser(server.port, nick, [])] as const)),
  );
  for (const user of users.values()) atEnd(opening.t, () => user.close());
  return ircSide(opening, await proxyTo(opening, server.port), {
    seen: (chat) => users.get(chat)?.heard.map(({ text }) => text) ?? [],
  });
};

function mailSide(
  { tls }: LineOpening,
  proxy: FaultProxy,
  imapPort: number,
  more: Pick<LineSide, "seen" | "refuse">,
): LineSide {
  return {
    platform: "email",
    proxy,
    config: `  email:
    address: bot@fake.test
    imap: { host: 127.0.0.1, port: ${imapPort}, tls: false, password: mail-password-for-tests }
    smtp: { host: localhost, port: ${proxy.port}, tls: ${tls !== undefined} }
    allow: ["*"]
    verify: auto
`,
    address: (chat) => `email/bot@fake.test/${chat}@fake.test`,
    visible: (name) => [`${name} text`],
    uncertainAt: (moment) =>
      moment === "in the mail" || moment === "at the final dot" || moment === "at DATA" ? 1 : 0,
    ...more,
  };
}

const smtpSide: Open = async (opening) => {
  const server = await fakeSmtp();
  atEnd(opening.t, () => server.close());
  const commands: Readonly<Record<string, SmtpCommand>> = {
    "at the greeting": "CONNECT",
    "at MAIL": "MAIL",
    "at RCPT": "RCPT",
    "at DATA": "DATA",
    "at the final dot": ".",
  };
  // Nothing reads mails here, so the port of IMAP may be one that is closed.
  return mailSide(opening, await proxyTo(opening, server.port), 1, {
    seen: (chat) => server.texts(`${chat}@fake.test`),
    refuse: (moment) => server.refuse(moment === null ? null : (commands[moment] ?? null), 421),
  });
};

const people: Readonly<Record<string, string>> = { alice: "u0", bob: "u1", carol: "u2" };

const postfixSide: Open = async (opening) => {
  const server = await openMail({ keepsSent: true });
  atEnd(opening.t, () => server.close());
  const side = mailSide(opening, await proxyTo(opening, server.smtpPort), server.imapPort, {
    seen: async (chat) => (await server.read(people[chat] ?? chat)).map(({ text }) => (text ?? "").trim()),
  });
  return { ...side, address: (chat) => `email/bot@fake.test/${people[chat]}@fake.test` };
};

export const lineSides: Readonly<Record<LineSideName, Open>> = {
  irc: (opening) => fakeIrcSide(opening, false),
  "irc-echo": (opening) => fakeIrcSide(opening, true),
  ngircd: ngircdSide,
  smtp: smtpSide,
  postfix: postfixSide,
};

/** Why one cannot be opened here, or false. */
export function whyMissing(name: LineSideName): string | false {
  if (name === "ngircd") return noNgircd;
  return name === "postfix" ? (whyNoMail() ?? false) : false;
}
