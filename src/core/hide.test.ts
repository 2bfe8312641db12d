// Secrets are taken out at any depth, shapes stay, and no value makes it throw.

import assert from "node:assert/strict";
import { test } from "node:test";
import { hideDeep } from "./hide.ts";

const hide = (text: string): string => text.replaceAll("planted", "[secret]");

test("texts and names of members are hidden wherever they stand, everything else stays as it is", () => {
  const cases: readonly (readonly [unknown, unknown])[] = [
    ["a planted b", "a [secret] b"],
    [
      ["planted", 1, null, true],
      ["[secret]", 1, null, true],
    ],
    [{ a: { b: [{ planted: "x planted" }] } }, { a: { b: [{ "[secret]": "x [secret]" }] } }],
    [
      { ok: true, output: [{ type: "text", text: "planted" }] },
      { ok: true, output: [{ type: "text", text: "[secret]" }] },
    ],
    [7, 7],
    [null, null],
    [undefined, undefined],
    [{}, {}],
    [[], []],
  ];
  for (const [given, expected] of cases) assert.deepEqual(hideDeep(hide, given), expected);
});

test("a value without secrets is the same value", () => {
  const clean = { a: [1, { b: "c" }] };
  assert.equal(hideDeep(hide, clean), clean);
});

test("the given value is left alone", () => {
  const given = { a: ["planted"] };
  hideDeep(hide, given);
  assert.deepEqual(given, { a: ["planted"] });
});

test("depth does not matter", () => {
  let deep: unknown = "planted";
  for (let i = 0; i < 200_000; i++) deep = i % 2 === 0 ? [deep] : { a: deep };
  let found = hideDeep(hide, deep);
  while (typeof found === "object" && found !== null) found = Array.isArray(found) ? found[0] : Reflect.get(found, "a");
  assert.equal(found, "[secret]");
});

test("cycles, failing getters, proxies and odd members do not make it throw", () => {
  const cycle: Record<string, unknown> = { text: "planted" };
  cycle["self"] = cycle;
  const hidden = hideDeep(hide, cycle);
  assert.ok(typeof hidden === "object" && hidden !== null);
  assert.equal(Reflect.get(hidden, "text"), "[secret]");
  assert.equal(Reflect.get(hidden, "self"), hidden);
  const failing = Object.defineProperty({}, "x", {
    enumerable: true,
    get() {
      throw new Error("no");
    },
  });
  assert.deepEqual(hideDeep(hide, failing), { x: "[unreadable]" });
  const hostile = new Proxy(
    {},
    {
      getPrototypeOf() {
        throw new Error("no");
      },
    },
  );
  hideDeep(hide, { a: hostile, b: "planted" });
  const named: unknown = JSON.parse('{"__proto__": {"x": "planted"}}');
  assert.equal(JSON.stringify(hideDeep(hide, named)), '{"__proto__":{"x":"[secret]"}}');
  assert.equal(Object.getPrototypeOf(hideDeep(hide, named)), Object.prototype);
});

test("bytes and dates are no text and stay", () => {
  const given = { at: new Date(0), bytes: new Uint8Array([1]), text: "planted" };
  assert.deepEqual(hideDeep(hide, given), { ...given, text: "[secret]" });
});
