// Every combination of a busy or idle session, room or none, and policy; every combination in front of the quarantine.

import assert from "node:assert/strict";
import { test } from "node:test";
import { aTurn, at } from "../testing/samples.ts";
import { table } from "../testing/table.ts";
import { type Arrival, type BusyPolicy, type Start, decideArrival, decideNextTurn, decideStart } from "./lane.ts";
import type { Turn } from "./turn.ts";

const policies: readonly BusyPolicy[] = ["queue", "interrupt", "steer"];
const rooms = {
  "lanes open, room": { open: true, running: 1, max: 2 },
  "lanes open, none running": { open: true, running: 0, max: 2 },
  "lanes open, full": { open: true, running: 2, max: 2 },
  "lanes open, over full": { open: true, running: 3, max: 2 },
  "lanes closed, room": { open: false, running: 0, max: 2 },
  "lanes closed, full": { open: false, running: 2, max: 2 },
} as const;
type RoomName = keyof typeof rooms;

/** Written out on purpose: a table derived by the rule it tests would prove nothing. */
const whenRunning: Record<BusyPolicy, Arrival> = {
  queue: "wait",
  interrupt: "wait-and-interrupt",
  steer: "wait-and-steer",
};
const whenIdle: Record<RoomName, Arrival> = {
  "lanes open, room": "start-now",
  "lanes open, none running": "start-now",
  "lanes open, full": "wait",
  "lanes open, over full": "wait",
  "lanes closed, room": "wait",
  "lanes closed, full": "wait",
};

const arrivals = (Object.keys(rooms) as RoomName[]).flatMap((room) =>
  policies.flatMap((policy) =>
    [true, false].flatMap((running) =>
      [true, false].map((queued) => {
        const gives: Arrival = running ? whenRunning[policy] : queued ? "wait" : whenIdle[room];
        const session = `${running ? "running" : "idle"}${queued ? ", others queued" : ""}`;
        return { name: `${session} · ${room} · ${policy} → ${gives}`, room, policy, running, queued, gives };
      }),
    ),
  ),
);

table("arrival", arrivals, ({ room, policy, running, queued, gives }) => {
  assert.equal(decideArrival({ running, queued }, rooms[room], policy), gives);
});

test("all 72 combinations of an arrival are in the table", () => {
  assert.equal(arrivals.length, 72);
});

const starts: readonly { suspect: boolean; occupied: boolean; held: boolean; gives: Start }[] = [
  { suspect: false, occupied: false, held: false, gives: "start" },
  { suspect: false, occupied: true, held: false, gives: "start" },
  { suspect: false, occupied: false, held: true, gives: "after-quarantine" },
  { suspect: false, occupied: true, held: true, gives: "after-quarantine" },
  { suspect: true, occupied: false, held: false, gives: "start-in-quarantine" },
  { suspect: true, occupied: false, held: true, gives: "start-in-quarantine" },
  { suspect: true, occupied: true, held: false, gives: "after-quarantine" },
  { suspect: true, occupied: true, held: true, gives: "after-quarantine" },
];

table(
  "start",
  starts.map((one) => ({
    name: `${one.suspect ? "suspect" : "innocent"}, ${one.occupied ? "occupied" : "free"}, ${one.held ? "held" : "not held"} → ${one.gives}`,
    ...one,
  })),
  ({ suspect, occupied, held, gives }) => {
    assert.equal(decideStart(suspect, { occupied, held }), gives);
  },
);

function ready(name: string): Turn {
  const parked = { state: "parked", cause: "crash", parkedAt: at(1) } as const;
  if (name.startsWith("parked")) return aTurn(name, { attempt: 1, now: parked });
  return aTurn(name, { attempt: name.startsWith("answered") ? 1 : 0 });
}

table(
  "the next turn where interrupted ones wait for their user",
  [
    { name: "nothing there", turns: [], gives: "nothing" },
    { name: "only an interrupted one: it waits", turns: ["parked"], gives: "waits-for-input" },
    { name: "two interrupted ones: both wait", turns: ["parked", "parked 2"], gives: "waits-for-input" },
    { name: "a message behind it joins it", turns: ["parked", "queued"], gives: "parked, 1 joins" },
    { name: "of several messages one joins", turns: ["parked", "queued", "queued 2"], gives: "parked, 1 joins" },
    {
      name: "what was answered is no message: it goes alone",
      turns: ["parked", "answered"],
      gives: "answered, 0 joins",
    },
    { name: "what is older goes first", turns: ["answered", "parked", "queued"], gives: "answered, 0 joins" },
    {
      name: "a message joins also past what was answered",
      turns: ["parked", "answered", "queued"],
      gives: "parked, 1 joins",
    },
    { name: "nothing was interrupted", turns: ["queued", "queued 2"], gives: "queued, 0 joins" },
  ],
  ({ turns, gives }) => {
    const next = decideNextTurn(turns.map(ready));
    assert.equal(next.type === "turn" ? `${next.turn.id}, ${next.joins} joins` : next.type, gives);
  },
);
