// Each limit of an account and of a chat, for what must arrive and for previews; and that any mixture stays inside them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { everySeed } from "../testing/dice.ts";
import { at } from "../testing/samples.ts";
import { table } from "../testing/table.ts";
import {
  type PaceRule,
  type Sent,
  answeredAt,
  decidePace,
  isForgotten,
  leftNow,
  letThrough,
  notYet,
  nothingSent,
  rested,
} from "./pace.ts";

const rule: PaceRule = { perSecond: 4, chatEveryMs: 1_000, perGroupMinute: 6 };
const free: PaceRule = { perSecond: 1_000, chatEveryMs: 0 };
const now = at(100_000);
const ago = (...list: readonly number[]): Sent => agoBy(rule, ...list);
const agoBy = (by: PaceRule, ...list: readonly number[]): Sent =>
  list.reduce(
    (sent, ms) => ({ ...answeredAt(by, sent, notYet, at(100_000 - ms)), sent: [...sent.sent, at(100_000 - ms)] }),
    nothingSent,
  );
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

test("a burst goes to a chat at once, previews leave its last place to the answer, and then the rate counts", () => {
  const burst: PaceRule = { ...rule, perSecond: 30, chatBurst: 3 };
  const ask = (kind: "final" | "preview", ...list: readonly number[]) =>
    decidePace(burst, nothingSent, agoBy(burst, ...list), { kind, isGroup: false, at: now });
  assert.deepEqual(ask("preview", 10), go, "the second of three");
  assert.deepEqual(ask("preview", 20, 10), drop, "the third is the answer's");
  assert.deepEqual(ask("final", 20, 10), go);
  assert.deepEqual(ask("final", 30, 20, 10), wait(970, false), "the next one with the next pause");
  assert.deepEqual(ask("final", 1_000, 990, 980), go);
  assert.deepEqual(ask("preview", 1_000, 990, 980), drop);
  assert.deepEqual(ask("preview", 2_000, 1_990, 1_980), go);
});

test("edits have a budget of their own, and half of it is left to the ends of answers", () => {
  const few: PaceRule = { ...free, editsPerMinute: 4 };
  const ask = (kind: "final" | "preview", isEdit: boolean, edits: Sent) =>
    decidePace(few, nothingSent, nothingSent, { kind, isGroup: false, isEdit, at: now }, edits);
  assert.deepEqual(ask("preview", true, ago(50_000)), go);
  assert.deepEqual(ask("preview", true, ago(50_000, 40_000)), drop);
  assert.deepEqual(ask("final", true, ago(50_000, 40_000)), go);
  assert.deepEqual(ask("final", true, ago(50_000, 40_000, 3, 2)), wait(10_000, false));
  assert.deepEqual(ask("final", false, ago(50_000, 40_000, 3, 2)), go, "a message of its own is none");
  assert.deepEqual(ask("final", true, ago(60_000, 40_000, 3, 2)), go);
});

test("what is let through counts as of now until it is answered, and from its answer on", () => {
  const ask = (account: Sent, chat: Sent, kind: "final" | "preview" = "final") =>
    decidePace(rule, account, chat, { kind, isGroup: false, at: now });
  const held = (...list: readonly number[]): Sent => list.reduce(letThrough, nothingSent);
  assert.deepEqual(ask(held(notYet, notYet, notYet, notYet), nothingSent), wait(1_000, true));
  assert.deepEqual(ask(held(notYet, notYet, notYet), nothingSent), go);
  assert.deepEqual(ask(held(notYet, notYet), nothingSent, "preview"), drop);
  assert.deepEqual(ask(nothingSent, held(notYet)), wait(1_000, false));
  assert.deepEqual(ask(nothingSent, held(at(97_000))), wait(1_000, false), "it left long ago, and nobody knows");
  assert.deepEqual(ask(nothingSent, held(at(94_500))), wait(500, false), "it left so long ago that somebody would");
  assert.deepEqual(leftNow(held(notYet, notYet), notYet, at(7)).held, [notYet, at(7)]);
  const answered = answeredAt(rule, held(at(7), at(7)), at(7), at(9));
  assert.deepEqual([answered.held, answered.sent], [[at(7)], [at(9)]]);
  assert.deepEqual(answeredAt(rule, held(notYet), notYet, null), nothingSent, "it never left");
});

test("a rest is never made shorter", () => {
  assert.equal(rested(rests(90), now, 10).restsUntil, at(100_090));
});

test("no more is kept than the rules ask for, and what is old is forgotten", () => {
  let sent = nothingSent;
  for (let ms = 0; ms < 100; ms++) sent = answeredAt(rule, sent, notYet, at(ms));
  assert.equal(sent.sent.length, 6);
  assert.ok(!isForgotten(sent, at(60_000)));
  assert.ok(isForgotten(sent, at(100_099)));
  assert.ok(!isForgotten(rests(5), at(100_004)));
  assert.ok(!isForgotten(letThrough(nothingSent, notYet), now));
});

test("whatever is asked for, and whenever the platform counts it, no window holds more than it may", () => {
  everySeed(30, (roll) => {
    let account = nothingSent;
    const chats = new Map<number, Sent>();
    const counted: { readonly at: number; readonly chat: number }[] = [];
    const open: { readonly left: number; readonly until: number; readonly chat: number }[] = [];
    const both = (chat: number, by: (before: Sent) => Sent): void => {
      account = by(account);
      chats.set(chat, by(chats.get(chat) ?? nothingSent));
    };
    for (let ms = 0; ms < 90_000; ms += 1 + roll.throw(200)) {
      for (const one of open.filter(({ until }) => until <= ms)) {
        open.splice(open.indexOf(one), 1);
        both(one.chat, (before) => answeredAt(rule, before, one.left, at(ms)));
      }
      const chat = roll.throw(3);
      const request = { kind: roll.throw(3) === 0 ? "final" : "preview", isGroup: chat === 0, at: at(ms) } as const;
      if (decidePace(rule, account, chats.get(chat) ?? nothingSent, request).type !== "now") continue;
      both(chat, (before) => letThrough(before, at(ms)));
      const until = ms + roll.throw(2_000);
      open.push({ left: at(ms), until, chat });
      counted.push({ at: ms + roll.throw(until - ms + 1), chat });
    }
    const most = (list: readonly number[], windowMs: number) =>
      Math.max(...list.map((from) => list.filter((one) => one >= from && one < from + windowMs).length));
    const all = counted.map((one) => one.at);
    assert.ok(most(all, 1_000) <= rule.perSecond, `${most(all, 1_000)} in a second`);
    for (const chat of [0, 1, 2]) {
      const mine = counted.filter((one) => one.chat === chat).map((one) => one.at);
      assert.ok(most(mine, rule.chatEveryMs) <= 1);
      if (chat === 0) assert.ok(most(mine, 60_000) <= (rule.perGroupMinute ?? 0));
      else assert.ok(mine.length > 15, `others go on: ${mine.length}`);
    }
  });
});
