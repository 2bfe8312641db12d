// IRC over the wire where it is more than one line: histories of several pages, channels that take no marks of letters, and
// letters of all kinds in pieces of all sizes.

import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { type TestContext, test } from "node:test";
import type { Inbound } from "../../src/core/message.ts";
import { textOf } from "../../src/core/message.ts";
import { connect } from "../../src/platforms/irc/api.ts";
import { irc } from "../../src/platforms/irc/index.ts";
import { anItem } from "../../src/testing/samples.ts";
import { realWorld } from "../../src/world.ts";
import { fakeIrc } from "../fakes/irc.ts";

const never = (): never => assert.fail("nobody asked for it");

const settingsFor = (port: number) => ({
  host: "127.0.0.1",
  port,
  tls: false,
  nick: "ever",
  realName: "Everturn",
  password: "right",
  sasl: null,
  channels: ["#a", "#b"],
  lineEveryMs: 0,
  askAccounts: false,
});

/** Listens from this place in the stream; `moves` are the places that were stored, with how much had been taken then. */
async function listening(t: TestContext, from: string | null) {
  const server = await fakeIrc();
  const world = realWorld(() => undefined);
  const blobs = { put: never, read: never, path: never };
  const platform = irc(settingsFor(server.port), { world, blobs });
  const taken = new Map<string, Inbound>();
  const moves: { readonly cursor: string; readonly taken: number }[] = [];
  const moved = Promise.withResolvers<void>();
  const up = Promise.withResolvers<void>();
  const note = (cursor: string | null) => {
    if (cursor === null) return;
    moves.push({ cursor, taken: taken.size });
    moved.resolve();
  };
  const stop = new AbortController();
  const start = () => {
    const ended = platform.listen(
      {
        accept: async (message, cursor) => {
          const isKnown = taken.has(message.key);
          taken.set(message.key, message);
          note(cursor);
          return isKnown ? "duplicate" : "accepted";
        },
        hears: async () => true,
        moved: async (cursor) => note(cursor),
        up: () => up.resolve(),
        trouble: never,
      },
      from,
      stop.signal,
    );
    t.after(async () => {
      stop.abort();
      await ended;
      await server.close();
    });
  };
  return { server, platform, taken, moves, moved: moved.promise, up: up.promise, start };
}

test("a long absence is told whole, and the place in the stream moves only then", { timeout: 60_000 }, async (t) => {
  const { server, taken, moves, moved, start } = await listening(t, new Date(1_800_000_000_000).toISOString());
  const words: string[] = [];
  const say = (target: string, n: number) => {
    words.push(`${target} ${n}`);
    server.line("ann", target, `${target} ${n}`);
  };
  for (let n = 0; n < 250; n++) say("#a", n);
  for (let n = 0; n < 120; n++) say("ever", n);
  say("#b", 0);
  start();
  await moved;
  assert.deepEqual([...taken.values()].map(({ body }) => textOf(body)).toSorted(), words.toSorted());
  assert.deepEqual(moves, [{ cursor: new Date(1_800_000_000_000 + words.length).toISOString(), taken: words.length }]);
});

test("a channel that takes no marks gets the words, each once", { timeout: 60_000 }, async (t) => {
  const { server, platform, up, start } = await listening(t, null);
  start();
  await up;
  server.refuseMarks();
  const to = { platform: "irc", account: platform.account, chat: "#a" };
  const item = anItem("i", { to, text: "one\n\n**two**\n\nthree" });
  const result = await platform.send(item, new AbortController().signal);
  assert.equal(result.type, "accepted");
  assert.deepEqual(
    server.said.map(({ text }) => text),
    ["one", "three", "two"],
  );
});

test("no line is lost for what its letters are", { timeout: 60_000 }, async (t) => {
  const { server, taken, up, start } = await listening(t, null);
  start();
  await up;
  const words = ["pasted\u2028text", "two\u2029parts", "an inner\rend", "the\u00a0last"];
  for (const text of words) server.line("ann", "ever", text);
  server.line("ann", "ever", "end");
  while (![...taken.values()].some(({ body }) => textOf(body) === "end")) await new Promise(setImmediate);
  assert.deepEqual(
    [...taken.values()].map(({ body }) => textOf(body)),
    [...words, "end"],
  );
});

/** Says these bytes to whoever connects, and ends. */
async function saying(t: TestContext, pieces: readonly Buffer[]) {
  const server = createServer((socket) => {
    socket.setNoDelay(true);
    for (const piece of pieces) socket.write(piece);
    socket.end();
  });
  t.after(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const skipped: string[] = [];
  const settings = settingsFor((server.address() as AddressInfo).port);
  const connection = await connect(settings, (reason) => skipped.push(reason), new AbortController().signal);
  t.after(() => connection.close());
  return { ...connection, skipped };
}

test("lines come whole out of single bytes, also those that are not UTF-8", { timeout: 60_000 }, async (t) => {
  const said = Buffer.concat([
    Buffer.from(":ann!a@h PRIVMSG ever :Grüße 👋\r\n"),
    Buffer.from(":ann!a@h PRIVMSG ever :Gr\xfc\xdfe aus K\xf6ln\r\n", "latin1"),
    Buffer.from(":ann!a@h PRIVMSG ever :last\n"),
  ]);
  const connection = await saying(
    t,
    [...said].map((byte) => Buffer.from([byte])),
  );
  const lines = await Array.fromAsync(connection.lines());
  assert.deepEqual(
    lines.map(({ params }) => params[1]),
    ["Grüße 👋", "Grüße aus Köln", "last"],
  );
});

test("a server that never ends its line is left", { timeout: 60_000 }, async (t) => {
  const connection = await saying(t, Array<Buffer>(9).fill(Buffer.from("ü".repeat(1_024))));
  await assert.rejects(Array.fromAsync(connection.lines()), /what is not IRC/);
});
