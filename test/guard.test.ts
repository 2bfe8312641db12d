import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { reasonToEnd } from "../bin/guard.js";

const [mb, gb] = [1024 * 1024, 1024 * 1024 * 1024];

describe("when a command in a sandbox is ended for the machine's sake", () => {
  const cases: readonly (readonly [
    name: string,
    before: readonly [free: number, tasks: number],
    now: readonly [free: number, tasks: number],
    own: number,
    why: string | null,
  ])[] = [
    ["an ordinary one", [100 * gb, 200], [99 * gb, 260], 60, null],
    ["it filled the disk", [100 * gb, 200], [400 * mb, 200], 1, "the disk was nearly full"],
    ["the disk was full before", [450 * mb, 200], [400 * mb, 200], 1, null],
    ["a fork bomb", [100 * gb, 200], [100 * gb, 9_000], 8_800, "it started too many processes"],
    ["somebody else's fork bomb", [100 * gb, 200], [100 * gb, 9_000], 12, null],
    ["many, but within bounds", [100 * gb, 200], [100 * gb, 2_200], 2_000, null],
  ];
  for (const [name, before, now, own, why] of cases)
    test(name, () => {
      const look = ([freeBytes, tasks]: readonly [number, number]) => ({ freeBytes, tasks, totalBytes: 500 * gb });
      assert.equal(
        reasonToEnd(look(before), look(now), () => own),
        why,
      );
    });
});
