// Servers that say nothing, or only their greeting: whoever has to end does not wait for them.

import assert from "node:assert/strict";
import { getEventListeners, once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, type Socket, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { openBlobs } from "../../stores/blobs/index.ts";
import { inletOf } from "../../testing/platform/steps.ts";
import { realWorld } from "../../world.ts";
import { email } from "./index.ts";

for (const greeting of ["", "* OK hi\r\n"])
  test(`a server that says ${greeting === "" ? "nothing" : "its greeting and nothing else"}`, async (t) => {
    const came = Promise.withResolvers<Socket>();
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.write(greeting);
      // With a greeting, somebody who says something is waiting for the answer.
      if (greeting === "") came.resolve(socket);
      else socket.once("data", () => came.resolve(socket));
    });
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const folder = mkdtempSync(join(tmpdir(), "everturn-email-"));
    t.after(() => {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    });
    const { port } = server.address() as AddressInfo;
    const at = { host: "127.0.0.1", port, tls: false, user: "u", password: "p", anyCertificate: true };
    const more = { mailbox: "INBOX", verify: "auto", authServer: null } as const;
    const around = { world: realWorld(() => undefined), blobs: openBlobs(folder) };
    const platform = email({ address: "a@b.c", name: "x", imap: at, smtp: at, ...more }, around);
    const stop = new AbortController();
    const listening = platform.listen(
      inletOf(async () => "accepted"),
      null,
      stop.signal,
    );
    const socket = await came.promise;
    const left = once(socket, "close");
    stop.abort();
    const isOver = await Promise.race([
      listening.then(() => true),
      new Promise<boolean>((done) => setTimeout(done, 10_000, false).unref()),
    ]);
    assert.ok(isOver, "it ends at once, not when the library is tired of waiting");
    assert.deepEqual(getEventListeners(stop.signal, "abort"), []);
    socket.resume();
    await left;
  });
