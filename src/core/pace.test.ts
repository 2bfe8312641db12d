// Each limit of an account and of a chat, for what must arrive and for previews; and that any mixture stays inside them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { everySeed } from "../testing/dice.ts";
import { at } from "../testing/samples.ts";
import { table } from "../testing/table.ts";
import {
  type PaceRule,
  type Sent,
  decidePace,
  isForgotten,
  letGo,
  letThrough,
  notedSent,
  nothingSent,
  rested,
} from "./pace.ts";

const rule: PaceRule = { perSecond: 4, chatEveryMs: 1_000, perGroupMinute: 6 };
const free: PaceRule = { perSecond: 1_000, chatEveryMs: 0 };
const now = at(100_000);
const ago = (...list: readonly number[]): Sent => ({ ...nothingSent, sent: list.map((ms) => at(100_000 - ms)) });
const rests = (ms: number): Sent => rested(nothingSent, now, ms);

const go = { type: "now" } as const;
const drop = { type: "drop" } as const;
const wait = (ms: number, all: boolean) => ({ type: "wait", until: at(100_000 + ms), all }) as const;
type Row = {
  readonly name: string;
  readonly rule?: PaceRule | null;
  readonly account?: Sent;
  readonly chat?: Sent;
  readonly isGroup?: true;
  readonly final: ReturnType<typeof decidePace>;
  readonly preview: ReturnType<typeof decidePace>;
};

const rows: readonly Row[] = [
  { name: "nothing was sent yet", final: go, preview: go },
  { name: "nobody counts", rule: null, account: ago(1, 0, 0, 0, 0), chat: ago(0), final: go, preview: go },
  {
    name: "nobody counts, but the account must rest",
    rule: null,
    account: rests(70),
    final: wait(70, true),
    preview: drop,
  },
  { name: "nobody counts, but the chat must rest", rule: null, chat: rests(70), final: wait(70, false), preview: drop },
  { name: "the rest is over", account: rests(0), chat: rests(0), final: go, preview: go },
  { name: "half of the second is left to what must arrive", account: ago(900, 800), final: go, preview: drop },
  { name: "less than half is used", account: ago(900), final: go, preview: go },
  { name: "the second is full", account: ago(900, 800, 700, 600), final: wait(100, true), preview: drop },
  { name: "the oldest has just left the second", account: ago(1_000, 800, 700, 600), final: go, preview: drop },
  { name: "the chat was sent to a moment ago", chat: ago(300), final: wait(700, false), preview: drop },
  { name: "the chat was sent to a second ago", chat: ago(1_000), final: go, preview: go },
  { name: "the minute counts in groups only", chat: ago(9e3, 8e3, 7e3, 6e3, 5e3, 4e3), final: go, preview: go },
  {
    name: "the minute of a group is full",
    chat: ago(9e3, 8e3, 7e3, 6e3, 5e3, 4e3),
    isGroup: true,
    final: wait(51_000, false),
    preview: drop,
  },
  {
    name: "half of a group's minute is left as well",
    chat: ago(9e3, 8e3, 7e3),
    isGroup: true,
    final: go,
    preview: drop,
  },
  { name: "the longest wait counts", account: rests(50), chat: rests(80), final: wait(80, true), preview: drop },
  {
    name: "less than one a second",
    rule: { ...free, perSecond: 0.5 },
    account: ago(500),
    final: wait(1_500, true),
    preview: drop,
  },
  {
    name: "one a second is for previews too",
    rule: { ...free, perSecond: 1 },
    account: ago(1_000),
    final: go,
    preview: go,
  },
];

table("pace", rows, ({ account = nothingSent, chat = nothingSent, isGroup = false, final, preview, ...of }) => {
  const its = of.rule === undefined ? rule : of.rule;
  assert.deepEqual(decidePace(its, account, chat, { kind: "final", isGroup, at: now }), final);
  assert.deepEqual(decidePace(its, account, chat, { kind: "preview", isGroup, at: now }), preview);
});

test("what is let through counts as long as it has not gone, and from when it went", () => {
  const held = letThrough(letThrough(letThrough(letThrough(nothingSent))));
  const ask = (account: Sent, chat: Sent, kind: "final" | "preview" = "final") =>
    decidePace(rule, account, chat, { kind, isGroup: false, at: now });
  assert.deepEqual(ask(held, nothingSent), { type: "wait", until: Number.POSITIVE_INFINITY, all: true });
  assert.deepEqual(ask(nothingSent, letThrough(nothingSent)), {
    type: "wait",
    until: Number.POSITIVE_INFINITY,
    all: false,
  });
  assert.deepEqual(ask(letThrough(letThrough(nothingSent)), nothingSent, "preview"), drop);
  assert.deepEqual(ask(letGo(rule, held, null), nothingSent), go, "one never went");
  const gone = letGo(rule, held, at(99_400));
  assert.deepEqual([gone.held, gone.sent], [3, [at(99_400)]]);
  assert.deepEqual(ask(gone, nothingSent), wait(400, true));
});

test("a rest is never made shorter", () => {
  assert.equal(rested(rests(90), now, 10).restsUntil, at(100_090));
});

test("no more is kept than the rules ask for, and what is old is forgotten", () => {
  let sent = nothingSent;
  for (let ms = 0; ms < 100; ms++) sent = notedSent(rule, sent, at(ms));
  assert.equal(sent.sent.length, 6);
  assert.equal(notedSent(null, nothingSent, now), nothingSent);
  assert.ok(!isForgotten(rule, sent, at(60_000)));
  assert.ok(isForgotten(rule, sent, at(60_099)));
  assert.ok(!isForgotten(rule, rests(5), at(100_004)));
  assert.ok(!isForgotten(rule, letThrough(nothingSent), now));
});

test("whatever is asked for in whatever order, no window ever holds more than it may", () => {
  everySeed(30, (roll) => {
    let account = nothingSent;
    const chats = new Map<number, Sent>();
    const left: { readonly at: number; readonly chat: number }[] = [];
    for (let ms = 0; ms < 90_000; ms += roll.throw(200)) {
      const chat = roll.throw(3);
      const isGroup = chat === 0;
      const its = chats.get(chat) ?? nothingSent;
      const kind = roll.throw(3) === 0 ? "final" : "preview";
      if (decidePace(rule, account, its, { kind, isGroup, at: at(ms) }).type !== "now") continue;
      account = notedSent(rule, account, at(ms));
      chats.set(chat, notedSent(rule, its, at(ms)));
      left.push({ at: ms, chat });
    }
    const most = (list: readonly number[], windowMs: number) =>
      Math.max(...list.map((from) => list.filter((one) => one >= from && one < from + windowMs).length));
    assert.ok(
      most(
        left.map((one) => one.at),
        1_000,
      ) <= rule.perSecond,
    );
    for (const chat of [0, 1, 2]) {
      const mine = left.filter((one) => one.chat === chat).map((one) => one.at);
      assert.ok(most(mine, rule.chatEveryMs) <= 1);
      if (chat === 0) assert.ok(most(mine, 60_000) <= (rule.perGroupMinute as number));
      else assert.ok(mine.length > 20, "others go on");
    }
  });
});
