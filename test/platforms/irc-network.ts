// A network of other people's programs: InspIRCd with the services of Anope, both from Debian, in the foreground and with
// configurations of their own. Where one of them is not installed, the tests say so.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Started, atEnd, start, until } from "../process/stage.ts";
import { canConnect, freePort } from "./ngircd.ts";

const programs = ["/usr/sbin/inspircd", "/usr/sbin/anope"] as const;

/** Why there is no such network, or false. */
export const missingNetwork = programs.every((path) => existsSync(path))
  ? false
  : "inspircd and anope are not installed (apt-get install inspircd anope)";

export type Network = {
  readonly port: number;
  readonly tlsPort: number;
  /** The certificate of the server, which it signed itself. */
  readonly certificate: string;
  /** The server dies and comes back; its services find it again by themselves. */
  killAndRestart(): Promise<void>;
};

export type Certificate = { readonly certificate: string; readonly key: string };

/** A certificate that signed itself, in this folder. */
export async function certificateIn(t: TestContext, folder: string, name: string): Promise<Certificate> {
  const [certificate, key] = [join(folder, `${name}.crt`), join(folder, `${name}.key`)];
  const words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const names = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  const made = start(t, "openssl", [...words, ...names, "-keyout", key, "-out", certificate], {});
  assert.equal(await made.exit, 0, made.err());
  return { certificate, key };
}

export async function ircNetwork(t: TestContext): Promise<Network> {
  const folder = mkdtempSync(join(tmpdir(), "everturn-inspircd-"));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  const own = await certificateIn(t, folder, "localhost");
  const ports = { clients: await freePort(), tls: await freePort(), servers: await freePort() };
  const file = join(folder, "inspircd.conf");
  writeFileSync(file, serverConfig(own, ports));
  const services = servicesIn(folder, ports.servers);
  let server = await serve(t, file, ports.clients);
  start(t, programs[1], services.words, { cwd: services.folder });
  return {
    port: ports.clients,
    tlsPort: ports.tls,
    certificate: own.certificate,
    async killAndRestart() {
      await server.end("SIGKILL");
      server = await serve(t, file, ports.clients);
    },
  };
}

type Ports = { readonly clients: number; readonly tls: number; readonly servers: number };

function serverConfig({ certificate, key }: Certificate, { clients, tls, servers }: Ports): string {
  const modules =
    "cap sasl services_account sslinfo ssl_gnutls spanningtree hidechans chghost chgident svshold cban topiclock globops ircv3 ircv3_accounttag ircv3_ctctags ircv3_msgid ircv3_servertime ircv3_echomessage ircv3_batch";
  return `
<server name="irc.test.example" description="test" network="Test" id="1TS">
<admin name="test" nick="test" email="test@test.example">
${modules
  .split(" ")
  .map((name) => `<module name="${name}">`)
  .join("\n")}
<sslprofile name="clients" provider="gnutls" certfile="${certificate}" keyfile="${key}" hash="sha256" requestclientcert="yes">
<bind address="127.0.0.1" port="${clients}" type="clients">
<bind address="127.0.0.1" port="${tls}" type="clients" sslprofile="clients">
<bind address="127.0.0.1" port="${servers}" type="servers">
<link name="services.test.example" ipaddr="127.0.0.1" port="${servers}" allowmask="127.0.0.0/8" sendpass="linked" recvpass="linked" timeout="30s">
<uline server="services.test.example" silent="yes">
<sasl target="services.test.example" requiressl="no">
<connect name="people" allow="*" timeout="60" pingfreq="120" hardsendq="1M" softsendq="64K" recvq="64K" localmax="100" globalmax="100" resolvehostnames="no" commandrate="100000" fakelag="no">
<options casemapping="ascii" defaultbind="ipv4" splitwhois="no" nosnoticestack="yes">
<performance netbuffersize="10240" somaxconn="128" softlimit="12800" clonesonconnect="no" quietbursts="yes">
<security hidesplits="no" maxtargets="20">
<dns server="127.0.0.1" timeout="1" enabled="no">
`;
}

type Services = { readonly folder: string; readonly words: readonly string[] };

function servicesIn(folder: string, port: number): Services {
  const at = (name: string): string => join(folder, name);
  for (const name of ["conf", "db", "logs"]) mkdirSync(at(name));
  const modules = ["inspircd3", "enc_sha256", "db_flatfile", "m_sasl", "nickserv", "ns_identify", "ns_cert", "help"];
  writeFileSync(
    at("conf/services.conf"),
    `
uplink { host = "127.0.0.1"; ipv6 = no; ssl = no; port = ${port}; password = "linked" }
serverinfo { name = "services.test.example"; description = "test"; pid = "${at("services.pid")}"; motd = "${at("conf/motd")}" }
networkinfo { networkname = "Test"; nicklen = 31; userlen = 10; hostlen = 64; chanlen = 32; modelistsize = 100; nick_chars = ""; vhost_chars = "a-z"; allow_undotted_vhosts = false; disallow_start_or_end = "" }
options { casemap = "ascii"; strictpasswords = no; badpasslimit = 5; badpasstimeout = 1h; updatetimeout = 5m; expiretimeout = 30m; readtimeout = 5s; warningtimeout = 4h; timeoutcheck = 3s; retrywait = 1s; hideprivilegedcommands = yes; hideregisteredcommands = yes; languages = ""; defaultlanguage = "en_US"; regexengine = "" }
${modules.map((name) => `module { name = "${name}"${name === "db_flatfile" ? '; database = "anope.db"; fork = no; keepbackups = 1' : ""}${name === "nickserv" ? '; client = "NickServ"; forceemail = no; defaults = "ns_secure"; guestnickprefix = "Guest"; expire = 0' : ""} }`).join("\n")}
module { name = "ns_register"; registration = "none" }
service { nick = "NickServ"; user = "services"; host = "services.test.example"; gecos = "Nickname Registration Service" }
command { service = "NickServ"; name = "REGISTER"; command = "nickserv/register" }
command { service = "NickServ"; name = "IDENTIFY"; command = "nickserv/identify" }
command { service = "NickServ"; name = "CERT"; command = "nickserv/cert" }
log { target = "services.log"; logage = 7; admin = "*"; override = "*"; commands = "*"; servers = "*"; users = "connect disconnect"; other = "*"; rawio = no; debug = no }
`,
  );
  writeFileSync(at("conf/motd"), "test\n");
  const folders = [`--confdir=${at("conf")}`, `--dbdir=${at("db")}`, `--logdir=${at("logs")}`];
  return { folder, words: ["--nofork", ...folders, "--modulesdir=/usr/lib/anope", "--config=services.conf"] };
}

async function serve(t: TestContext, file: string, port: number): Promise<Started> {
  const words = ["--nofork", "--runasroot", "--nopid", "--nolog", "--config", file];
  const server = start(t, programs[0], words, {});
  await until(
    () => canConnect(port),
    (can) => can,
    () => `InspIRCd listens; it said ${server.out()}${server.err()}`,
  );
  return server;
}
