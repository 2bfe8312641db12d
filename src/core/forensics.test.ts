// Names of signals, the line and the JSON of a snapshot, systemd's lengths of time, and when a stop has too little of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Snapshot, parseDuration, signalName, signalNumber, stopTiming, toLogLine } from "./forensics.ts";
import { canBeWithin } from "../testing/quick.ts";

const unprintable = {
  toString() {
    throw new Error("no text");
  },
};

test("S34 S35 S36 S37 a signal has a name, whatever is known about it", () => {
  const rows: readonly (readonly [unknown, string])[] = [
    [15, "SIGTERM"],
    [2, "SIGINT"],
    [1, "SIGHUP"],
    ["SIGTERM", "SIGTERM"],
    ["SIGINT", "SIGINT"],
    [9999, "signal#9999"],
    [-1, "signal#-1"],
    [Number.NaN, "signal#NaN"],
    [null, "UNKNOWN"],
    [undefined, "UNKNOWN"],
    ["tea", "tea"],
    [true, "true"],
    [12n, "12"],
    [Symbol("a"), "Symbol(a)"],
    [unprintable, "[unreadable Error]"],
  ];
  for (const [signal, name] of rows) assert.equal(signalName(signal), name);
  assert.equal(signalName(10), "signal#10", "another signal on every system");
  assert.equal(signalName(10, { SIGUSR1: 10 }), "SIGUSR1");
});

test("a signal's number is known by its number or its name", () => {
  const rows: readonly (readonly [unknown, number | null])[] = [
    ["SIGTERM", 15],
    [15, 15],
    [9999, 9999],
    ["SIGTEA", null],
    ["toString", null],
    [null, null],
    [unprintable, null],
  ];
  for (const [signal, number] of rows) assert.equal(signalNumber(signal), number);
  assert.equal(signalNumber("SIGUSR1", { SIGUSR1: 30 }), 30);
});

const snapshot: Snapshot = {
  signal: "SIGTERM",
  signal_num: 15,
  pid: 42,
  at: 1_700_000_000_000,
  monotonic: 12.5,
  parent: { pid: 7, name: "tmux: server", cmdline: "tmux -c a=b\n--last" },
  under_systemd: false,
  systemd_invocation_id: null,
  loadavg_1m: 0.5,
  tracer_pid: 0,
  planned_stop_marker: { content: { target_pid: 42 }, for_self: true },
  takeover_marker: null,
  unknown: [],
};

test("S48 the log line is one line of key=value with the parent's command line last", () => {
  assert.equal(
    toLogLine(snapshot),
    'signal=SIGTERM signal_num=15 pid=42 parent_pid=7 parent_name="tmux: server" under_systemd=false loadavg_1m=0.5 ' +
      "tracer_pid=0 planned_stop_marker=self parent_cmdline=tmux -c a=b --last",
  );
  const bare = toLogLine({
    ...snapshot,
    signal: "a=b",
    signal_num: null,
    parent: { pid: 0, name: null, cmdline: null },
    tracer_pid: null,
    takeover_marker: { content: "", for_self: false },
    unknown: ["load: not told", "a\u2028b"],
  });
  assert.equal(
    bare,
    'signal="a=b" pid=42 parent_pid=0 under_systemd=false loadavg_1m=0.5 planned_stop_marker=self ' +
      'takeover_marker=other unknown="load: not told; a b" parent_cmdline=?',
  );
});

test("S55 S56 S57 S58 S59 S60 S61 systemd's lengths of time, in microseconds", () => {
  const rows: readonly (readonly [string, number | null])[] = [
    ["90s", 90_000_000],
    ["3min", 180_000_000],
    ["1min 30s", 90_000_000],
    ["1h", 3_600_000_000],
    ["500ms", 500_000],
    ["", null],
    ["90weeks", null],
    [" 1min30s ", 90_000_000],
    ["1.5s", 1_500_000],
    ["1w 2d 3h", 788_400_000_000],
    ["7us", 7],
    ["infinity", Number.POSITIVE_INFINITY],
    ["0", 0],
    ["90", null],
    ["s", null],
    ["-5s", null],
    ["1min and 3s", null],
    ["5 s", null],
    ["1toString", null],
    ["1s 2weeks", null],
  ];
  for (const [text, us] of rows) assert.equal(parseDuration(text), us, text);
});

test("a long text that is no length of time is refused quickly", () =>
  canBeWithin(1_000, () => {
    const begun = performance.now();
    assert.equal(parseDuration(`${"1s".repeat(5_000)}!`), null);
    assert.equal(parseDuration(`${"1".repeat(50_000)}!`), null);
    return performance.now() - begun;
  }));

test("S64 S32 a stop timeout below the drain and 30 s is a mismatch, and the warning says what to do", () => {
  const rows: readonly (readonly [us: number, drain: number, mismatch: boolean])[] = [
    [90_000_000, 0, false],
    [30_000_000, 0, false],
    [29_999_999, 0, true],
    [90_000_000, 60, false],
    [90_000_000, 61, true],
    [90_000_000, 180, true],
    [Number.POSITIVE_INFINITY, 100_000, false],
    [0, 0, true],
  ];
  for (const [us, drain, mismatch] of rows) {
    const timing = stopTiming(us, drain);
    assert.equal(timing.mismatch, mismatch, `${us} ${drain}`);
    assert.equal(timing.warning !== null, mismatch);
  }
  const { warning, timeoutSeconds, neededSeconds } = stopTiming(90_000_000, 180);
  assert.deepEqual([timeoutSeconds, neededSeconds], [90, 210]);
  assert.match(warning ?? "", /90 s.*180.*210 s.*`everturn gateway install --force`.*smaller `gateway\.drainSeconds`/);
});
