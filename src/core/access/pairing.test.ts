// Codes, requests and guesses, one row per case.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { anAddress, at } from "../../testing/samples.ts";
import { limits } from "../limits.ts";
import {
  type Pairing,
  afterWrongCode,
  closedForMs,
  codeText,
  decideRequest,
  digestOf,
  newCode,
  noTries,
  pairingOf,
  readCode,
  readTries,
  waitsText,
} from "./pairing.ts";

function request(sender: string, more: Partial<Pairing> = {}): Pairing {
  const id = `p-${sender}`;
  const times = { askedAt: at(0), expiresAt: at(limits.pairingMs), toldAt: at(0) };
  return {
    id,
    sender,
    name: null,
    address: anAddress(sender),
    digest: digestOf(id, "ABCDEFGH"),
    ...times,
    denied: false,
    ...more,
  };
}

describe("codes", () => {
  test("eight characters that cannot be misread, from any chance", () => {
    for (const chance of [0, 0.25, 0.5, 0.999_999, 1])
      assert.match(
        newCode(() => chance),
        /^[2-9A-HJ-NP-Z]{8}$/,
      );
    let n = 0;
    assert.equal(
      newCode(() => n++ / 32),
      "23456789",
    );
  });

  const typed: readonly (readonly [string, string | null])[] = [
    ["ABCDEFGH", "ABCDEFGH"],
    [" abcd-efgh ", "ABCDEFGH"],
    ["ABCD EFGH", "ABCDEFGH"],
    ["ABCDEFG", null],
    ["ABCDEFGHJ", null],
    ["ABCDEFG0", null],
    ["ABCDEFGÄ", null],
    ["*", null],
    ["", null],
  ];
  for (const [text, code] of typed) test(`"${text}" is ${code ?? "no code"}`, () => assert.equal(readCode(text), code));

  test("a code opens the request it was made for, while it is open", () => {
    const own = request("ann");
    const other = request("eve", { digest: digestOf("p-eve", "ZZZZZZZZ") });
    assert.equal(pairingOf("ABCDEFGH", [other, own], at(1)), own);
    assert.equal(pairingOf("ZZZZZZZZ", [other, own], at(1)), other);
    assert.equal(pairingOf("ABCDEFGJ", [other, own], at(1)), null);
    assert.equal(pairingOf("ABCDEFGH", [own], at(limits.pairingMs)), null);
    assert.equal(pairingOf("ABCDEFGH", [{ ...own, denied: true }], at(1)), null);
    // The digest of one request says nothing about another.
    assert.equal(pairingOf("ABCDEFGH", [request("eve", { digest: own.digest })], at(1)), null);
  });
});

describe("requests", () => {
  const others = (count: number, more: Partial<Pairing> = {}) =>
    Array.from({ length: count }, (_, n) => request(`s${n}`, more));
  const old = { expiresAt: at(10) };
  const cases: readonly (readonly [what: string, known: readonly Pairing[], ms: number, answer: string])[] = [
    ["the first", [], 0, "new"],
    ["as many as may wait", others(limits.pairingsMax - 1), 0, "new"],
    ["one more", others(limits.pairingsMax), 0, "a stranger, and as many wait to be let in as may"],
    ["those that expired do not count", others(9, old), 10, "new"],
    ["nor those that were turned down", others(9, { denied: true }), 0, "new"],
    ["one's own, at once", [request("ann")], 1, "a stranger who waits to be let in"],
    ["one's own, later", [request("ann")], limits.pairingReminderMs, "waits"],
    ["one's own among many", [...others(3), request("ann")], limits.pairingReminderMs, "waits"],
    ["one's own, expired", [request("ann", old)], 10, "new"],
    ["turned down", [request("ann", { denied: true })], limits.pairingReminderMs, "a stranger who was turned down"],
    ["turned down and forgotten", [request("ann", { denied: true, ...old })], 10, "new"],
  ];
  for (const [what, known, ms, answer] of cases) {
    test(what, () => {
      const found = decideRequest(known, "ann", at(ms));
      assert.equal(found.type === "ignore" ? found.why : found.type, answer);
      if (found.type === "new")
        assert.deepEqual(
          found.expired,
          known.filter(({ expiresAt }) => expiresAt <= at(ms)),
        );
    });
  }
});

describe("wrong codes", () => {
  test("so many in a while close the door for as long", () => {
    let tries = noTries;
    for (let n = 1; n < limits.pairingTriesMax; n++) tries = afterWrongCode(tries, at(n));
    assert.equal(closedForMs(tries, at(10)), 0);
    tries = afterWrongCode(tries, at(20));
    assert.equal(closedForMs(tries, at(20)), limits.pairingTriesMs);
    assert.equal(closedForMs(tries, at(20 + limits.pairingTriesMs)), 0);
    assert.deepEqual(tries.wrong, []);
  });

  test("wrong ones of long ago are forgiven, and never are many kept", () => {
    let tries = noTries;
    for (let n = 0; n < 100; n++) {
      tries = afterWrongCode(tries, at(n * (limits.pairingTriesMs / 4)));
      assert.equal(closedForMs(tries, at(n * (limits.pairingTriesMs / 4))), 0);
      assert.ok(tries.wrong.length < limits.pairingTriesMax);
    }
  });

  const stored: readonly (readonly [string | null, unknown])[] = [
    [null, noTries],
    ["", noTries],
    ["null", noTries],
    ['{"wrong":"x","closedUntil":"y"}', noTries],
    ['{"wrong":[1,"2"],"closedUntil":3}', { wrong: [1], closedUntil: 3 }],
  ];
  for (const [text, tries] of stored) test(`read from ${text}`, () => assert.deepEqual(readTries(text), tries));
});

test("what strangers are told", () => {
  assert.match(codeText("ABCDEFGH"), /: ABCDEFGH\n.*everturn pair approve ABCDEFGH`, within 60 minutes\.$/);
  assert.match(waitsText(request("ann"), at(limits.pairingMs - 60_000)), /1 more minute\./);
  assert.match(waitsText(request("ann"), at(0)), /60 more minutes\./);
});
