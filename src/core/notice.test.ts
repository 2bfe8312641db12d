// Who is told of a stop, in which words, and what a platform gets back with them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { aTurn, anAddress, anInbound, at } from "../testing/samples.ts";
import { table } from "../testing/table.ts";
import type { StopIntent } from "./lifecycle.ts";
import { type Address, type Hints, formatAddress } from "./message.ts";
import {
  type Busy,
  endingWords,
  hintsFor,
  homesOf,
  noticesBefore,
  notRestarted,
  onlineNotice,
  restarted,
} from "./notice.ts";
import type { StopBy, StopClass } from "./recovery.ts";

const place = (chat: string, thread?: string): Address => anAddress(chat, thread === undefined ? {} : { thread });
const busyAt = (address: Address): Busy => ({ at: address, input: anInbound("work", { from: address }) });
const quiet = anAddress("q", { platform: "quiet" });

type Case = {
  readonly name: string;
  readonly of: StopClass;
  readonly by: StopBy;
  readonly busy?: readonly Address[];
  readonly homes?: readonly Address[];
  readonly gives: readonly Address[];
};

const [a, b, home, aTopic] = [place("a"), place("b"), place("home"), place("a", "7")];
table(
  "who is told",
  [
    { name: "nobody, where nothing runs and there is no home", of: "planned", by: "cli", gives: [] },
    { name: "whoever waits for an answer", of: "planned", by: "signal", busy: [a, b], gives: [a, b] },
    { name: "then the homes", of: "restart", by: "cli", busy: [a], homes: [home], gives: [a, home] },
    { name: "the homes also when nothing runs", of: "unexpected", by: "signal", homes: [home], gives: [home] },
    { name: "a home that waits for an answer only once", of: "planned", by: "cli", busy: [a], homes: [a], gives: [a] },
    { name: "each place once", of: "planned", by: "cli", busy: [a, a, b], homes: [b, home, home], gives: [a, b, home] },
    { name: "a topic is a place of its own", of: "planned", by: "cli", busy: [a, aTopic], gives: [a, aTopic] },
    {
      name: "two accounts in one chat are one place",
      of: "planned",
      by: "cli",
      busy: [a, { ...a, account: "other" }],
      gives: [a],
    },
    { name: "asked in a chat: only whoever waits", of: "restart", by: "chat", busy: [a], homes: [home], gives: [a] },
    { name: "asked in a chat, nothing runs: nobody", of: "restart", by: "chat", homes: [a], gives: [] },
    { name: "asked by a tool: the same", of: "restart", by: "tool", busy: [a], homes: [home], gives: [a] },
    { name: "nobody where it is not wanted", of: "restart", by: "cli", busy: [quiet, a], homes: [quiet], gives: [a] },
    { name: "taken over on purpose: whoever waits", of: "take-over", by: "marker", busy: [a], gives: [a] },
    { name: "taken over behind our back: nobody", of: "take-over", by: "fault", busy: [a], homes: [home], gives: [] },
    { name: "a mistake of ours: whoever waits", of: "fault", by: "fault", busy: [a], homes: [home], gives: [a, home] },
  ] satisfies Case[],
  ({ of, by, busy = [], homes = [], gives }: Case) => {
    const stop: Pick<StopIntent, "class" | "by"> = { class: of, by };
    const wanted = (platform: string) => platform !== "quiet";
    const told = noticesBefore({ stop, busy: busy.map(busyAt), asked: [], homes, wanted });
    assert.deepEqual(
      told.map(({ to }) => formatAddress(to)),
      gives.map(formatAddress),
    );
    for (const { text } of told) assert.ok(text.startsWith(`${endingWords(of)}. `), text);
  },
);

table(
  "the words by the class",
  [
    { name: "restart", of: "restart", words: "Gateway restarting" },
    { name: "take-over", of: "take-over", words: "Gateway restarting" },
    { name: "planned", of: "planned", words: "Gateway shutting down" },
    { name: "unexpected", of: "unexpected", words: "Gateway shutting down" },
    { name: "fault", of: "fault", words: "Gateway shutting down" },
  ] as const,
  ({ of, words }) => assert.equal(endingWords(of), words),
);

test("S96 every restart notice says that it is restarting and will try to resume", () => {
  const stop = { class: "restart", by: "cli" } as const;
  const told = noticesBefore({ stop, busy: [busyAt(a)], asked: [], homes: [home], wanted: () => true });
  assert.equal(told.length, 2);
  for (const { text } of told) {
    assert.match(text, /restarting/);
    assert.match(text, /try to resume/);
  }
});

const direct = { platform: "telegram", account: "bot", chat: "4711", thread: "42" };
const all = {
  thread_id: "42",
  telegram_dm_topic_reply_fallback: true,
  direct_messages_topic_id: "42",
  telegram_reply_to_message_id: "m1",
};
type HintCase = { name: string; to: Address; own?: Hints; anchor?: string; gives: Hints };
table(
  "what a platform gets back",
  [
    { name: "elsewhere nothing of ours", to: anAddress("a", { thread: "42" }), anchor: "m1", gives: {} },
    { name: "its own hints always", to: anAddress("a"), own: { x: "y" }, gives: { x: "y" } },
    {
      name: "Telegram without a topic",
      to: { platform: "telegram", account: "b", chat: "1" },
      anchor: "m1",
      gives: {},
    },
    { name: "a topic of a direct chat", to: direct, anchor: "m1", gives: all },
    {
      name: "a group's topic has its number",
      to: { ...direct, chat: "-100" },
      anchor: "m1",
      gives: { thread_id: "42" },
    },
    {
      name: "the general topic has no number of its own",
      to: { ...direct, thread: "1" },
      gives: { thread_id: "1", telegram_dm_topic_reply_fallback: true },
    },
    {
      name: "what the platform said itself wins",
      to: direct,
      own: { telegram_reply_to_message_id: "own" },
      anchor: "m1",
      gives: { ...all, telegram_reply_to_message_id: "own" },
    },
  ] satisfies HintCase[],
  ({ to, own, anchor, gives }: HintCase) => assert.deepEqual(hintsFor(to, own, anchor), gives),
);

test("S19 a notice is anchored at the message that asked from the same place, else at the one in work", () => {
  const asked = [anInbound("/restart", { from: direct, anchor: "restart-message" })];
  const anchorOf = (input: Busy["input"], address: Address): unknown => {
    const stop = { class: "restart", by: "chat" } as const;
    const busy = [{ at: address, input }];
    return noticesBefore({ stop, busy, asked, homes: [], wanted: () => true })[0]?.hints[
      "telegram_reply_to_message_id"
    ];
  };
  assert.equal(anchorOf(anInbound("work", { from: direct }), direct), "restart-message");
  assert.equal(anchorOf(anInbound("work", { from: direct, anchor: "own" }), direct), "restart-message");
  const replied = { from: direct, hints: { telegram_reply_to_message_id: "own" } };
  assert.equal(anchorOf(anInbound("work", replied), direct), "restart-message");
  const elsewhere = { ...direct, thread: "43" };
  assert.equal(anchorOf(anInbound("work", { from: elsewhere, anchor: "own" }), elsewhere), "own");
  assert.equal(anchorOf(anInbound("work", { from: elsewhere }), elsewhere), undefined);
});

test("homes are those of platforms that want notices", () => {
  const home1 = { account: "bot", chat: "1", thread: "9" };
  assert.deepEqual(
    homesOf({
      telegram: { home: home1, restartNotices: true },
      slack: { home: { account: "bot", chat: "2" }, restartNotices: false },
      web: { home: null, restartNotices: true },
    }),
    [{ platform: "telegram", ...home1 }],
  );
});

test("a home that was chosen in a chat wins over the configured one, where notices are wanted", () => {
  const configured = { home: { account: "bot", chat: "1", thread: "9" }, restartNotices: true };
  const chosen = { account: "bot", chat: "2" };
  const off = { home: null, restartNotices: false };
  assert.deepEqual(
    homesOf(
      { telegram: configured, slack: { ...off, restartNotices: true }, web: off },
      { telegram: chosen, slack: chosen, web: chosen },
    ),
    [
      { platform: "telegram", ...chosen },
      { platform: "slack", ...chosen },
    ],
  );
  assert.deepEqual(homesOf({ telegram: configured }, { slack: chosen }), [
    { platform: "telegram", ...configured.home },
  ]);
});

test("the same restart is announced under the same key, another one under another", () => {
  assert.equal(onlineNotice("r1").key, onlineNotice("r1").key);
  assert.notEqual(onlineNotice("r1").key, onlineNotice("r2").key);
});

test("a restart asked for ends its turn with an answer, whatever came of it", () => {
  const turn = aTurn("t1", { now: { state: "restarting", askedAt: at(1) }, version: 1 });
  const done = restarted(turn, at(9));
  assert.deepEqual(done.turn.now, { state: "done", outcome: "replied", doneAt: at(9) });
  assert.match(done.text, /^Restarted\. I'm back\.$/);
  const refused = notRestarted(turn, "The configuration is wrong.", at(9));
  assert.deepEqual(refused.turn.now, {
    state: "done",
    outcome: "failed",
    why: "The configuration is wrong.",
    doneAt: at(9),
  });
  assert.match(refused.text, /^Not restarted; everything continues as before\. The configuration is wrong\.$/);
});
