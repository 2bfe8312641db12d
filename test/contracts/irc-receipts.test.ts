// An answer of several lines, cut off at each of them: what the server has confirmed is stored, and never said again. Without
// echoes the ping behind a piece of lines confirms it, with echoes each line is confirmed by itself.

import assert from "node:assert/strict";
import { type TestContext, describe, test } from "node:test";
import { type OutboxItem, type SendResult, advanceItem } from "../../src/core/outbox.ts";
import { irc } from "../../src/platforms/irc/index.ts";
import { anItem, at, bootId } from "../../src/testing/samples.ts";
import { kept, live } from "../../src/testing/platform/steps.ts";
import { realWorld } from "../../src/world.ts";
import { fakeIrc } from "../fakes/irc.ts";
import { until } from "../process/stage.ts";

const lines = Array.from({ length: 12 }, (_, n) => `line ${n}`);
/** So many lines may be uncertain without echoes. */
const pieceMax = 5;

async function opened(t: TestContext, echoes: boolean) {
  const server = await fakeIrc("right", echoes);
  t.after(server.close);
  const settings = {
    host: "127.0.0.1",
    port: server.port,
    tls: false,
    nick: "ever",
    realName: "Everturn",
    password: "right",
    sasl: null,
    channels: [],
    lineEveryMs: 0,
    askAccounts: false,
  };
  const platform = irc(settings, { world: realWorld(() => undefined), blobs: {} as never });
  const store = kept();
  let item: OutboxItem = advanceItem(
    anItem("i1", { to: { platform: "irc", account: "a", chat: "bob" }, text: lines.join("\n\n") }),
    { type: "taken", boot: bootId("b1") },
  );
  /** One attempt over a new connection, as the engine makes it. */
  async function attempt(): Promise<SendResult> {
    const listening = live(platform, store);
    try {
      await listening.up;
      const result = await platform.send(item, AbortSignal.timeout(60_000), async (remoteId) => {
        item = advanceItem(item, { type: "confirmed", remoteId });
      });
      if (result.type === "accepted") return result;
      const answered = advanceItem(item, { type: "answered", result, at: at(1), chance: 0 });
      const waiting =
        answered.now.state === "pending" ? answered : advanceItem(answered, { type: "repeated", at: at(1) });
      item = advanceItem(waiting, { type: "taken", boot: bootId("b1") });
      return result;
    } finally {
      listening.stop.abort();
      await listening.ended;
    }
  }
  const receipts = () => (item.now.state === "sending" ? (item.now.sent ?? []) : []);
  return { server, attempt, receipts, said: () => server.said.map(({ text }) => text), platform, store };
}

describe("lines of an answer on IRC", { concurrency: 4 }, () => {
  for (const echoes of [false, true])
    for (const kind of ["before", "after", "ERROR"] as const)
      test(`cut off ${kind} each line, ${echoes ? "with" : "without"} echoes`, async (t) => {
        for (const n of lines.keys()) {
          const { server, attempt, said } = await opened(t, echoes);
          server.failNext(kind, n);
          assert.equal((await attempt()).type, "unknown", `line ${n}`);
          const first = said().length;
          assert.equal((await attempt()).type, "accepted", `line ${n}`);
          assert.deepEqual([...new Set(said())], lines, "every line, in order");
          const copies = said().length - lines.length;
          // What is answered before the break is never said again.
          const most = echoes ? Number(kind === "after") : ((first - 1) % pieceMax) + 1;
          assert.ok(copies <= most, `line ${n}: ${copies} copies, at most ${most}: ${JSON.stringify(said())}`);
          await server.close();
        }
      });

  test("a channel that refuses one piece for now gets the rest later, without what it has", async (t) => {
    const { server, attempt, said, receipts } = await opened(t, false);
    server.failNext("404", pieceMax, pieceMax);
    assert.equal((await attempt()).type, "retry");
    assert.deepEqual([said(), receipts()], [lines.slice(0, pieceMax), ["0-4/12"]]);
    assert.equal((await attempt()).type, "accepted");
    assert.deepEqual(said(), lines);
  });

  test("one refused line of several is not said again", async (t) => {
    const { server, attempt, said } = await opened(t, false);
    server.failNext("404", 6);
    assert.equal((await attempt()).type, "accepted");
    assert.deepEqual(said(), lines.toSpliced(6, 1));
  });

  test("a ping is answered while the connection stands, and only then", async (t) => {
    const { server, platform, store } = await opened(t, false);
    const ping = async (): Promise<boolean> => {
      try {
        await platform.ping?.(AbortSignal.timeout(30_000));
        return true;
      } catch {
        return false;
      }
    };
    assert.equal(await ping(), false);
    const listening = live(platform, store);
    t.after(() => listening.stop.abort());
    await listening.up;
    assert.equal(await ping(), true);
    await server.down();
    await until(ping, (isAnswered) => !isAnswered, "no connection, no answer");
  });
});
