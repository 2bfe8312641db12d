// How each kind of end is told, as a table: rows of boots in, sentences out.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { BootId, Instant, TurnId } from "../core/ids.ts";
import { type Boot, type BootStory, type StopFacts, newBoot } from "../core/recovery.ts";
import { table } from "../testing/table.ts";
import { type Life, livesOf, worthTelling } from "./story.ts";
import { span } from "./story-facts.ts";

const now = new Date(2026, 10, 15, 14, 30).getTime();
const minute = 60_000;

type Row = Partial<Omit<Boot, "stop" | "story">> & { readonly stop?: Partial<StopFacts>; readonly story?: BootStory };

/** A life of an hour that ended ten minutes ago. */
function boot(id: string, { stop, story, ...rest }: Row = {}): Boot {
  const startedAt = (now - 70 * minute) as Instant;
  const facts = { pid: 41, host: "h", machine: "m1", version: "1.0.0", config: "c", startedAt };
  const ended: StopFacts | null =
    stop === undefined
      ? null
      : { class: "planned", by: "marker", reason: "", at: (now - 10 * minute) as Instant, clean: true, ...stop };
  return {
    ...newBoot({ id: id as BootId, ...facts }),
    readyAt: startedAt,
    beatAt: (now - 10 * minute) as Instant,
    stop: ended,
    story: story ?? {},
    ...rest,
  };
}

const next = (row: Row = {}): Boot =>
  boot("b2", { pid: 42, startedAt: (now - 9 * minute) as Instant, readyAt: (now - 9 * minute) as Instant, ...row });

const shell = { pid: 7, name: "bash", cmdline: "-bash" };
const sigterm = { signal: "SIGTERM", signal_num: 15, pid: 41, parent: shell, under_systemd: false };
const phases = [
  { name: "drain", ms: 5_000, facts: { running: 2, finished: 1, left: 1, timed_out: true } },
  { name: "total", ms: 5_240 },
];

type Case = {
  readonly name: string;
  readonly rows: readonly Boot[];
  readonly alive?: string;
  readonly machine?: string;
  readonly end: Life["end"];
  readonly headline: string;
  readonly facts: readonly (readonly [string, string])[];
};

const cases: readonly Case[] = [
  {
    name: "a planned stop, announced by a marker",
    rows: [
      boot("b1", {
        stop: {
          context: {
            ...sigterm,
            planned_stop_marker: { for_self: true, content: { stopper_pid: 99, target_pid: 41 } },
          },
        },
        story: { exitCode: 0, phases },
      }),
    ],
    end: "stopped",
    headline: "Stopped on purpose 14:20 (10 min ago), after 1 h: `everturn gateway stop` asked for it.",
    facts: [
      ["who asked", "`everturn gateway stop` asked for it; marker written by pid 99"],
      ["signal", "SIGTERM"],
      ["parent", "bash, pid 7: -bash"],
      ["running", "2 turns when it was asked; 1 finished in time, 1 interrupted, to go on at the next start"],
      ["phase", "drain 5.0 s (running=2, finished=1, left=1, timed_out=true)"],
      ["phase", "total 5.2 s"],
      ["exit code", "0: stopped as asked; no supervisor starts it again"],
    ],
  },
  {
    name: "Ctrl-C",
    rows: [boot("b1", { stop: { by: "signal", context: { ...sigterm, signal: "SIGINT", running: 0 } } })],
    end: "stopped",
    headline: "Stopped on purpose 14:20 (10 min ago), after 1 h: Ctrl-C (SIGINT).",
    facts: [
      ["who asked", "Ctrl-C (SIGINT)"],
      ["signal", "SIGINT"],
      ["parent", "bash, pid 7: -bash"],
      ["running", "nothing when it was asked"],
    ],
  },
  {
    name: "a take-over, with the time nobody listened",
    rows: [
      next({ story: { listeningAt: (now - 9 * minute + 40) as Instant, tookOver: { turns: 1, items: 2 } } }),
      boot("b1", {
        stop: { class: "take-over" },
        story: { exitCode: 79, silentAt: (now - 9 * minute) as Instant },
      }),
    ],
    alive: "b2",
    end: "stopped",
    headline: "Replaced 14:20 (10 min ago), after 1 h: another gateway took over (pid 42).",
    facts: [
      ["who asked", "another gateway took over"],
      ["exit code", "79: replaced; no supervisor starts it again"],
      [
        "next start",
        "ready 14:21 (9 min ago), nobody listened for 40 ms; it went on with 1 turn and 2 unsent messages",
      ],
    ],
  },
  {
    name: "a restart asked in a chat",
    rows: [next(), boot("b1", { stop: { class: "restart", by: "chat" }, story: { exitCode: 75 } })],
    alive: "b2",
    end: "stopped",
    headline: "Restarted 14:20 (10 min ago), after 1 h: asked for in a chat.",
    facts: [
      ["who asked", "asked for in a chat"],
      ["exit code", "75: asks its supervisor for a new start"],
      ["next start", "ready 14:21 (9 min ago)"],
    ],
  },
  {
    name: "a restart by the agent's own tool, without a supervisor",
    rows: [next(), boot("b1", { stop: { class: "restart", by: "tool" }, story: { exitCode: 0 } })],
    alive: "b2",
    end: "stopped",
    headline: "Restarted 14:20 (10 min ago), after 1 h: asked for by the agent, through a tool.",
    facts: [
      ["who asked", "asked for by the agent, through a tool"],
      ["exit code", "0: the next one was already on its way"],
      ["next start", "ready 14:21 (9 min ago)"],
    ],
  },
  {
    name: "a reload under a supervisor",
    rows: [boot("b1", { stop: { class: "restart", by: "signal", context: { signal: "SIGUSR1" } } })],
    end: "stopped",
    headline: "Restarted 14:20 (10 min ago), after 1 h: asked for by SIGUSR1 (a reload).",
    facts: [
      ["who asked", "asked for by SIGUSR1 (a reload)"],
      ["signal", "SIGUSR1"],
    ],
  },
  {
    name: "an unexpected signal",
    rows: [
      boot("b1", {
        stop: { class: "unexpected", by: "signal", context: { ...sigterm, running: 3 } },
        story: { exitCode: 1 },
      }),
    ],
    end: "stopped",
    headline: "Ended 14:20 (10 min ago), after 1 h, by SIGTERM that nobody had announced.",
    facts: [
      ["who asked", "SIGTERM came"],
      ["signal", "SIGTERM"],
      ["parent", "bash, pid 7: -bash"],
      [
        "likely",
        "another process sent it (`kill`, a supervisor, a container that was stopped); `everturn gateway stop` announces a stop",
      ],
      ["running", "3 turns when it was asked"],
      ["exit code", "1: a signal that nobody announced; a supervisor starts it again"],
    ],
  },
  {
    name: "an unexpected signal under systemd",
    rows: [
      boot("b1", {
        stop: {
          class: "unexpected",
          by: "signal",
          context: { ...sigterm, under_systemd: true, parent: { pid: 1, name: "systemd", cmdline: null } },
        },
        story: { exitCode: 1 },
      }),
    ],
    end: "stopped",
    headline: "Ended 14:20 (10 min ago), after 1 h, by SIGTERM that nobody had announced.",
    facts: [
      ["who asked", "SIGTERM came"],
      ["signal", "SIGTERM"],
      ["parent", "systemd, pid 1"],
      [
        "likely",
        "systemd stopped the service (`systemctl stop` or `restart`, or the machine was going down); its journal says which",
      ],
      ["exit code", "1: a signal that nobody announced; a supervisor starts it again"],
    ],
  },
  {
    name: "a terminal that was closed",
    rows: [boot("b1", { stop: { class: "unexpected", by: "signal", context: { signal: "SIGHUP" } } })],
    end: "stopped",
    headline: "Ended 14:20 (10 min ago), after 1 h, by SIGHUP that nobody had announced.",
    facts: [
      ["who asked", "SIGHUP came"],
      ["signal", "SIGHUP"],
      ["likely", "the terminal it ran in was closed"],
    ],
  },
  {
    name: "a fault",
    rows: [
      boot("b1", {
        stop: { class: "fault", by: "fault", reason: "the store\nis gone", clean: false },
        story: { exitCode: 70 },
      }),
    ],
    end: "stopped",
    headline: "Stopped 14:20 (10 min ago), after 1 h, because of a fault: the store is gone.",
    facts: [
      ["who asked", "the store is gone"],
      ["unclean", "not everything was parked in time; it went on from its last stored step"],
      ["exit code", "70: a mistake of ours; a supervisor starts it again"],
    ],
  },
  {
    name: "kill -9, and nobody has started it since",
    rows: [boot("b1")],
    end: "died",
    headline: "Died without a word; its last sign of life was 14:20 (10 min ago), after 1 h.",
    facts: [
      ["last sign", "14:20:00.000 by pid 41 (one is written every half minute); nobody has started it since"],
      [
        "machine",
        "went on running, so the process was killed from outside (kill -9, out of memory) or crashed by itself",
      ],
    ],
  },
  {
    name: "out of memory, with evidence and a new start",
    rows: [
      next({ story: { tookOver: { turns: 2, items: 0 } } }),
      boot("b1", {
        story: {
          evidence: ["the kernel ended pid 41 for lack of memory", "oom_kill rose by 1"],
          lastStep: { at: (now - 9.5 * minute) as Instant, turn: "t7" as TurnId, what: "terminal begun" },
        },
      }),
    ],
    alive: "b2",
    end: "died",
    headline: "Died without a word; its last sign of life was 14:20 (9 min ago), after 1 h.",
    facts: [
      ["last step", "14:20:30.000: terminal begun (turn t7)"],
      [
        "last sign",
        "14:20:00.000 by pid 41 (one is written every half minute); noticed at the start 14:21 (9 min ago)",
      ],
      [
        "machine",
        "went on running, so the process was killed from outside (kill -9, out of memory) or crashed by itself",
      ],
      ["evidence", "the kernel ended pid 41 for lack of memory"],
      ["evidence", "oom_kill rose by 1"],
      [
        "next start",
        "ready 14:21 (9 min ago), 30.0 s after the last sign; it went on with 2 turns and 0 unsent messages",
      ],
    ],
  },
  {
    name: "a power cut",
    rows: [boot("b1", { machine: "m0" })],
    end: "died",
    headline:
      "Died without a word because the machine stopped (power cut, reset or reboot); its last sign of life was 14:20 (10 min ago), after 1 h.",
    facts: [
      ["last sign", "14:20:00.000 by pid 41 (one is written every half minute); nobody has started it since"],
      ["machine", "was started again since, so this accuses nobody"],
    ],
  },
  {
    name: "died inside its own drain",
    rows: [boot("b1", { stop: { clean: false } })],
    end: "cut-short",
    headline:
      "Died 14:20 (10 min ago), after 1 h, in the middle of a stop: `everturn gateway stop` asked for it, and it ended before it was done.",
    facts: [
      ["who asked", "`everturn gateway stop` asked for it"],
      ["cut short", "the next start takes up what it held"],
    ],
  },
  {
    name: "died before it was ready",
    rows: [boot("b1", { readyAt: null })],
    end: "died",
    headline: "Died without a word before it was ready; its last sign of life was 14:20 (10 min ago), after 1 h.",
    facts: [
      ["last sign", "14:20:00.000 by pid 41 (one is written every half minute); nobody has started it since"],
      [
        "machine",
        "went on running, so the process was killed from outside (kill -9, out of memory) or crashed by itself",
      ],
    ],
  },
  {
    name: "a row that says almost nothing",
    rows: [boot("b1", { stop: { class: "unexpected", by: "signal" } })],
    end: "stopped",
    headline: "Ended 14:20 (10 min ago), after 1 h, by a signal that nobody had announced.",
    facts: [
      ["who asked", "a signal came"],
      [
        "likely",
        "another process sent it (`kill`, a supervisor, a container that was stopped); `everturn gateway stop` announces a stop",
      ],
    ],
  },
  {
    name: "one that runs",
    rows: [boot("b1")],
    alive: "b1",
    end: "running",
    headline: "Runs since 13:20 (1 h ago).",
    facts: [],
  },
];

table("the story of an end", cases, ({ rows, alive, machine, end, headline, facts }) => {
  const life = livesOf(rows, { now, alive: alive ?? null, machine: machine ?? "m1" }).at(-1) ?? assert.fail();
  assert.equal(life.end, end);
  assert.equal(life.headline, headline);
  assert.deepEqual(life.facts, facts);
});

test("an end that only the state file tells of is told of that process, and one at its start has no age", () => {
  const around = { now, alive: null, machine: "m1", lastWord: { pid: 41, reason: "it was killed" } };
  const [told] = livesOf([boot("b1")], around);
  assert.match(told?.headline ?? "", /^Died: it was killed; its last sign of life was 14:20 .*after 1 h\.$/);
  const [other] = livesOf([boot("b1")], { ...around, lastWord: { pid: 42, reason: "it was killed" } });
  assert.match(other?.headline ?? "", /^Died without a word; /);
  const young = boot("b1");
  const [early] = livesOf([{ ...young, beatAt: young.startedAt }], { ...around, lastWord: null });
  assert.match(early?.headline ?? "", /ago\), at its start\.$/);
});

test("what a stop did many times is told once", () => {
  const many = Array.from({ length: 64 }, (_, n) => ({ name: "agent close", ms: n, facts: { session: `s${n}` } }));
  const rows = [boot("b1", { stop: {}, story: { phases: [...many, ...phases] } })];
  const [life] = livesOf(rows, { now, alive: null, machine: "m1" });
  assert.deepEqual(
    life?.facts.filter(([name]) => name === "phase").map(([, value]) => value.split(" (")[0]),
    ["agent close 64 times, at most 63 ms", "drain 5.0 s", "total 5.2 s"],
  );
});

test("told are the last end and the unclean deaths before it", () => {
  const rows = [
    boot("b6"),
    boot("b5", { stop: {} }),
    boot("b4", { stop: {} }),
    boot("b3"),
    boot("b2", { stop: { class: "fault", by: "fault" }, story: { exitCode: 70 } }),
    boot("b1", { stop: { clean: false } }),
  ];
  const lives = livesOf(rows, { now, alive: "b6", machine: "m1" });
  const told = (max: number) => worthTelling(lives, max).map((one) => one.boot);
  assert.deepEqual(told(5), ["b5", "b3", "b2", "b1"]);
  assert.deepEqual(told(1), ["b5", "b3"]);
  assert.deepEqual(worthTelling(livesOf(rows.slice(0, 1), { now, alive: "b6", machine: "m1" }), 5), []);
});

test("spans are exact where they are short", () => {
  assert.deepEqual([0.4, 999, 1_000, 59_900, 61_000].map(span), ["0 ms", "999 ms", "1.0 s", "59.9 s", "1 min"]);
});
