import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  formatCursor,
  idAt,
  isGatewayUrl,
  isNewer,
  passed,
  positionIn,
  readCursor,
  remembered,
  start,
  timeOf,
} from "./cursor.ts";
import { pauseBefore } from "./listen.ts";

const at = 1_800_000_000_000;

describe("the stored place", () => {
  test("comes back as it was", () => {
    const session = { id: "s", resumeUrl: "wss://gateway-us.discord.gg" };
    const cursor = { session, seq: 7, direct: { "1": "5" }, channels: { "2": "6" }, floor: "4", isFresh: false };
    assert.deepEqual(readCursor(formatCursor(cursor)), cursor);
  });

  for (const text of [null, "", "not json", "null", "7", '"x"']) {
    test(`${JSON.stringify(text)} is a fresh start`, () => assert.deepEqual(readCursor(text), start));
  }

  test("what is wrong in it is left out", () => {
    const read = readCursor(
      '{"session":{"id":"s","resumeUrl":"http://x"},"seq":"7","direct":{"1":5,"2":"6"},"floor":"x","isFresh":false}',
    );
    assert.deepEqual(read, { ...start, direct: { "2": "6" }, isFresh: false });
  });

  test("addresses that the library cannot open are none", () => {
    for (const url of ["https://a", "wss://", "", "wss://a b"]) assert.equal(isGatewayUrl(url), false, url);
    assert.equal(isGatewayUrl("wss://gateway.discord.gg/"), true);
  });
});

test("ids grow with time, and are compared as numbers", () => {
  assert.equal(timeOf("175928847299117063"), 1_462_015_105_796);
  assert.equal(timeOf(idAt(at)), at);
  assert.deepEqual([isNewer("10", "9"), isNewer("9", "10"), isNewer("5", "5")], [true, false, false]);
});

describe("a message that is settled", () => {
  const id = idAt(at);
  test("moves its own channel, and the floor a minute behind it", () => {
    const next = passed(start, { channel: "2", isDirect: false }, id, true);
    assert.deepEqual(next.channels, { "2": id });
    assert.equal(timeOf(next.floor), at - 60_000);
    assert.equal(positionIn(next, "2"), id);
    assert.equal(positionIn(next, "3"), next.floor);
  });

  test("never moves anything back", () => {
    const first = passed(start, { channel: "2", isDirect: false }, id, true);
    assert.deepEqual(passed(first, { channel: "2", isDirect: false }, idAt(at - 900_000), true), first);
  });

  test("read from a channel, leaves the floor for the others", () => {
    assert.equal(passed(start, { channel: "2", isDirect: true }, id, false).floor, "0");
    assert.deepEqual(passed(start, { channel: "2", isDirect: true }, id, false).direct, { "2": id });
  });

  test("the oldest channels are forgotten, and begin at the floor again", () => {
    let cursor = start;
    for (let n = 0; n < 300; n++)
      cursor = passed(cursor, { channel: `c${n}`, isDirect: false }, idAt(at + n * 1_000), true);
    assert.equal(Object.keys(cursor.channels).length, 200);
    assert.equal(cursor.channels["c99"], undefined);
    assert.equal(timeOf(cursor.channels["c100"] ?? "0"), at + 100_000);
  });
});

test("at the first start, what is there is history", () => {
  const cursor = remembered(start, { "1": "5", "2": "30" });
  assert.deepEqual([positionIn(cursor, "1"), positionIn(cursor, "3")], ["5", "30"]);
});

test("sessions are begun slowly, and slower each time", () => {
  assert.equal(pauseBefore([], at), 0);
  assert.equal(pauseBefore([at - 1_000], at), 4_500);
  assert.equal(pauseBefore([at - 20_000, at - 1_000], at), 10_000);
  assert.equal(
    pauseBefore(
      Array.from({ length: 20 }, () => at),
      at,
    ),
    600_000,
  );
  assert.equal(pauseBefore([at - 3_700_000], at), 0);
});
