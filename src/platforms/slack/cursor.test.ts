import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Instant } from "../../core/ids.ts";
import {
  type Place,
  earlier,
  heard,
  instantOf,
  isOurs,
  momentOf,
  moved,
  readPlace,
  since,
  threadsIn,
  writePlace,
} from "./cursor.ts";

const now = 1_726_000_000_123 as Instant;
const fresh = readPlace(null, now);
const place = (more: Partial<Place>): Place => ({ ...fresh, ...more });

test("moments and instants", () => {
  assert.equal(momentOf(now), "1726000000.123000");
  assert.equal(instantOf("1726000000.123456"), 1_726_000_000_123);
  assert.equal(earlier("1726000000.000200", 60), "1725999940.000200");
});

describe("a place that was stored", () => {
  test("is read as it was written", () => {
    const full = heard(place({ at: "1726000009.000000" }), { conversation: "C1", thread: "5.0", isOurs: true });
    assert.deepEqual(readPlace(writePlace(full), now), full);
  });
  for (const broken of ["", "nonsense", "{}", "[]", "1", '{"at":5}']) {
    test(`${JSON.stringify(broken)} begins anew`, () => assert.deepEqual(readPlace(broken, now), fresh));
  }
});

test("the past is read from a little before the place, but never from before we were there", () => {
  assert.equal(since(fresh), fresh.born);
  assert.equal(since(place({ at: "1726000030.000000" })), fresh.born);
  assert.equal(since(place({ at: "1726000100.000000" })), "1726000040.000000");
});

describe("forward", () => {
  const cases: readonly (readonly [what: string, seen: string, open: readonly string[], at: string])[] = [
    ["to what was seen", "1726000009.0", [], "1726000009.0"],
    ["not past what is not stored", "1726000009.0", ["1726000007.0", "1726000005.0"], "1726000005.0"],
    ["never back", "1725000000.0", [], fresh.at],
    ["never back for what came late", "1726000009.0", ["1725000000.0"], fresh.at],
  ];
  for (const [what, seen, open, at] of cases) test(what, () => assert.equal(moved(fresh, seen, open).at, at));
});

describe("threads", () => {
  const known = heard(heard(fresh, { conversation: "C1", thread: "1.0", isOurs: true }), {
    conversation: "C2",
    thread: "2.0",
  });
  test("that began with us are ours, and stay so", () => {
    assert.ok(isOurs(known, "C1:1.0"));
    assert.ok(!isOurs(known, "C2:2.0"));
    assert.ok(isOurs(heard(known, { conversation: "C1", thread: "1.0" }), "C1:1.0"));
  });
  test("are known by their conversation", () => {
    assert.deepEqual(threadsIn(known, "C1"), ["1.0"]);
    assert.deepEqual(threadsIn(known, "C"), []);
  });
  test("the oldest are forgotten", () => {
    let full = known;
    for (let n = 0; n < 300; n++) full = heard(full, { conversation: `C${n}`, thread: "9.0" });
    assert.ok(full.threads.length <= 100 && full.recent.length <= 50);
    assert.equal(full.recent.at(-1), "C299");
    assert.ok(writePlace(full).length < 10_000);
  });
});
