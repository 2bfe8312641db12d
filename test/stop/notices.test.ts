// Who is told of a stop before it happens, as the platforms receive it.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Address } from "../../src/core/message.ts";
import type { OutboxItem } from "../../src/core/outbox.ts";
import { type Stage, type StageOptions, at, stage } from "./stage.ts";

const topic: Address = { platform: "telegram", account: "bot", chat: "4711", thread: "42" };
const admin = { admins: ["ann"] };
const platforms = { telegram: {} };

function options(home: StageOptions["settings"] = {}): StageOptions {
  return { platforms, settings: { telegram: { ...admin, ...home["telegram"] } } };
}

const notices = (on: Stage): readonly OutboxItem[] =>
  [...on.servers.values()].flatMap(({ sent }) => sent.filter(({ text }) => text.startsWith("Gateway ")));

async function busyInTopic(on: Stage, more: { readonly anchor?: string } = {}): Promise<void> {
  await on.say("stuck", { from: topic, ...more });
  await on.until(() => on.calls.includes("step stuck"));
}

/** `/restart` from the topic, until the gateway has ended. */
async function restartFromTopic(on: Stage, one: Awaited<ReturnType<Stage["start"]>>): Promise<void> {
  await on.say("/restart", { from: topic, anchor: "restart-message" });
  await on.until(() => one.ending !== null);
  one.life.kill();
  assert.deepEqual([one.ending?.intent.class, one.ending?.intent.by], ["restart", "chat"]);
}

test("S19 S20 a restart asked in an active Telegram topic: one warning there with all four fields, anchored at the /restart message; the same home is not told twice", async (t) => {
  const on = await stage(t);
  const home = { account: "bot", chat: "4711", thread: "42" };
  const one = await on.start(options({ telegram: { home } }));
  // Telegram names every message, so the one that is being worked on has an anchor of its own.
  await busyInTopic(on, { anchor: "own-message" });
  await restartFromTopic(on, one);
  const [notice, ...rest] = notices(on);
  assert.deepEqual(rest, []);
  assert.match(notice?.text ?? "", /Gateway restarting/);
  assert.deepEqual(notice?.to, topic);
  assert.deepEqual(notice?.hints, {
    thread_id: "42",
    telegram_dm_topic_reply_fallback: true,
    direct_messages_topic_id: "42",
    telegram_reply_to_message_id: "restart-message",
  });
});

test("S19 only the chat that asked is answered at its /restart message; another is anchored at the message in work there", async (t) => {
  const on = await stage(t);
  const one = await on.start(options());
  await busyInTopic(on, { anchor: "own-message" });
  const other = { ...topic, chat: "4712" };
  await on.say("stuck elsewhere", { from: other, anchor: "other-message" });
  await on.until(() => on.calls.includes("step stuck elsewhere"));
  await restartFromTopic(on, one);
  assert.deepEqual(
    notices(on).map(({ to, hints }) => [to.chat, hints?.["telegram_reply_to_message_id"]]),
    [
      ["4711", "restart-message"],
      ["4712", "other-message"],
    ],
  );
});

test("a stop that no chat asked for is anchored at the message in work", async (t) => {
  const on = await stage(t);
  const one = await on.start(options());
  await busyInTopic(on, { anchor: "own-message" });
  await on.stop(one, { class: "restart", by: "cli" });
  assert.equal(notices(on)[0]?.hints?.["telegram_reply_to_message_id"], "own-message");
});

test("S20 a home that waits for an answer itself is told once, also when a stop was asked elsewhere", async (t) => {
  const on = await stage(t);
  const home = { account: "bot", chat: "4711", thread: "42" };
  const one = await on.start(options({ telegram: { home } }));
  await busyInTopic(on);
  await on.stop(one, { class: "restart", by: "cli" });
  assert.equal(notices(on).length, 1);
});

test("S21 a restart asked in a chat with an active session: only that session is told, another home is not", async (t) => {
  const on = await stage(t);
  const one = await on.start(options({ telegram: { home: { account: "bot", chat: "home-chat" } } }));
  await busyInTopic(on);
  await restartFromTopic(on, one);
  assert.deepEqual(
    notices(on).map(({ to }) => to),
    [topic],
  );
});

test("S22 a restart asked in a chat while nothing runs warns nobody", async (t) => {
  const on = await stage(t);
  const home = { account: "bot", chat: "4711", thread: "42" };
  const one = await on.start(options({ telegram: { home } }));
  await restartFromTopic(on, one);
  assert.deepEqual(notices(on), []);
});

test("a restart asked in a chat says so at its end, so that nothing is left for the homes; its asker is answered by the next start", async (t) => {
  const on = await stage(t);
  const one = await on.start(options({ telegram: { home: { account: "bot", chat: "home-chat" } } }));
  await restartFromTopic(on, one);
  assert.equal(one.ending?.intent.by, "chat", "by which whoever writes the file for the homes knows not to");
  await on.start(options());
  const sent = () => on.servers.get("telegram")?.sent ?? [];
  await on.until(() => sent().length > 0);
  assert.deepEqual(
    sent().map(({ to, text }) => [to.chat, text]),
    [["4711", "Restarted. I'm back."]],
  );
});

test("S96 the homes are told of a restart that nobody asked for in a chat, and that it will try to resume", async (t) => {
  const on = await stage(t);
  const one = await on.start(options({ telegram: { home: { account: "bot", chat: "home-chat" } } }));
  await busyInTopic(on);
  await on.stop(one, { class: "restart", by: "cli" });
  assert.deepEqual(
    notices(on).map(({ to }) => to.chat),
    ["4711", "home-chat"],
  );
  for (const { text } of notices(on)) {
    assert.match(text, /restarting/);
    assert.match(text, /try to resume/);
  }
});

test("a platform that wants no notices gets none, and no notice is ever stored", async (t) => {
  const on = await stage(t);
  const settings = { chat: { restartNotices: false } };
  const one = await on.start({ platforms: { chat: {}, telegram: {} }, settings });
  await on.say("stuck", { from: at("a") });
  await on.say("stuck too", { from: topic });
  await on.until(() => on.calls.includes("step stuck too"));
  await on.stop(one);
  assert.deepEqual(
    notices(on).map(({ to, text }) => [to.platform, text.split(".")[0]]),
    [["telegram", "Gateway shutting down"]],
  );
  assert.deepEqual(await on.store.items({ limit: 10 }), []);
});

test("what a platform wants back comes back with every answer, and an answer in a topic finds its way there", async (t) => {
  const on = await stage(t);
  await on.start(options());
  await on.say("hello", { from: topic, anchor: "m1", hints: { business: "b1" } });
  await on.say("/status", { from: topic, anchor: "m2" });
  const sent = () => on.servers.get("telegram")?.sent ?? [];
  await on.until(() => sent().length === 2);
  assert.deepEqual(
    sent().map(({ hints }) => [hints?.["telegram_reply_to_message_id"], hints?.["business"]]),
    [
      ["m1", "b1"],
      ["m2", undefined],
    ],
  );
});
