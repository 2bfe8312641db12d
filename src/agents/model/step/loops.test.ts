import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Entry } from "../../../core/journal.ts";
import { anInbound } from "../../../testing/samples.ts";
import { readArguments } from "./invalid.ts";
import { circleIn } from "./loops.ts";

const round = (input: unknown, output: unknown = "same", call = "a"): readonly Entry[] => [
  { type: "said", text: "", calls: [{ call, tool: "look", input }], final: false },
  { type: "tool-ended", call, result: { type: "ok", output } },
];
const times = (n: number, make: (n: number) => readonly Entry[]): readonly Entry[] =>
  Array.from({ length: n }, (_, i) => make(i)).flat();
const broken = (n: number): readonly Entry[] => round(readArguments(`{"n": ${n}, oops`), n);

describe("a model that turns in circles", () => {
  for (const [name, journal, type] of [
    ["nothing yet", [], "none"],
    ["twice the same", times(2, () => round({ at: 1 })), "none"],
    ["three times the same", times(3, () => round({ at: 1 })), "tell"],
    ["four times the same", times(4, () => round({ at: 1 })), "tell"],
    ["five times the same", times(5, () => round({ at: 1 })), "stop"],
    ["the same with ids of their own", times(5, (n) => round({ at: 1 }, "same", `id${n}`)), "stop"],
    ["the same call with results that change", times(9, (n) => round({ at: 1 }, n)), "none"],
    ["other calls with the same result", times(9, (n) => round({ at: n })), "none"],
    ["five times, but something else since", [...times(5, () => round({ at: 1 })), ...round({ at: 2 })], "none"],
    ["two in turns, three times", times(3, () => [...round(1), ...round(2)]), "tell"],
    ["two in turns, five times", times(5, () => [...round(1), ...round(2)]), "stop"],
    ["three in turns, five times", times(5, () => [...round(1), ...round(2), ...round(3)]), "stop"],
    [
      "the user said something since",
      [...times(5, () => round(1)), { type: "joined", message: anInbound("again") }],
      "none",
    ],
    [
      "over a death and a compaction",
      [
        ...times(3, () => round(1)),
        { type: "resumed", attempt: 2 },
        { type: "compacted", summary: "s", entries: 2, upTo: 0 },
        ...times(2, () => round(1)),
      ],
      "stop",
    ],
    ["arguments nobody can read, four times", times(4, broken), "none"],
    ["arguments nobody can read, five times", times(5, broken), "stop"],
    ["readable ones between", [...times(4, broken), ...round({}), ...times(2, broken)], "none"],
  ] as const satisfies readonly (readonly [string, readonly Entry[], string])[]) {
    test(name, () => assert.equal(circleIn(journal).type, type));
  }

  test("the words name the call and what to do", () => {
    const stop = circleIn(times(5, () => round({ at: "x".repeat(1_000) })));
    assert.match(stop.type === "stop" ? stop.why : "", /same call 5 times.*look.*\/model/);
    assert.ok(stop.type === "stop" && stop.why.length < 600);
    const tell = circleIn(times(3, () => round({ at: 1 })));
    assert.match(tell.type === "tell" ? tell.text : "", /3 times.*look/);
  });
});
