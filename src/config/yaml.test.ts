// YAML with places: kinds of values, faults in our own words, and files made to hurt.

import assert from "node:assert/strict";
import { test } from "node:test";
import { sentenceOfFault } from "./faults.ts";
import { parseYaml } from "./yaml.ts";

function faultsOf(text: string): readonly string[] {
  const parsed = parseYaml(text, "c.yaml");
  assert.equal(parsed.type, "wrong", `accepted: ${text.slice(0, 40)}`);
  return parsed.type === "wrong" ? parsed.faults.map(sentenceOfFault) : [];
}

test("a value comes with the line of every key", () => {
  const parsed = parseYaml("# first\na:\n  b: 1\n  c: [x,\n    y]\nd: {e: ~}\n", "c.yaml");
  assert.equal(parsed.type, "parsed");
  if (parsed.type !== "parsed") return;
  assert.deepEqual(parsed.value, { a: { b: 1, c: ["x", "y"] }, d: { e: null } });
  assert.deepEqual(Object.fromEntries(parsed.lines), {
    '["a"]': 2,
    '["a","b"]': 3,
    '["a","c"]': 4,
    '["a","c",0]': 4,
    '["a","c",1]': 5,
    '["d"]': 6,
    '["d","e"]': 6,
  });
});

test("kinds of values: long whole numbers stay exact, yes and dates stay text", () => {
  const parsed = parseYaml("a: [0x1f, 123456789012345678, 1.5, yes, 2020-01-01, TRUE, '5', 010]\n1: x\n", "c.yaml");
  assert.deepEqual(parsed.type === "parsed" ? parsed.value : null, {
    a: [31, 123456789012345678n, 1.5, "yes", "2020-01-01", true, "5", 10],
    "1": "x",
  });
});

test("nothing, only comments and only a marker are an empty value", () => {
  for (const text of ["", "\n\n", "# only\n", "---\n", "---\n...\n"]) {
    const parsed = parseYaml(text, "c.yaml");
    assert.equal(parsed.type === "parsed" ? parsed.value : "wrong", null, JSON.stringify(text));
  }
});

test("wrong YAML is told with line and column, in words that say what to do", () => {
  const rows: readonly (readonly [string, RegExp])[] = [
    ["a:\n\tb: 1\n", /^c\.yaml, line 2, column 1: this line is indented with a tab; use spaces$/],
    ["a: b: c\n", /line 1, column 4: .*two keys on one line/],
    ["a: 'x\n", /line 2, column 1: .*a quote/],
    ["a: [1, 2\nb: 3\n", /line 2, column 1: .*bracket is not closed/],
    ["a: @b\n", /line 1, column 4: .*put the value in quotes/],
    ["---\na: 1\n---\nb: 2\n", /line 3, column 1: a second document/],
    ["a: !thing 1\n", /line 1, column 4: a tag/],
    ["a: *gone\n", /line 1: a is an alias of something that does not stand before it/],
    ["a: { b: ${NAME} }\n", /line 1, column 10: a \$\{NAME\} inside \{ \} needs quotes/],
    ["? [x]\n: 1\n", /line 1: the configuration has a key that is empty or not plain text/],
    ["a: !!binary aGk=\n", /line 1: a is a kind of value/],
  ];
  for (const [text, sentence] of rows) {
    const faults = faultsOf(text);
    assert.equal(faults.length, 1, `${text}: ${faults.join(" | ")}`);
    assert.match(faults[0] ?? "", sentence);
  }
});

test("duplicate keys name both lines", () => {
  assert.deepEqual(faultsOf("a:\n  b: 1\n  c: 2\n  b: 3\nd: 1\nd: 2\n"), [
    "c.yaml, line 4: a.b is given twice, first on line 2; keep one of them",
    "c.yaml, line 6: d is given twice, first on line 5; keep one of them",
  ]);
});

test("a fault never repeats the text, which may be a secret", () => {
  for (const text of [
    "apiKey: sk-secret: x\n",
    "{apiKey: sk-secret\n",
    "apiKey: 'sk-secret\n",
    "- ]sk-secret\n",
    "*sk-secret\n",
  ])
    assert.doesNotMatch(faultsOf(text).join("\n"), /sk-secret/, text);
});

test("an aliases bomb, deep nesting and a file of nothing but keys are refused, not expanded", () => {
  const bomb = ["a: &a [x, x, x, x, x, x, x, x, x, x]"];
  for (let i = 1; i < 10; i++) {
    const before = String.fromCharCode(96 + i);
    const name = String.fromCharCode(97 + i);
    bomb.push(`${name}: &${name} [${Array.from({ length: 10 }, () => `*${before}`).join(", ")}]`);
  }
  assert.match(faultsOf(bomb.join("\n")).join("\n"), /more than 10000 values/);
  assert.match(faultsOf("a: &a\n  b: *a\n").join("\n"), /nested too deeply|alias/);
  assert.match(faultsOf("[".repeat(20_000)).join("\n"), /nested too deeply/);
  assert.match(faultsOf(`${"[".repeat(60)}${"]".repeat(60)}`).join("\n"), /nested too deeply/);
  const many = Array.from({ length: 12_000 }, (_, i) => `k${i}: 1`).join("\n");
  assert.match(faultsOf(many).join("\n"), /more than 10000 values/);
});

test("an alias that is used honestly works", () => {
  const parsed = parseYaml("a: &x [1]\nb: *x\n", "c.yaml");
  assert.deepEqual(parsed.type === "parsed" ? parsed.value : null, { a: [1], b: [1] });
});

test("odd key names stay keys of their own", () => {
  const parsed = parseYaml("__proto__: {polluted: 1}\nconstructor: 2\n", "c.yaml");
  assert.equal(parsed.type, "parsed");
  const value: unknown = parsed.type === "parsed" ? parsed.value : null;
  assert.ok(typeof value === "object" && value !== null);
  assert.deepEqual(Object.keys(value), ["__proto__", "constructor"]);
  assert.equal("polluted" in {}, false);
});
