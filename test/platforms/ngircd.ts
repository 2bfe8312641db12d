// A real IRC server of other people, with a configuration of its own, in the foreground. Where it is not installed, the
// tests say so.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Started, atEnd, start, until } from "../process/stage.ts";

const program = ["/usr/sbin/ngircd", "/usr/bin/ngircd"].find((path) => existsSync(path));

/** Why there is none, or false. */
export const missing = program === undefined ? "ngircd is not installed (apt-get install ngircd)" : false;

export type Server = {
  readonly port: number;
  /** With TLS, and the file of the certificate that it signed itself. */
  readonly tls: { readonly port: number; readonly certificate: string } | null;
  restart(): Promise<void>;
  stop(): Promise<void>;
};

export type Kind = { readonly password?: string; readonly tls?: boolean };

export async function ngircd(t: TestContext, { password = "", tls = false }: Kind = {}): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), "everturn-irc-"));
  atEnd(t, () => rmSync(folder, { recursive: true, force: true }));
  const port = await freePort();
  const file = join(folder, "ngircd.conf");
  const global = [
    "Name = irc.test.example",
    "AdminInfo1 = test",
    "Info = test",
    "Listen = 127.0.0.1",
    `Ports = ${port}`,
  ];
  const words = password === "" ? [] : [`Password = ${password}`];
  const limits = ["MaxConnectionsIP = 0", "MaxNickLength = 20", "PingTimeout = 20", "PongTimeout = 10"];
  // Whoever is new is made to wait for two seconds otherwise, which is longer than some lives here.
  const more = ["[Limits]", ...limits, "MaxPenaltyTime = 0"];
  const quiet = ["[Options]", "Ident = no", "DNS = no", "PAM = no"];
  const secure = tls ? { port: await freePort(), ...(await certificateIn(t, folder)) } : null;
  const ssl = secure === null ? [] : ["[SSL]", `CertFile = ${secure.certificate}`, `KeyFile = ${secure.key}`];
  const at = secure === null ? [] : [`Ports = ${secure.port}`];
  writeFileSync(file, [`[Global]`, ...global, ...words, ...more, ...quiet, ...ssl, ...at, ""].join("\n"));
  let running = await serve(t, file, port);
  const stop = async (): Promise<void> => void (await running.end("SIGTERM"));
  return {
    port,
    tls: secure,
    stop,
    async restart() {
      await stop();
      running = await serve(t, file, port);
    },
  };
}

async function certificateIn(t: TestContext, folder: string) {
  const [certificate, key] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  const words = ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
  const names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
  const made = start(t, "openssl", [...words, ...names, "-keyout", key, "-out", certificate], {});
  assert.equal(await made.exit, 0, made.err());
  return { certificate, key };
}

async function serve(t: TestContext, file: string, port: number): Promise<Started> {
  const started = start(t, program ?? "", ["-n", "-f", file], {});
  await until(
    () => canConnect(port),
    (can) => can,
    () => `ngircd listens; it said ${started.out()}${started.err()}`,
  );
  return started;
}

export async function canConnect(port: number): Promise<boolean> {
  const { connect } = await import("node:net");
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("close", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
