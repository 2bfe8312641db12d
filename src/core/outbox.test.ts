// Every pair of an item's state and an event, with each answer a platform can give; the retry schedule; the policy in doubt.

import assert from "node:assert/strict";
import { test } from "node:test";
import { everySeed } from "../testing/dice.ts";
import { anItem, at, bootId } from "../testing/samples.ts";
import { table } from "../testing/table.ts";
import { Bug, later } from "./ids.ts";
import { limits } from "./limits.ts";
import {
  type InDoubtPolicy,
  type ItemEvent,
  type ItemState,
  type OutboxItem,
  type ProbeResult,
  type SendResult,
  advanceItem,
  afterSend,
  asNewItem,
  decideInDoubt,
  pauseOf,
  retryPauseMs,
} from "./outbox.ts";

const states = {
  pending: { state: "pending", dueAt: at(1), attempts: 3, why: "busy" },
  sending: { state: "sending", boot: bootId("b1"), attempts: 3 },
  "in-doubt": { state: "in-doubt", since: at(1), attempts: 3, why: "cut off" },
  delivered: { state: "delivered", remoteId: "r1", deliveredAt: at(1) },
  dead: { state: "dead", why: "refused", deadAt: at(1) },
} as const satisfies Record<ItemState["state"], ItemState>;

const answered = { type: "answered", at: at(10), chance: 0 } as const;
const events = {
  taken: { type: "taken", boot: bootId("b2") },
  "answered accepted": { ...answered, result: { type: "accepted", remoteId: "r2" } },
  "answered retry": { ...answered, result: { type: "retry", afterMs: 0, why: "slow down" } },
  "answered refused": { ...answered, result: { type: "refused", why: "no such chat" } },
  "answered unknown": { ...answered, result: { type: "unknown", why: "cut off" } },
  "answered unknown in a break": { ...answered, result: { type: "unknown", why: "cut off" }, probe: "failed" },
  "answered retry in a break": {
    ...answered,
    result: { type: "retry", afterMs: 0, why: "no route", unreachable: true },
    probe: "failed",
  },
  "answered retry while probes succeed": {
    ...answered,
    result: { type: "retry", afterMs: 0, why: "no route", unreachable: true },
    probe: "succeeded",
  },
  confirmed: { type: "confirmed", remoteId: "m1" },
  orphaned: { type: "orphaned", at: at(10) },
  repeated: { type: "repeated", at: at(10) },
  held: { type: "held", why: "part 1 is held", at: at(10) },
  resent: { type: "resent", at: at(10) },
  discarded: { type: "discarded", why: "by hand", at: at(10) },
} as const satisfies Record<string, ItemEvent>;
type EventName = keyof typeof events;

const impossible: Record<EventName, ItemState | null> = {
  taken: null,
  "answered accepted": null,
  "answered retry": null,
  "answered refused": null,
  "answered unknown": null,
  "answered unknown in a break": null,
  "answered retry in a break": null,
  "answered retry while probes succeed": null,
  confirmed: null,
  orphaned: null,
  repeated: null,
  held: null,
  resent: null,
  discarded: null,
};
const discarded: ItemState = { state: "dead", why: "by hand", deadAt: at(10) };

/** null: the pair cannot happen. */
const expected: Record<ItemState["state"], Record<EventName, ItemState | null>> = {
  pending: {
    ...impossible,
    taken: { state: "sending", boot: bootId("b2"), attempts: 4 },
    resent: { state: "pending", dueAt: at(10), attempts: 0, renewedAt: at(10) },
    held: { state: "in-doubt", since: at(10), attempts: 3, why: "part 1 is held" },
    discarded,
  },
  sending: {
    ...impossible,
    "answered accepted": { state: "delivered", remoteId: "r2", deliveredAt: at(10) },
    "answered retry": { state: "pending", dueAt: at(10 + 4_000), attempts: 3, why: "slow down" },
    "answered refused": { state: "dead", why: "no such chat", deadAt: at(10) },
    "answered unknown": { state: "in-doubt", since: at(10), attempts: 3, doubts: 1, why: "cut off" },
    "answered unknown in a break": { state: "in-doubt", since: at(10), attempts: 3, cuts: 1, why: "cut off" },
    "answered retry in a break": { state: "pending", dueAt: at(10), attempts: 3, why: "no route" },
    "answered retry while probes succeed": {
      state: "pending",
      dueAt: at(10 + 4_000),
      attempts: 3,
      misses: 1,
      why: "no route",
    },
    confirmed: { state: "sending", boot: bootId("b1"), attempts: 3, sent: ["m1"] },
    orphaned: { state: "in-doubt", since: at(10), attempts: 3, doubts: 1, why: "the gateway died while sending it" },
  },
  "in-doubt": {
    ...impossible,
    repeated: { state: "pending", dueAt: at(10), attempts: 3 },
    resent: { state: "pending", dueAt: at(10), attempts: 0, renewedAt: at(10) },
    discarded,
  },
  delivered: impossible,
  dead: { ...impossible, resent: { state: "pending", dueAt: at(10), attempts: 0, renewedAt: at(10) }, discarded },
};

const pairs = (Object.keys(states) as ItemState["state"][]).flatMap((state) =>
  (Object.keys(events) as EventName[]).map((event) => {
    const gives = expected[state][event];
    return { name: `${state} + ${event} → ${gives === null ? "Bug" : gives.state}`, state, event, gives };
  }),
);

table("item: state × event", pairs, ({ state, event, gives }) => {
  const item = anItem("i1", { now: states[state], version: 4 });
  if (gives === null) {
    assert.throws(
      () => advanceItem(item, events[event]),
      (error) => error instanceof Bug && error.message.includes("i1") && error.message.includes(state),
    );
    return;
  }
  assert.deepEqual(advanceItem(item, events[event]), { ...item, version: 5, now: gives });
});

test("every one of the 70 pairs is in the table", () => {
  assert.equal(pairs.length, 70);
});

type DoubtCase = {
  readonly name: string;
  readonly age: number;
  readonly keyedSend?: boolean;
  readonly policy?: InDoubtPolicy;
  readonly renewedAt?: number;
  readonly edits?: string;
  readonly doubts?: number;
  readonly cuts?: number;
  readonly misses?: number;
  readonly probe?: ProbeResult;
  readonly result?: SendResult;
  readonly gives?: ItemState["state"];
};

const oldest = limits.giveUpMs;
const spent = limits.harmlessSendsMax;
const unreachable: SendResult = { type: "retry", afterMs: 0, why: "no route", unreachable: true };
const missed = { age: 0, keyedSend: false, result: unreachable, probe: "succeeded" } as const;
table(
  "item: how long a refusing platform is tried",
  [
    { name: "just created", age: 0, gives: "pending" },
    { name: "exactly at the age", age: oldest, gives: "pending" },
    { name: "past the age", age: oldest + 1, gives: "in-doubt" },
  ],
  ({ age, gives }) => {
    const sending = anItem("i1", { now: states.sending });
    const result = { type: "retry", afterMs: 1, why: "still down" } as const;
    const { now } = advanceItem(sending, { type: "answered", at: at(age), chance: 0, result });
    assert.equal(now.state, gives);
    assert.match("why" in now ? (now.why ?? "") : "", /still down/, "the reason is kept");
  },
);

table(
  "item: what follows when nobody knows whether it arrived",
  [
    { name: "under a key, just created", age: 0, gives: "pending" },
    { name: "under a key, exactly at the age", age: oldest, gives: "pending" },
    { name: "under a key, past the age", age: oldest + 1 },
    { name: "under a key, past the age, renewed by hand", age: oldest + 1, renewedAt: 1, gives: "pending" },
    { name: "an edit, past the age", age: oldest + 1, keyedSend: false, edits: "r1" },
    { name: "without a key, cut off by a break", age: 0, keyedSend: false, cuts: 3, probe: "failed", gives: "pending" },
    { name: "without a key, cut off too often", age: 0, keyedSend: false, cuts: limits.cutSendsMax, probe: "failed" },
    { name: "without a key, sent again", age: 0, keyedSend: false, gives: "pending" },
    { name: "without a key, held: its user decides, however old", age: oldest + 1, keyedSend: false, policy: "hold" },
    { name: "without a key, too often in doubt", age: 0, keyedSend: false, doubts: limits.doubtfulSendsMax },
    { name: "under a key, the last harmless repeat", age: 0, doubts: spent - 1, gives: "pending" },
    { name: "under a key, although probes succeed every time", age: 0, doubts: spent, probe: "succeeded" },
    { name: "an edit, although probes succeed", age: 0, keyedSend: false, edits: "r1", doubts: spent },
    { name: "under a key, in a break: breaks are not counted", age: 0, cuts: 500, probe: "failed", gives: "pending" },
    { name: "it never left", age: 0, keyedSend: false, result: unreachable, probe: "succeeded", gives: "pending" },
    { name: "it never left, without a probe", age: 0, result: unreachable, misses: spent, gives: "pending" },
    {
      name: "it never left, in a break",
      age: 0,
      result: unreachable,
      misses: spent,
      probe: "failed",
      gives: "pending",
    },
    { name: "it never left, too often", age: 0, result: unreachable, misses: spent, probe: "succeeded" },
    { name: "it never left, without a key, too often", ...missed, misses: spent },
    { name: "it never left or stayed uncertain, together too often", ...missed, misses: spent - 2, doubts: 2 },
    { name: "it never left, under the policy hold", ...missed, policy: "hold", gives: "pending" },
    { name: "the platform has said no", age: 0, result: { type: "refused", why: "cut off" }, gives: "dead" },
  ] as readonly DoubtCase[],
  ({ age, keyedSend = true, policy = "resend", gives = "in-doubt", renewedAt, edits, ...more }) => {
    const { doubts, cuts, misses, result, probe } = more;
    const tries = {
      ...(doubts === undefined ? {} : { doubts }),
      ...(cuts === undefined ? {} : { cuts }),
      ...(misses === undefined ? {} : { misses }),
      ...(renewedAt === undefined ? {} : { renewedAt: at(renewedAt) }),
    };
    const now = { ...states.sending, ...tries };
    const sending = anItem("i1", { now, version: 4, ...(edits === undefined ? {} : { edits }) });
    const unknown = { type: "unknown", why: "cut off" } as const;
    const event = { ...answered, at: at(age), result: result ?? unknown, ...(probe === undefined ? {} : { probe }) };
    const after = afterSend(sending, event, { keyedSend }, policy);
    assert.equal(after.now.state, gives);
    assert.equal(after.version, 5, "one step");
    if (after.now.state === "pending") assert.equal(after.now.dueAt, later(at(age), probe === "failed" ? 0 : 4_000));
  },
);

test("the platform's own wish is kept when it is longer than our pause, and ours when it is longer", () => {
  const sending = anItem("i1", { now: { state: "sending", boot: bootId("b1"), attempts: 1 } });
  for (const [afterMs, pause] of [
    [90_000, 90_000],
    [10, limits.retryMinMs],
    [0, limits.retryMinMs],
  ] as const) {
    const result = { type: "retry", afterMs, why: "busy" } as const;
    const { now } = advanceItem(sending, { type: "answered", at: at(5), chance: 0, result });
    assert.deepEqual(now, { state: "pending", dueAt: later(at(5), pause), attempts: 1, why: "busy" });
  }
});

table(
  "retry schedule",
  [
    { name: "never tried", attempts: 0, full: 1_000 },
    { name: "1st", attempts: 1, full: 1_000 },
    { name: "2nd", attempts: 2, full: 2_000 },
    { name: "3rd", attempts: 3, full: 4_000 },
    { name: "9th", attempts: 9, full: 256_000 },
    { name: "10th is the longest", attempts: 10, full: 300_000 },
    { name: "11th", attempts: 11, full: 300_000 },
    { name: "5000th does not overflow", attempts: 5_000, full: 300_000 },
  ],
  ({ attempts, full }) => {
    assert.equal(retryPauseMs(attempts, 0), full);
    assert.equal(retryPauseMs(attempts, 1), full * 0.75);
    everySeed(50, (roll) => {
      const pause = retryPauseMs(attempts, roll.throw(1_000_000) / 1_000_000);
      assert.ok(pause <= full && pause >= full * 0.75, `${pause} lies between ${full * 0.75} and ${full}`);
      assert.ok(Number.isInteger(pause));
    });
  },
);

const often = limits.doubtfulSendsMax;
table(
  "in doubt",
  [
    { name: "a key makes a repeat harmless", keyedSend: true, policy: "hold", doubts: 1, gives: "resend" },
    { name: "a key and resend", keyedSend: true, policy: "resend", doubts: 1, gives: "resend" },
    { name: "a key, the last repeat", keyedSend: true, policy: "hold", doubts: spent, gives: "resend" },
    { name: "a key, far too often", keyedSend: true, policy: "resend", doubts: spent + 1, gives: "hold" },
    { name: "no key: the policy says hold", keyedSend: false, policy: "hold", doubts: 1, gives: "hold" },
    { name: "no key: the policy says resend", keyedSend: false, policy: "resend", doubts: 1, gives: "resend" },
    { name: "no key, the last resend", keyedSend: false, policy: "resend", doubts: often, gives: "resend" },
    { name: "no key, in doubt too often", keyedSend: false, policy: "resend", doubts: often + 1, gives: "hold" },
    {
      name: "no key, but an edit",
      keyedSend: false,
      policy: "hold",
      doubts: spent,
      gives: "resend",
      more: { edits: "m" },
    },
    {
      name: "no key, and an edit with files beside it",
      keyedSend: false,
      policy: "hold",
      doubts: 1,
      gives: "hold",
      more: { edits: "m", files: [{ name: "a", mime: "b", blob: "c", bytes: 1 }] },
    },
  ] as const,
  ({ keyedSend, policy, doubts, gives, ...rest }) => {
    const more = "more" in rest ? rest.more : {};
    assert.equal(decideInDoubt(anItem("i1", more), { keyedSend }, policy, { doubts }), gives);
  },
);

test("an item sent in the commit that makes it is still a new row", () => {
  const taken = advanceItem(anItem(), events.taken);
  assert.equal(taken.version, 2);
  assert.deepEqual(asNewItem(taken), { ...taken, version: 1 });
});

test("a rate limit is no doubt, and a doubt is remembered through one", () => {
  const sending = (tries: object) =>
    anItem("i1", { now: { state: "sending", boot: bootId("b1"), attempts: 3, ...tries } });
  const limited = { type: "retry", afterMs: 0, why: "busy" } as const;
  const answered = (item: OutboxItem, result: SendResult) =>
    advanceItem(item, { type: "answered", result, at: at(5), chance: 0 }).now;
  assert.equal("doubts" in answered(sending({}), limited), false);
  const kept = answered(sending({ doubts: 2 }), limited);
  assert.equal(kept.state === "pending" && kept.doubts, 2);
  const again = answered(sending({ doubts: 2 }), { type: "unknown", why: "?" });
  assert.equal(again.state === "in-doubt" && again.doubts, 3);
});

test("a dead letter tried again is as old as its second chance", () => {
  const longAfter = later(at(0), limits.giveUpMs + 1);
  const now = { state: "sending", boot: bootId("b1"), attempts: 1, renewedAt: longAfter } as const;
  const item = anItem("i1", { now });
  const result = { type: "retry", afterMs: 0, why: "busy" } as const;
  const next = advanceItem(item, { type: "answered", result, at: later(longAfter, 10), chance: 0 });
  assert.equal(next.now.state, "pending");
});

test("an item waits for its next attempt, and a clock that was set back does not make it wait for hours", () => {
  const now = at(10_000);
  const cases = [
    { name: "never tried, due now", attempts: 0, due: 0, pause: 0 },
    { name: "never tried, stored before the clock was set back", attempts: 0, due: 3_600_000, pause: 0 },
    { name: "tried, due", attempts: 2, due: -5, pause: 0 },
    { name: "tried, due later", attempts: 1, due: 4_000, pause: 4_000 },
    { name: "tried, due a day from now", attempts: 1, due: 86_400_000, pause: 3_600_000 },
  ];
  for (const { name, attempts, due, pause } of cases)
    assert.equal(pauseOf({ state: "pending", dueAt: later(now, due), attempts }, now), pause, name);
});
