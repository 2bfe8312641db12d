// What becomes of work that a dead boot held: who is accused, who is convicted, and what an interrupted send becomes.

import assert from "node:assert/strict";
import { test } from "node:test";
import { aBoot, aTurn, anItem, at, bootId, turnId } from "../testing/samples.ts";
import { table } from "../testing/table.ts";
import { Bug } from "./ids.ts";
import type { InDoubtPolicy, ItemState } from "./outbox.ts";
import {
  type Boot,
  type HeldTurn,
  type TurnVerdict,
  countInterruption,
  decideItem,
  decideSuspension,
  decideTurns,
  wasMarked,
} from "./recovery.ts";
import type { ResumeReason } from "./session.ts";

const crashed = aBoot("b1");
const elsewhere = aBoot("b1", { machine: "machine before the power cut" });
const stopped = aBoot("b1", { stop: { class: "restart", by: "cli", reason: "asked", at: at(50), clean: true } });
const stoppedLate = aBoot("b1", {
  stop: { class: "planned", by: "signal", reason: "asked", at: at(50), clean: false },
});
const broken = aBoot("b1", { stop: { class: "fault", by: "fault", reason: "a bug", at: at(50), clean: true } });

type MarkCase = {
  readonly name: string;
  readonly stop: Boot["stop"];
  readonly mark: readonly [ResumeReason, number | null] | null;
  readonly gives: boolean;
};

/** `attempt`: as often as it was started; by default all strikes are its own. */
function held(
  name: string,
  boot: Boot,
  strikes: number,
  progress: "progressed" | "stuck",
  more: { readonly interruptions?: number; readonly attempt?: number } = {},
): HeldTurn {
  const { interruptions = strikes, attempt = strikes + 1 } = more;
  const now = { state: "running", boot: boot.id, startedAt: at(1) } as const;
  const turn = aTurn(name, { now, version: 3, attempt });
  const facts = { progressed: progress === "progressed", follows: false, marked: false, suspend: false };
  return { turn, boot, strikes, interruptions, ...facts };
}

table(
  "whether the stop of a boot has counted an interruption already",
  [
    { name: "no stop", stop: null, mark: ["crash", 60], gives: false },
    { name: "no mark", stop: stopped.stop, mark: null, gives: false },
    { name: "marked by an earlier life", stop: stopped.stop, mark: ["restart_timeout", 49], gives: false },
    { name: "marked at the same moment", stop: stopped.stop, mark: ["restart_timeout", 50], gives: true },
    { name: "marked later", stop: stoppedLate.stop, mark: ["shutdown_timeout", 51], gives: true },
    { name: "its kind of mark, its moment lost", stop: stopped.stop, mark: ["restart_timeout", null], gives: true },
    { name: "another kind of mark, its moment lost", stop: stopped.stop, mark: ["crash", null], gives: false },
  ] as readonly MarkCase[],
  ({ stop, mark, gives }) => {
    const moment = mark?.[1] ?? null;
    const resume = mark === null ? null : { reason: mark[0], markedAt: moment === null ? null : at(moment) };
    assert.equal(wasMarked(resume, stop), gives);
  },
);

type CountCase = {
  readonly name: string;
  readonly strikes?: number;
  readonly one: Partial<Parameters<typeof countInterruption>[1]>;
  readonly gives: readonly [strikes: number, interruptions: number];
};

table(
  "what an interruption by a stop adds to one strike (or as many as given) and ten interruptions",
  [
    { name: "without progress: both", one: {}, gives: [2, 11] },
    { name: "S97 with progress: no strike, and the bound all the same", one: { progressed: true }, gives: [1, 11] },
    { name: "by a restart", one: { stop: "restart" }, gives: [2, 11] },
    { name: "by an unannounced signal", one: { stop: "unexpected" }, gives: [2, 11] },
    { name: "by a take-over, with progress", one: { stop: "take-over", progressed: true }, gives: [1, 11] },
    { name: "by an internal error: nothing, it counts as a death", one: { stop: "fault" }, gives: [1, 10] },
    { name: "in a call that continues without the gateway: nothing", one: { follows: true }, gives: [1, 10] },
    { name: "the same, with progress", one: { follows: true, progressed: true }, gives: [1, 10] },
    { name: "S97 the third strike of a turn started three times", strikes: 2, one: {}, gives: [3, 11] },
    { name: "S98 the same, started once: no third strike", strikes: 2, one: { attempt: 1 }, gives: [2, 11] },
    { name: "S98 the same, started twice", strikes: 2, one: { attempt: 2 }, gives: [2, 11] },
    { name: "S98 the second strike needs no second start", strikes: 1, one: { attempt: 1 }, gives: [2, 11] },
    { name: "S98 a count of three is never lowered", strikes: 3, one: { attempt: 1 }, gives: [3, 11] },
  ] satisfies CountCase[],
  ({ strikes: before = 1, one, gives }: CountCase) => {
    const given = { stop: "planned", progressed: false, follows: false, attempt: 3, ...one } as const;
    const { strikes, interruptions } = countInterruption({ strikes: before, interruptions: 10 }, given);
    assert.deepEqual([strikes, interruptions], gives);
  },
);

table(
  "when a conversation starts over",
  [
    { name: "nothing counted", strikes: 0, interruptions: 0, gives: null },
    { name: "S97 just below both bounds", strikes: 2, interruptions: 49, gives: null },
    { name: "S97 three strikes", strikes: 3, interruptions: 3, gives: "strikes" },
    { name: "S97 fifty interruptions, each with progress", strikes: 0, interruptions: 50, gives: "interruptions" },
    { name: "both", strikes: 3, interruptions: 50, gives: "strikes" },
  ],
  ({ strikes, interruptions, gives }) => assert.equal(decideSuspension({ strikes, interruptions }), gives),
);

/** A verdict in one line: name, what it became, cause or outcome, strikes, and why. */
function show(verdict: TurnVerdict): string {
  const { now, id } = verdict.turn;
  const how = now.state === "parked" ? now.cause : now.state === "done" ? now.outcome : now.state;
  const why = verdict.type === "parked" ? verdict.reason : verdict.type === "suspended" ? verdict.cause : "";
  return `${id} ${verdict.type} ${how} ${verdict.strikes} ${why}`.trim();
}

type VerdictCase = {
  readonly name: string;
  readonly held: readonly HeldTurn[];
  readonly gives: readonly string[];
  readonly hold?: string;
};

table(
  "turns of a dead boot",
  [
    { name: "nothing held", held: [], gives: [] },

    {
      name: "died inside its own restart, before it was marked",
      held: [held("a", stopped, 0, "stuck")],
      gives: ["a parked shutdown 1 restart_timeout"],
    },
    {
      name: "died inside its own stop, before it was marked",
      held: [held("a", stoppedLate, 1, "stuck")],
      gives: ["a parked shutdown 2 shutdown_timeout"],
    },
    {
      name: "died inside its own stop, in a call that goes on without us",
      held: [{ ...held("a", stoppedLate, 2, "stuck"), follows: true }],
      gives: ["a parked shutdown 2 shutdown_timeout"],
    },
    {
      name: "died by itself in a call that goes on without us, too often",
      held: [{ ...held("a", crashed, 2, "stuck"), follows: true }],
      gives: ["a convicted failed 3"],
    },
    {
      name: "died inside its own stop, marked and counted",
      held: [{ ...held("a", stoppedLate, 2, "stuck"), marked: true }],
      gives: ["a parked shutdown 2 shutdown_timeout"],
    },
    {
      name: "died inside its own stop, with progress",
      held: [held("a", stopped, 1, "progressed")],
      gives: ["a parked shutdown 1 restart_timeout"],
    },
    {
      name: "S97 the third interruption by a stop: its session is suspended",
      held: [held("a", stopped, 2, "stuck")],
      gives: ["a suspended running 3 strikes"],
    },
    {
      name: "S97 three strikes found, whatever it did since",
      held: [held("a", crashed, 3, "progressed")],
      gives: ["a suspended running 3 strikes"],
    },
    {
      name: "S97 the fiftieth interruption by a stop, with progress: its session is suspended",
      held: [held("a", stopped, 0, "progressed", { interruptions: 49 })],
      gives: ["a suspended running 0 interruptions"],
    },
    {
      name: "S97 the fiftieth, marked and counted by the boot itself before it died",
      held: [{ ...held("a", stopped, 0, "progressed", { interruptions: 49 }), marked: true }],
      gives: ["a parked shutdown 0 restart_timeout"],
    },
    {
      name: "S97 deaths with progress are not bounded",
      held: [held("a", crashed, 0, "progressed", { interruptions: 49, attempt: 60 })],
      gives: ["a parked crash 0 crash"],
    },
    {
      name: "S98 strikes that a failed turn left do not convict the next one",
      held: [held("a", crashed, 2, "stuck", { attempt: 1 })],
      gives: ["a parked crash 2 crash"],
    },
    {
      name: "S98 nor do they suspend its session at its first interruption by a stop",
      held: [held("a", stopped, 2, "stuck", { attempt: 1 })],
      gives: ["a parked shutdown 2 restart_timeout"],
    },
    {
      name: "S98 nor at its second, by a planned stop",
      held: [held("a", stoppedLate, 2, "stuck", { attempt: 2 })],
      gives: ["a parked shutdown 2 shutdown_timeout"],
    },
    {
      name: "S98 its third interruption suspends its session",
      held: [held("a", stopped, 2, "stuck", { attempt: 3 })],
      gives: ["a suspended running 3 strikes"],
    },
    {
      name: "S98 the fiftieth interruption suspends the session of a turn started once",
      held: [held("a", stopped, 2, "stuck", { attempt: 1, interruptions: 49 })],
      gives: ["a suspended running 2 interruptions"],
    },
    {
      name: "S97 three strikes found, as in an imported file, whatever was started since",
      held: [held("a", stopped, 3, "stuck", { attempt: 1 })],
      gives: ["a suspended running 3 strikes"],
    },
    {
      name: "S98 nor do they hold others while its guilt cannot be settled",
      held: [held("a", crashed, 2, "stuck", { attempt: 2 }), held("b", crashed, 0, "stuck")],
      gives: ["a parked crash 2 crash", "b parked crash 1 crash"],
    },
    {
      name: "stopped by a mistake of ours: a death, and no interruption by a stop",
      held: [held("a", broken, 0, "stuck"), held("b", broken, 2, "progressed")],
      gives: ["a parked shutdown 1 shutdown_timeout", "b parked shutdown 2 shutdown_timeout"],
    },
    {
      name: "S84 active at a crash whose owner wants it suspended",
      held: [{ ...held("a", crashed, 0, "progressed"), suspend: true }],
      gives: ["a suspended running 0 crash"],
    },
    {
      name: "what is suspended gives others an alibi all the same",
      held: [{ ...held("a", crashed, 0, "stuck"), suspend: true }, held("b", crashed, 2, "stuck")],
      gives: ["a suspended running 0 crash", "b parked crash 2 crash"],
      hold: "b",
    },

    { name: "crash, first", held: [held("a", crashed, 0, "stuck")], gives: ["a parked crash 1 crash"] },
    { name: "crash, second", held: [held("a", crashed, 1, "stuck")], gives: ["a parked crash 2 crash"] },
    { name: "crash, third, alone", held: [held("a", crashed, 2, "stuck")], gives: ["a convicted failed 3"] },
    { name: "crash with progress", held: [held("a", crashed, 0, "progressed")], gives: ["a parked crash 0 crash"] },
    {
      name: "crash with progress after two",
      held: [held("a", crashed, 2, "progressed")],
      gives: ["a parked crash 2 crash"],
    },

    { name: "power cut", held: [held("a", elsewhere, 0, "stuck")], gives: ["a parked crash 0 crash"] },
    { name: "power cut after two", held: [held("a", elsewhere, 2, "stuck")], gives: ["a parked crash 2 crash"] },
    {
      name: "power cut with progress",
      held: [held("a", elsewhere, 2, "progressed")],
      gives: ["a parked crash 2 crash"],
    },

    {
      name: "third strike, others made progress: conclusive",
      held: [held("a", crashed, 2, "stuck"), held("b", crashed, 0, "progressed"), held("c", crashed, 1, "progressed")],
      gives: ["a convicted failed 3", "b parked crash 0 crash", "c parked crash 1 crash"],
    },
    {
      name: "third strike, one other without a result: not conclusive, held",
      held: [held("a", crashed, 2, "stuck"), held("b", crashed, 0, "stuck")],
      gives: ["a parked crash 2 crash", "b parked crash 1 crash"],
      hold: "a",
    },
    {
      name: "the suspect is found wherever it stands",
      held: [held("b", crashed, 0, "stuck"), held("a", crashed, 2, "stuck")],
      gives: ["b parked crash 1 crash", "a parked crash 2 crash"],
      hold: "a",
    },
    {
      name: "two suspects at once: the first is held, nobody convicted",
      held: [held("a", crashed, 2, "stuck"), held("b", crashed, 2, "stuck")],
      gives: ["a parked crash 2 crash", "b parked crash 2 crash"],
      hold: "a",
    },
    {
      name: "second strike beside others: no hold yet",
      held: [held("a", crashed, 1, "stuck"), held("b", crashed, 1, "stuck")],
      gives: ["a parked crash 2 crash", "b parked crash 2 crash"],
    },
    {
      name: "a suspect at a clean stop beside others",
      held: [{ ...held("a", stopped, 2, "stuck"), marked: true }, held("b", stopped, 0, "stuck")],
      gives: ["a parked shutdown 2 restart_timeout", "b parked shutdown 1 restart_timeout"],
    },
    {
      name: "a suspect at a power cut beside others",
      held: [held("a", elsewhere, 2, "stuck"), held("b", elsewhere, 0, "stuck")],
      gives: ["a parked crash 2 crash", "b parked crash 0 crash"],
    },
    {
      name: "boots that died apart do not alibi each other",
      held: [held("a", crashed, 2, "stuck"), held("b", aBoot("b2"), 0, "stuck")],
      gives: ["a convicted failed 3", "b parked crash 1 crash"],
    },
  ] satisfies VerdictCase[],
  (one: VerdictCase) => {
    const verdicts = decideTurns(one.held, "machine-1", at(100));
    assert.deepEqual(verdicts.turns.map(show), one.gives);
    assert.equal(verdicts.hold, one.hold === undefined ? null : turnId(one.hold));
    for (const { turn, type } of verdicts.turns) {
      assert.equal(turn.version, type === "suspended" ? 3 : 4, "one commit, one version");
    }
  },
);

test("among twenty innocent turns the poison one is convicted in the end, and nobody else", () => {
  const strikes = new Map<string, number>();
  const suspect = (name: string): boolean => (strikes.get(name) ?? 0) >= 2;
  const convicted: string[] = [];
  let others = Array.from({ length: 20 }, (_, n) => `innocent-${n}`);
  let holding = false;
  let deaths = 0;
  while (convicted.length === 0 && deaths < 10) {
    deaths += 1;
    // In this life suspects ran one at a time, so the innocent ones among them had their result before the poison
    // killed the process; the rest ran beside it, unless new starts were held.
    const beside = holding ? [] : others.filter((name) => !suspect(name));
    const stuck = ["poison", ...beside].map((name) => held(name, crashed, strikes.get(name) ?? 0, "stuck"));
    const verdicts = decideTurns(stuck, "machine-1", at(deaths));
    for (const one of verdicts.turns) strikes.set(one.turn.id, one.strikes);
    for (const one of verdicts.turns) if (one.type === "convicted") convicted.push(one.turn.id);
    holding = verdicts.hold !== null;
    if (holding) assert.equal(verdicts.hold, "poison");
    others = [...others.filter((name) => !suspect(name)), `fresh-${deaths}`];
  }
  assert.deepEqual(convicted, ["poison"]);
  assert.equal(deaths, 4, "two that accuse everybody, one beside fresh turns, one alone");
});

test("the convicted turn tells why", () => {
  const [verdict] = decideTurns([held("a", crashed, 2, "stuck")], "machine-1", at(100)).turns;
  assert.deepEqual(verdict?.turn.now, {
    state: "done",
    outcome: "failed",
    why: "the gateway died 3 times while working on this",
    failure: { code: "gateway-crash" },
    doneAt: at(100),
  });
});

const now = at(100);
const states = {
  pending: { state: "pending", dueAt: at(70), attempts: 1 },
  sending: { state: "sending", boot: bootId("b1"), attempts: 2 },
  "in-doubt": { state: "in-doubt", since: at(60), attempts: 2, doubts: 1, why: "cut off" },
  delivered: { state: "delivered", remoteId: "r1", deliveredAt: at(60) },
  dead: { state: "dead", why: "refused", deadAt: at(60) },
} as const satisfies Record<ItemState["state"], ItemState>;

const due: ItemState = { state: "pending", dueAt: now, attempts: 2, doubts: 1 };
type ItemCase = { name: string; from: ItemState["state"]; doubt: InDoubtPolicy; gives: ItemState; version: number };

table(
  "items of a dead boot",
  [
    { name: "sending, resend → due at once", from: "sending", doubt: "resend", gives: due, version: 6 },
    {
      name: "sending, hold → in doubt",
      from: "sending",
      doubt: "hold",
      gives: { state: "in-doubt", since: now, attempts: 2, doubts: 1, why: "the gateway died while sending it" },
      version: 6,
    },
    { name: "in doubt, resend → due at once", from: "in-doubt", doubt: "resend", gives: due, version: 6 },
    { name: "in doubt, hold → stays", from: "in-doubt", doubt: "hold", gives: states["in-doubt"], version: 5 },
    { name: "pending stays", from: "pending", doubt: "resend", gives: states.pending, version: 5 },
    { name: "delivered stays", from: "delivered", doubt: "resend", gives: states.delivered, version: 5 },
    { name: "dead stays", from: "dead", doubt: "resend", gives: states.dead, version: 5 },
  ] satisfies ItemCase[],
  ({ from, doubt, gives, version }) => {
    const item = anItem("i1", { now: states[from], version: 5 });
    assert.deepEqual(decideItem(item, doubt, now), { ...item, version, now: gives });
  },
);

test("a held turn that is not running is a Bug", () => {
  const odd: HeldTurn = { ...held("a", crashed, 0, "stuck"), turn: aTurn("a") };
  assert.throws(() => decideTurns([odd], "machine-1", now), Bug);
});
