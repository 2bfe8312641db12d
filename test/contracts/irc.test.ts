// The contract of platforms, kept by IRC with a server in memory. IRC has no receipts: what was stored is seen at the inlet.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Platform } from "../../src/ports/platform.ts";
import { irc } from "../../src/platforms/irc/index.ts";
import { partMax, sizeOf } from "../../src/platforms/irc/markup.ts";
import { type Failure, type OpenedPlatform, type Receipt, platformSuite } from "../../src/testing/index.ts";
import { kept, live, wordsOf } from "../../src/testing/platform/steps.ts";
import { realWorld } from "../../src/world.ts";
import { type FakeIrc, fakeIrc } from "../fakes/irc.ts";

const notUsed = (): never => {
  throw new Error("IRC has no files");
};
const blobs = { put: notUsed, path: notUsed, has: notUsed, remove: notUsed, list: notUsed };

async function openIrc(): Promise<OpenedPlatform & { readonly server: FakeIrc }> {
  const server = await fakeIrc();
  const settings = {
    host: "127.0.0.1",
    port: server.port,
    tls: false,
    nick: "ever",
    realName: "Everturn",
    password: "right",
    sasl: null,
    channels: ["#talk"],
    lineEveryMs: 0,
    askAccounts: false,
  };
  const around = { world: realWorld(() => undefined), blobs: blobs as never };
  let receipt = Promise.withResolvers<Receipt>();
  let last = "";
  let listeners = 0;

  /** The same platform, seen from outside: what became of each message. */
  function watched(): Platform {
    const inner = irc(settings, around);
    return {
      ...inner,
      async listen(inlet, from, signal) {
        const accept: typeof inlet.accept = async (message, cursor) => {
          try {
            const taken = await inlet.accept(message, cursor);
            receipt.resolve(signal.aborted ? "refused" : "acknowledged");
            return taken;
          } catch (error) {
            receipt.resolve("refused");
            throw error;
          }
        };
        listeners++;
        try {
          await inner.listen({ ...inlet, accept }, from, signal);
        } finally {
          listeners--;
          receipt.resolve("refused");
        }
      },
    };
  }

  function write(target: string, text: string): Promise<Receipt> {
    receipt = Promise.withResolvers();
    if (listeners === 0) return Promise.resolve("refused");
    const line = server.line("alice", target, text);
    if (line === null) return Promise.resolve("refused");
    last = line;
    return receipt.promise;
  }

  const breaks: Readonly<Record<Failure, () => void>> = {
    rate: () => server.failNext("404"),
    server: () => server.failNext("before"),
    html: () => server.failNext("before"),
    "dropped-before": () => server.failNext("before"),
    "dropped-after": () => server.failNext("after"),
    denied: () => server.deny(),
  };

  return {
    server,
    platform: watched(),
    home: { platform: "irc", account: "ever@127.0.0.1", chat: "alice" },
    writable: ["plain", "👋 👩‍👩‍👧‍👦 𝒳", "שלום مرحبا", "<b>&amp;</b>", "with: a colon", "x".repeat(400)],
    limit: { max: partMax, measure: sizeOf },
    say: (text) => write("ever", text),
    redeliver() {
      receipt = Promise.withResolvers();
      server.repeat(last);
      return receipt.promise;
    },
    stored: async () => undefined,
    seen: async () => server.said.map(({ text }) => text),
    breakOff: server.down,
    reopen: async () => watched(),
    sayInGroup: (text, called) => write("#talk", called ? `ever: ${text}` : text),
    async sayAsSelf(text) {
      server.line("ever", "#talk", text);
      return "acknowledged";
    },
    failNext: (kind) => breaks[kind](),
    goDown: server.down,
    comeBack: server.back,
    close: server.close,
  };
}

platformSuite("irc", openIrc);

test("what was said meanwhile, in channels and queries, is read from the history of the server", async (t) => {
  const { platform, reopen, say, close, server } = await openIrc();
  t.after(close);
  const store = kept();
  const first = live(platform, store);
  await first.up;
  await say("before");
  first.stop.abort();
  await first.ended;
  server.line("bob", "#talk", "in the channel");
  server.line("alice", "ever", "in the query");
  const next = live((await reopen?.(store.cursor)) ?? platform, store);
  t.after(() => next.stop.abort());
  await store.count(3);
  assert.deepEqual(wordsOf(store.stored).toSorted(), ["before", "in the channel", "in the query"]);
});
