// A real IRC server of other people, with a configuration of its own, in the foreground. Where it is not installed, the
// tests say so.

import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type Started, atEnd, start, until } from "../process/stage.ts";

const program = ["/usr/sbin/ngircd", "/usr/bin/ngircd"].find((path) => existsSync(path));

/** Why there is none, or false. */
export const missing = program === undefined ? "ngircd is not installed (apt-get install ngircd)" : false;

export type Server = { readonly port: number; restart(): Promise<void>; stop(): Promise<void> };

export async function ngircd(t: TestContext, password = ""): Promise<Server> {
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
  const more = ["[Limits]", "MaxConnectionsIP = 0", "MaxNickLength = 20", "PingTimeout = 20", "PongTimeout = 10"];
  const quiet = ["[Options]", "Ident = no", "DNS = no", "PAM = no"];
  writeFileSync(file, [`[Global]`, ...global, ...words, ...more, ...quiet, ""].join("\n"));
  let running = await serve(t, file, port);
  const stop = async (): Promise<void> => void (await running.end("SIGTERM"));
  return {
    port,
    stop,
    async restart() {
      await stop();
      running = await serve(t, file, port);
    },
  };
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

async function canConnect(port: number): Promise<boolean> {
  const { connect } = await import("node:net");
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.once("connect", () => resolve(true));
    socket.once("error", () => resolve(false));
    socket.once("close", () => resolve(false));
    socket.once("connect", () => socket.destroy());
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address();
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}
