import assert from "node:assert/strict";
import { test } from "node:test";
import { type LinkEvent, newLink, pauseBefore, step } from "./link.ts";

const hello = (boot: string | null): LinkEvent => ({ type: "hello", boot });
const live: LinkEvent = { type: "live" };
const lost: LinkEvent = { type: "lost" };
const settled: LinkEvent = { type: "settled" };

test("away and back are shown, a first connection and a change of conversation are not", () => {
  for (const [name, events, phase] of [
    ["at first", [], "opening"],
    ["connected", [hello("a"), live], "live"],
    ["never reached", [lost, lost], "opening"],
    ["reached late", [lost, hello("a"), live], "live"],
    ["gone", [hello("a"), live, lost], "away"],
    ["greeted but not caught up", [hello("a"), live, lost, hello("a")], "away"],
    ["back to the same process", [hello("a"), live, lost, hello("a"), live], "back"],
    ["back to a new process", [hello("a"), live, lost, lost, hello("b"), live], "back"],
    ["a new process without a visible gap", [hello("a"), live, hello("b"), live], "back"],
    ["another conversation", [hello("a"), live, hello("a"), live], "live"],
    ["another conversation while the news is shown", [hello("a"), live, hello("b"), live, hello("b"), live], "back"],
    ["told", [hello("a"), live, lost, hello("b"), live, settled], "live"],
    ["gone before it was told", [hello("a"), live, lost, hello("b"), live, lost, settled], "away"],
    ["a greeting that cannot be read", [hello("a"), live, hello(null), live], "live"],
  ] as const) {
    assert.equal(events.reduce(step, newLink).phase, phase, name);
  }
});

test("attempts start at a quarter of a second and end at five", () => {
  assert.deepEqual([0, 1, 2, 3, 4, 5, 6, 1_000].map(pauseBefore), [250, 500, 1_000, 2_000, 4_000, 5_000, 5_000, 5_000]);
});
