import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { personPool } from "./pool.ts";

test("one for each person; the least recently used that rests makes room, and one at work never does", () => {
  const busy = new Set<string>();
  const ended: string[] = [];
  const pool = personPool<string>({ max: 2, isIdle: (one) => !busy.has(one), end: (one) => void ended.push(one) });
  const get = (person: string) => pool.get(person, () => person);
  assert.deepEqual([get("a"), get("b"), get("a")], ["a", "b", "a"]);
  assert.equal(get("c"), "c");
  assert.deepEqual(ended, ["b"]);
  busy.add("a");
  assert.equal(get("d"), "d");
  assert.deepEqual(ended, ["b", "c"]);
  busy.add("d");
  assert.equal(get("e"), null);
  assert.deepEqual(pool.all(), ["a", "d"]);
});

test("one that rests for long is ended, unless it is kept or works", async () => {
  const busy = new Set<string>(["b"]);
  const ended: string[] = [];
  const pool = personPool<string>({
    max: 9,
    idleMs: 5,
    keeps: "owner",
    isIdle: (one) => !busy.has(one),
    end: (one) => void ended.push(one),
  });
  for (const person of ["owner", "a", "b"]) pool.get(person, () => person);
  while (!ended.includes("a")) await sleep(5);
  assert.deepEqual(ended, ["a"]);
  busy.clear();
  while (!ended.includes("b")) await sleep(5);
  assert.deepEqual(pool.all(), ["owner"]);
});
