// Another mail server of other people, for tests: Cyrus IMAP and Exim, unpacked by test/platforms/get-cyrus.sh into the folder
// that EVERTURN_CYRUS names. Exim hands mails to Cyrus by LMTP; what people have got is read by IMAP.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { ImapFlow } from "imapflow";
import { createTransport } from "nodemailer";
import PostalMime, { type Email } from "postal-mime";
import { type MailServer, answers, domain, freePorts, ids, password } from "./mail.ts";

const root = process.env["EVERTURN_CYRUS"] ?? "";
const people = ["bot", "ann", "bob"];

/** Null where they can be run; otherwise why not. */
export function whyNoCyrus(): string | null {
  if (root === "" || !existsSync(join(root, "usr/sbin/exim4")))
    return "EVERTURN_CYRUS names no folder that test/platforms/get-cyrus.sh has made";
  return process.getuid?.() === 0 ? null : "Cyrus and Exim want to be started by root";
}

export async function openCyrus(): Promise<MailServer> {
  const folder = mkdtempSync(join(tmpdir(), "everturn-cyrus-"));
  // Their own users have to get through.
  chmodSync(folder, 0o755);
  const [imapPort, smtpPort] = await freePorts();
  const [lmtpPort] = await freePorts();
  writeCyrus(folder, imapPort, lmtpPort);
  writeExim(folder, smtpPort, lmtpPort);
  const running: { imap: ChildProcess | null; smtp: ChildProcess | null } = { imap: null, smtp: null };

  async function inBox<T>(user: string, look: (client: ImapFlow) => Promise<T>): Promise<T> {
    const auth = { user: `${user}@${domain}`, pass: password };
    const client = new ImapFlow({ host: "127.0.0.1", port: imapPort, secure: false, auth, logger: false });
    await client.connect();
    try {
      await client.mailboxOpen("INBOX", { readOnly: true });
      return await look(client);
    } finally {
      await client.logout();
    }
  }

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
      while (running.smtp?.exitCode === null && isOnItsWay(join(folder, "exim/input"))) await pause(20);
      return inBox(user, async (client) => {
        const all: Email[] = [];
        // Cyrus refuses to fetch from an empty mailbox.
        if (client.mailbox === false || client.mailbox.exists === 0) return all;
        for await (const { source } of client.fetch("1:*", { source: true }))
          if (source !== undefined) all.push(await PostalMime.parse(source));
        return all;
      });
    },
    marked: (user, id) =>
      inBox(user, async (client) => {
        const found = await client.search({ header: { "message-id": id }, seen: true });
        return found === false || found === undefined ? 0 : found.length;
      }),
    async start(which) {
      const program = which === "imap" ? cyrus(folder) : exim(folder);
      running[which] = spawn(program.name, program.words, { stdio: "ignore", detached: true, env: program.env });
      await answers(which === "imap" ? imapPort : smtpPort, folder);
    },
    async stop(which) {
      const child = running[which];
      if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const gone = new Promise((done) => child.once("exit", done));
      // The whole group: what serves a connection goes with the one that started it.
      process.kill(-child.pid, "SIGKILL");
      await gone;
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
  return existsSync(queue) && readdirSync(queue, { recursive: true, withFileTypes: true }).some((one) => one.isFile());
}

type Program = { readonly name: string; readonly words: readonly string[]; readonly env: NodeJS.ProcessEnv };

function cyrus(folder: string): Program {
  const name = join(root, "usr/lib/cyrus/bin/master");
  const words = ["-C", join(folder, "imapd.conf"), "-M", join(folder, "cyrus.conf"), "-p", join(folder, "cyrus.pid")];
  const lib = join(root, "usr/lib");
  const libraries = readdirSync(lib).filter((one) => one.endsWith("-linux-gnu"));
  const path = libraries.map((one) => join(lib, one)).join(":");
  return { name, words, env: { PATH: process.env["PATH"], LD_LIBRARY_PATH: path, CYRUS_USER: "mail" } };
}

function exim(folder: string): Program {
  const words = ["-C", join(folder, "exim.conf"), "-bdf", "-q1s"];
  return { name: join(root, "usr/sbin/exim4"), words, env: { PATH: process.env["PATH"] } };
}

function writeCyrus(folder: string, imapPort: number, lmtpPort: number): void {
  const [uid, gid] = ids("mail");
  for (const name of ["conf", "spool"]) {
    mkdirSync(join(folder, name));
    chownSync(join(folder, name), uid, gid);
  }
  const secrets = join(folder, "sasldb2");
  for (const name of people) {
    const words = ["-p", "-c", "-f", secrets, "-u", domain, name];
    const { status, stderr } = spawnSync("/usr/sbin/saslpasswd2", words, { input: password });
    if (status !== 0) throw new Error(`saslpasswd2: ${String(stderr)}`);
  }
  chownSync(secrets, uid, gid);
  const settings = [
    `configdirectory: ${folder}/conf`,
    `partition-default: ${folder}/spool`,
    "defaultpartition: default",
    "admins: cyrus",
    "virtdomains: userid",
    `defaultdomain: ${domain}`,
    `servername: ${domain}`,
    `loginrealms: ${domain}`,
    "unixhierarchysep: yes",
    "altnamespace: yes",
    "allowplaintext: yes",
    "sasl_pwcheck_method: auxprop",
    "sasl_auxprop_plugin: sasldb",
    `sasl_sasldb_path: ${secrets}`,
    "sasl_mech_list: PLAIN LOGIN",
    "autocreate_quota: 0",
    "autocreate_post: yes",
    "autocreate_inbox_folders: Sent",
    "xlist-sent: Sent",
    "imapidlepoll: 1",
  ];
  writeFileSync(join(folder, "imapd.conf"), `${settings.join("\n")}\n`);
  const bin = (name: string) => `${root}/usr/lib/cyrus/bin/${name} -C ${folder}/imapd.conf`;
  writeFileSync(
    join(folder, "cyrus.conf"),
    `START {
  recover cmd="${bin("ctl_cyrusdb")} -r"
}
SERVICES {
  imap cmd="${bin("imapd")}" listen="127.0.0.1:${imapPort}" prefork=1
  lmtp cmd="${bin("lmtpd")} -a" listen="127.0.0.1:${lmtpPort}" prefork=1
}
EVENTS {
}
`,
  );
}

function writeExim(folder: string, smtpPort: number, lmtpPort: number): void {
  const [uid, gid] = ids("Debian-exim");
  for (const name of ["exim", "log"]) {
    mkdirSync(join(folder, name));
    chownSync(join(folder, name), uid, gid);
  }
  writeFileSync(
    join(folder, "exim.conf"),
    `primary_hostname = mx.${domain}
exim_path = ${root}/usr/sbin/exim4
spool_directory = ${folder}/exim
log_file_path = ${folder}/log/%slog
pid_file_path = ${folder}/exim.pid
local_interfaces = 127.0.0.1
daemon_smtp_ports = ${smtpPort}
acl_smtp_rcpt = recipients
acl_smtp_data = content
host_lookup =
tls_advertise_hosts =
keep_environment =
disable_ipv6 = true
message_size_limit = 90M
begin acl
recipients:
  accept domains = ${domain}
  deny message = relay not permitted
content:
  accept
begin routers
people:
  driver = manualroute
  domains = ${domain}
  transport = cyrus
  route_list = * 127.0.0.1
  self = send
begin transports
cyrus:
  driver = smtp
  protocol = lmtp
  port = ${lmtpPort}
  allow_localhost
begin retry
* * F,1h,1s
`,
    { mode: 0o644 },
  );
}
