// The fast search finds what a slow one finds, in texts made of few letters, where everything nearly fits.

import assert from "node:assert/strict";
import { test } from "node:test";
import { masker } from "./known.ts";

/** Every place is tried for every text; what overlaps is one. */
function slowly(texts: readonly string[], text: string): string {
  const isHidden = Array.from(text, () => 0);
  for (let at = 0; at < text.length; at++)
    for (const one of texts) if (text.startsWith(one, at)) isHidden.fill(1, at, at + one.length);
  const starts = new Set(Array.from(text, (_, at) => at).filter((at) => texts.some((one) => text.startsWith(one, at))));
  let result = "";
  let end = 0;
  for (let at = 0; at < text.length; at++) {
    if (starts.has(at)) {
      if (at >= end) result += "#";
      end = Math.max(end, ...texts.filter((one) => text.startsWith(one, at)).map((one) => at + one.length));
    }
    if (isHidden[at] === 0) result += text[at];
  }
  return result;
}

/** The same numbers each time. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

test("it finds what a search of every place finds", () => {
  for (let seed = 1; seed <= 500; seed++) {
    const pick = numbers(seed);
    const word = (length: number) => Array.from({ length }, () => "abc"[pick(3)]).join("");
    const texts = Array.from({ length: 1 + pick(6) }, () => word(4 + pick(6)));
    const text = word(pick(200));
    assert.equal(masker(texts, "#")(text), slowly(texts, text), `seed ${seed}: ${texts.join(" ")} in ${text}`);
  }
});

test("ends, beginnings, neighbours and overlaps", () => {
  const hide = masker(["planted", "plantedmore", "moreover"], "#");
  assert.equal(hide("planted"), "#");
  assert.equal(hide("xplanted"), "x#");
  assert.equal(hide("plantedplanted"), "##");
  assert.equal(hide("plantedmoreover"), "#");
  assert.equal(hide("plante"), "plante");
  assert.equal(masker(["plantedmoreover", "anted"], "#")("xplantedmoreovery anted"), "x#y #");
  assert.equal(hide(""), "");
  assert.equal(masker([], "#")("planted"), "planted");
});
