import assert from "node:assert/strict";
import { test } from "node:test";
import type { Instant } from "./ids.ts";
import type { Entry } from "./journal.ts";
import { type TurnRecord, lastStepOf } from "./last-step.ts";
import { aTurn } from "../testing/samples.ts";

const at = (ms: number) => ms as Instant;
const said: Entry = { type: "said", text: "", calls: [{ call: "1", tool: "terminal", input: {} }], final: false };
const begun: Entry = { type: "tool-begun", call: "1", effect: "checkable" };
const ended: Entry = { type: "tool-ended", call: "1", result: { type: "ok", output: "x" } };
const resumed: Entry = { type: "resumed", attempt: 2 };

function record(name: string, acceptedAt: number, entries: readonly (readonly [number, Entry])[]): TurnRecord {
  return {
    turn: aTurn(name, { acceptedAt: at(acceptedAt) }),
    entries: entries.map(([when, entry]) => ({ at: at(when), entry })),
  };
}

const rows: readonly (readonly [string, readonly TurnRecord[], string])[] = [
  ["nothing was stored", [], "none"],
  ["a message was accepted", [record("a", 120, [])], "120 a message accepted"],
  [
    "a tool began",
    [
      record("a", 120, [
        [130, said],
        [140, begun],
      ]),
    ],
    "140 a terminal begun",
  ],
  [
    "its result was stored",
    [
      record("a", 120, [
        [130, said],
        [150, ended],
      ]),
    ],
    "150 a result of terminal stored",
  ],
  [
    "the newest of two turns",
    [record("a", 120, [[130, said]]), record("b", 125, [])],
    "130 a step of the model stored",
  ],
  [
    "two in the same millisecond",
    [
      record("a", 120, [
        [130, said],
        [130, begun],
      ]),
    ],
    "130 a terminal begun",
  ],
  ["before this boot", [record("a", 20, [[30, said]])], "none"],
  [
    "by the next boot",
    [
      record("a", 120, [
        [130, said],
        [210, resumed],
      ]),
    ],
    "130 a step of the model stored",
  ],
];
for (const [name, records, expected] of rows) {
  test(`the last step of a boot: ${name}`, () => {
    const found = lastStepOf(records, at(100), 200);
    assert.equal(found === null ? "none" : `${found.at} ${found.turn} ${found.what}`, expected);
  });
}
