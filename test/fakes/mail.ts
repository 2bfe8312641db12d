// A mail server of other people, for tests: real postfix and dovecot as plain processes with a configuration of our own, on
// loopback, in a folder that goes with the test. Mails of people are written through SMTP and read from their maildirs,
// so whoever counts is outside of the gateway.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { createTransport } from "nodemailer";
import PostalMime, { type Email } from "postal-mime";
import type { EmailSettings } from "../../src/platforms/email/index.ts";

/** Null where they can be run; otherwise why not. */
export function whyNoMail(): string | null {
  const missing = ["postfix", "dovecot", "postmap"].filter((name) => !existsSync(join("/usr/sbin", name)));
  if (missing.length > 0) return `${missing.join(", ")} is not installed`;
  return process.getuid?.() === 0 ? null : "postfix and dovecot want to be started by root";
}

export type MailServer = {
  readonly imapPort: number;
  readonly smtpPort: number;
  readonly domain: string;
  readonly password: string;
  /** A person writes; resolves with the id of the mail when the server has taken it. */
  write(from: string, to: string, text: string, more?: Readonly<Record<string, unknown>>): Promise<string>;
  /** The mails in somebody's mailbox, in the order of their arrival, when nothing is on its way any more. */
  read(user: string): Promise<readonly Email[]>;
  /** How many mails with this id somebody's program has marked as read. */
  marked(user: string, id: string): Promise<number>;
  stop(which: "imap" | "smtp"): Promise<void>;
  start(which: "imap" | "smtp"): Promise<void>;
  close(): Promise<void>;
};

export const domain = "fake.test";
/** Who has a mailbox. */
const people = ["bot", "ann", "bob", ...Array.from({ length: 10 }, (_, n) => `u${n}`)];
export const password = "mail-password-for-tests";
const limitMs = 60_000;

/** Of a gateway that reads and writes as the bot. */
export function settingsOf({ imapPort, smtpPort, password }: MailServer, wrong?: string): EmailSettings {
  const server = { host: "127.0.0.1", tls: false, anyCertificate: false };
  return {
    address: `bot@${domain}`,
    name: "Everturn",
    mailbox: "INBOX",
    verify: "auto",
    authServer: null,
    imap: { ...server, port: imapPort, user: `bot@${domain}`, password: wrong ?? password },
    smtp: { ...server, port: smtpPort, user: null, password: null },
  };
}

/** `keepsSent`: what the bot sends is put into its folder for sent mails, as many providers do. */
export async function openMail({ keepsSent = false } = {}): Promise<MailServer> {
  const folder = mkdtempSync(join(tmpdir(), "everturn-mail-"));
  // Their own users have to get through.
  chmodSync(folder, 0o755);
  const [imapPort, smtpPort] = await freePorts();
  const mail = join(folder, "mail");
  const [uid, gid] = ids("mail");
  for (const one of ["mail", "queue", "data", "postfix", "run"]) mkdirSync(join(folder, one));
  chownSync(mail, uid, gid);
  writeDovecot(folder, imapPort, uid, gid);
  writePostfix(folder, smtpPort, uid, gid, keepsSent);
  const running: { imap: ChildProcess | null; smtp: ChildProcess | null } = { imap: null, smtp: null };

  const self: MailServer = {
    imapPort,
    smtpPort,
    domain,
    password,
    async write(from, to, text, more = {}) {
      const transport = createTransport({ host: "127.0.0.1", port: smtpPort, ignoreTLS: true });
      const sent = await transport.sendMail({ from, to, text, subject: "hello", ...more });
      transport.close();
      return sent.messageId;
    },
    async read(user) {
      while (running.smtp?.exitCode === null && isOnItsWay(join(folder, "queue"))) await pause(10);
      return (await mailsOf(join(mail, domain, user))).map(({ parsed }) => parsed);
    },
    async marked(user, id) {
      const all = await mailsOf(join(mail, domain, user));
      return all.filter(({ parsed, isRead }) => isRead && parsed.messageId === id).length;
    },
    async start(which) {
      const program =
        which === "imap"
          ? ["/usr/sbin/dovecot", "-F", "-c", join(folder, "dovecot.conf")]
          : ["/usr/sbin/postfix", "-c", join(folder, "postfix"), "start-fg"];
      const [name = "", ...words] = program;
      running[which] = spawn(name, words, { stdio: "ignore", detached: true });
      await answers(which === "imap" ? imapPort : smtpPort, folder);
    },
    async stop(which) {
      const child = running[which];
      if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((done) => child.once("exit", done));
      if (which === "smtp")
        spawnSync("/usr/sbin/postfix", ["-c", join(folder, "postfix"), "stop"], { stdio: "ignore" });
      else child.kill("SIGTERM");
      const limit = setTimeout(() => process.kill(-(child.pid ?? 0), "SIGKILL"), 10_000);
      await gone;
      clearTimeout(limit);
    },
    async close() {
      await self.stop("smtp");
      await self.stop("imap");
      rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    },
  };
  await self.start("imap");
  await self.start("smtp");
  return self;
}

/** Taken by the server, and not yet delivered. */
function isOnItsWay(queue: string): boolean {
  return ["maildrop", "incoming", "active"].some((name) => {
    const place = join(queue, name);
    return (
      existsSync(place) && readdirSync(place, { recursive: true, withFileTypes: true }).some((one) => one.isFile())
    );
  });
}

/** Of a maildir, in the order of their arrival: names begin with its second and microsecond. */
async function mailsOf(box: string): Promise<readonly { readonly parsed: Email; readonly isRead: boolean }[]> {
  const files = ["new", "cur"].flatMap((name) => {
    const place = join(box, name);
    return existsSync(place) ? readdirSync(place).map((file) => ({ file, path: join(place, file) })) : [];
  });
  const order = ({ file }: { file: string }): string =>
    file.replace(/^(\d+)\.[^M]*M(\d+).*$/, (_, second: string, micro: string) => `${second}.${micro.padStart(6, "0")}`);
  const sorted = files.toSorted((a, b) => order(a).localeCompare(order(b)));
  const found = sorted.map(async ({ file, path }) => {
    // Between listing and reading it may have moved from new to cur, with a mark.
    const source = existsSync(path)
      ? path
      : join(box, "cur", readdirSync(join(box, "cur")).find((one) => one.startsWith(file)) ?? "");
    return { parsed: await PostalMime.parse(readFileSync(source)), isRead: /:2,[A-Z]*S/.test(source) };
  });
  return Promise.all(found);
}

function writeDovecot(folder: string, port: number, uid: number, gid: number): void {
  const lines = [
    `base_dir = ${folder}/run/dovecot`,
    `log_path = ${folder}/dovecot.log`,
    "protocols = imap",
    "mailbox_idle_check_interval = 1 s",
    "listen = 127.0.0.1",
    "ssl = no",
    "disable_plaintext_auth = no",
    `mail_location = maildir:${folder}/mail/%d/%n`,
    "first_valid_uid = 1",
    "first_valid_gid = 1",
    "auth_mechanisms = plain login",
    `passdb {\n  driver = static\n  args = password=${password}\n}`,
    `userdb {\n  driver = static\n  args = uid=${uid} gid=${gid} home=${folder}/mail/%d/%n\n}`,
    `service imap-login {\n  chroot =\n  inet_listener imap {\n    port = ${port}\n  }\n  inet_listener imaps {\n    port = 0\n  }\n}`,
    "service anvil {\n  chroot =\n}",
    "service stats {\n  chroot =\n}",
  ];
  writeFileSync(join(folder, "dovecot.conf"), `${lines.join("\n")}\n`);
}

function writePostfix(folder: string, port: number, uid: number, gid: number, keepsSent: boolean): void {
  const config = join(folder, "postfix");
  const [owner] = ids("postfix");
  chownSync(join(folder, "data"), owner, 0);
  const lines = [
    "compatibility_level = 3.6",
    `queue_directory = ${folder}/queue`,
    `data_directory = ${folder}/data`,
    "command_directory = /usr/sbin",
    "daemon_directory = /usr/lib/postfix/sbin",
    "mail_owner = postfix",
    "setgid_group = postdrop",
    `maillog_file = ${folder}/postfix.log`,
    `maillog_file_prefixes = ${folder}`,
    "inet_interfaces = 127.0.0.1",
    "inet_protocols = ipv4",
    "mynetworks = 127.0.0.0/8",
    "myhostname = mx.fake.test",
    "mydestination =",
    `virtual_mailbox_domains = ${domain}`,
    `virtual_mailbox_base = ${folder}/mail`,
    `virtual_mailbox_maps = texthash:${config}/boxes`,
    `virtual_uid_maps = static:${uid}`,
    `virtual_gid_maps = static:${gid}`,
    "virtual_minimum_uid = 1",
    "virtual_mailbox_limit = 0",
    "message_size_limit = 90000000",
    "smtpd_relay_restrictions = permit_mynetworks, reject",
    "smtpd_tls_security_level = none",
    "smtpd_client_connection_rate_limit = 0",
    "alias_maps =",
    "alias_database =",
    "import_environment = MAIL_CONFIG",
    ...(keepsSent ? [`sender_bcc_maps = inline:{bot@${domain}=sent@${domain}}`] : []),
  ];
  writeFileSync(join(config, "main.cf"), `${lines.join("\n")}\n`);
  const boxes = people.map((name) => `${name}@${domain} ${domain}/${name}/\n`);
  writeFileSync(join(config, "boxes"), [...boxes, `sent@${domain} ${domain}/bot/.Sent/\n`].join(""));
  // As the system's own, at our port, and without its own view of the file system.
  const own = readFileSync("/usr/share/postfix/master.cf.dist", "utf8")
    .replace(/^smtp(\s+)inet/m, `127.0.0.1:${port}$1inet`)
    .replaceAll(/^(\S+\s+(?:inet|unix|unix-dgram|fifo|pass)\s+\S+\s+\S+\s+)[y-](\s)/gm, "$1n$2");
  writeFileSync(join(config, "master.cf"), own);
  chmodSync(config, 0o755);
}

export function ids(user: string): readonly [number, number] {
  const line = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .find((one) => one.startsWith(`${user}:`));
  const [, , uid, gid] = (line ?? "::0:0").split(":");
  return [Number(uid), Number(gid)];
}

export async function freePorts(): Promise<readonly [number, number]> {
  const servers = [createServer(), createServer()];
  await Promise.all(servers.map((one) => new Promise<void>((done) => one.listen(0, "127.0.0.1", done))));
  const ports = servers.map((one) => (one.address() as AddressInfo).port);
  await Promise.all(servers.map((one) => new Promise((done) => one.close(done))));
  return [ports[0] ?? 0, ports[1] ?? 0];
}

/** Until it greets whoever comes. */
export async function answers(port: number, folder: string): Promise<void> {
  for (const until = Date.now() + limitMs; Date.now() < until; await pause(50)) {
    const greeted = await new Promise<boolean>((done) => {
      const socket = connect(port, "127.0.0.1");
      socket.once("data", () => {
        socket.destroy();
        done(true);
      });
      socket.once("error", () => done(false));
    });
    if (greeted) return;
  }
  const logs = ["dovecot.log", "postfix.log"].map((name) => join(folder, name)).filter((file) => existsSync(file));
  throw new Error(
    `nobody greets at port ${port}: ${logs.map((file) => readFileSync(file, "utf8").slice(-2_000)).join("\n")}`,
  );
}
