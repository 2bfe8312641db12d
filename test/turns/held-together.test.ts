// Two ways in which an item of the outbox could block everything: a start whose commit conflicts with itself, and a send that
// ends while one of its receipts is still being stored.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Verdict } from "../../src/core/approval.ts";
import type { OutboxItem, SendResult } from "../../src/core/outbox.ts";
import type { Confirm } from "../../src/ports/platform.ts";
import { talk, write } from "../access/people.ts";
import { stage } from "../stop/stage.ts";
import { agentOf, calling, fine, tool } from "./agents.ts";

const leave: Verdict = { type: "approve", why: "it deletes", what: "rm -r old||more", bound: "b", subject: null };

test("killed while a question and its copy for an approver are sent in parts: the next start works", async (t) => {
  const on = await stage(t);
  const agent = agentOf([tool("rm", "once", () => fine, { vet: async () => leave })], [calling("rm")]);
  let hangs = false;
  const is = {
    can: { keyedSend: false, draftEveryMs: null },
    parts: (text: string) => text.split("||"),
    async send(item: OutboxItem): Promise<SendResult> {
      if (hangs) return new Promise(() => undefined);
      on.servers.get("chat")?.sent.push(item);
      return { type: "accepted", remoteId: `r-${item.id}` };
    },
  };
  const access = { allow: ["*"], groups: "mention", chats: {}, pairing: false } as const;
  const settings = { chat: { inDoubt: "hold", access, admins: ["boss"] } } as const;
  const options = { agent, platforms: { chat: { is } }, settings };
  const first = await on.start(options);
  await talk(on, "boss", "/whoami");
  hangs = true;
  await write(on, "ann", "clean up");
  await on.pass(1_000);
  const sending = (await on.store.items({ state: "open", limit: 50 })).filter(({ now }) => now.state === "sending");
  assert.equal(sending.length, 2, "both first parts are on their way");
  first.life.kill();
  hangs = false;
  const second = await on.start(options);
  await on.pass(5_000);
  assert.deepEqual([second.failed, second.ending], [null, null]);
});

test("the time of a send is over while a receipt is being stored: the item goes on behind it", async (t) => {
  const on = await stage(t);
  const stuck = Promise.withResolvers<void>();
  let isFirst = true;
  const shown: string[] = [];
  const is = {
    can: { keyedSend: false, draftEveryMs: null },
    async send(item: OutboxItem, signal: AbortSignal, confirm?: Confirm): Promise<SendResult> {
      const done = item.now.state === "sending" ? (item.now.sent ?? []) : [];
      for (const n of [0, 1].slice(done.length)) {
        if (signal.aborted) return { type: "unknown", why: "cut off" };
        shown.push(`${n}`);
        await confirm?.(`m${n}`);
      }
      return { type: "accepted", remoteId: "m0" };
    },
  };
  const store: typeof on.store = {
    ...on.store,
    async commit(changes, by) {
      const isReceipt = changes.some(
        (one) =>
          "put" in one && one.put === "item" && one.item.now.state === "sending" && one.item.now.sent !== undefined,
      );
      if (isReceipt && isFirst) {
        isFirst = false;
        await stuck.promise;
      }
      return on.store.commit(changes, by);
    },
  };
  const agent = agentOf([], [{ type: "said", text: "files", calls: [], final: true }]);
  await on.start({ agent, platforms: { chat: { is } }, store });
  await on.say("one");
  await on.pass(61_000);
  stuck.resolve();
  await on.pass(600_000);
  assert.deepEqual(shown, ["0", "1"], "the confirmed message is not sent again");
  assert.deepEqual(await on.store.items({ state: "open", limit: 50 }), []);
});
