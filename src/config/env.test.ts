// .env files, ${NAME}, overrides by variables, and text that becomes a value.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Variables, overridesIn, parseEnvFile, readScalar, substitute } from "./env.ts";

const values = (source: string) =>
  Object.fromEntries([...parseEnvFile(source, ".env").variables].map(([name, { text }]) => [name, text]));

test(".env: plain, quoted, exported, commented and empty values", () => {
  const source = `# a comment
PLAIN=one two
  export EXPORTED = spaced
HASH=a#b # comment
EMPTY=
COMMENT_ONLY= # nothing
SINGLE='a "b" \\n # c'   # comment
DOUBLE="a \\"b\\" \\n\\tc $NOT \${NOT}"
URL=https://x/?a=b&c=d
AGAIN=1
AGAIN=2
`;
  assert.deepEqual(values(source), {
    PLAIN: "one two",
    EXPORTED: "spaced",
    HASH: "a#b",
    EMPTY: "",
    COMMENT_ONLY: "",
    SINGLE: 'a "b" \\n # c',
    DOUBLE: 'a "b" \n\tc $NOT ${NOT}',
    URL: "https://x/?a=b&c=d",
    AGAIN: "2",
  });
});

test(".env: quotes may span lines, line ends of every system, and lines are counted", () => {
  const { variables, faults } = parseEnvFile('A=1\r\nKEY="one\ntwo"\nB=2\rC=3', ".env");
  assert.deepEqual(faults, []);
  assert.deepEqual(variables.get("KEY"), { text: "one\ntwo", file: ".env", line: 2 });
  assert.equal(variables.get("B")?.line, 4);
  assert.equal(variables.get("C")?.line, 5);
});

test(".env: what is not NAME=value is a fault with its line, and never repeats the text", () => {
  const source = 'GOOD=1\nsk-secret-on-its-own\n2X=1\n=x\nA B=1\nOPEN=\'sk-secret\nTAIL="x" sk-secret';
  const { variables, faults } = parseEnvFile(source, "/h/.env");
  assert.deepEqual([...variables.keys()], ["GOOD"]);
  assert.deepEqual(
    faults.map(({ line }) => line),
    [2, 3, 4, 5, 6, 7],
  );
  assert.doesNotMatch(JSON.stringify(faults), /sk-secret/);
});

const variables: Variables = new Map(
  Object.entries({ A: "1", B: "two", NONE: "" }).map(([name, text]) => [name, { text, file: null, line: null }]),
);

test("${NAME} is filled, $${ is not, a missing or empty one is named", () => {
  const rows: readonly (readonly [string, ReturnType<typeof substitute>])[] = [
    ["plain $A {B}", { type: "plain", text: "plain $A {B}" }],
    ["${A}", { type: "filled", text: "1" }],
    ["x${A}y${B}", { type: "filled", text: "x1ytwo" }],
    ["$${A}", { type: "plain", text: "${A}" }],
    ["${MISSING} ${NONE} ${A}", { type: "missing", names: ["MISSING", "NONE"] }],
    ["${A:-x}", { type: "unreadable" }],
    ["${}", { type: "unreadable" }],
    ["${A", { type: "unreadable" }],
    ["${__proto__}", { type: "missing", names: ["__proto__"] }],
  ];
  for (const [text, result] of rows) assert.deepEqual(substitute(text, variables), result, text);
});

test("a filled value is not filled again", () => {
  const inner: Variables = new Map([["A", { text: "${B}", file: null, line: null }]]);
  assert.deepEqual(substitute("${A}", inner), { type: "filled", text: "${B}" });
});

const overrides = (env: Readonly<Record<string, string>>) =>
  overridesIn(new Map(Object.entries(env).map(([name, text]) => [name, { text, file: null, line: null }])), [
    "control",
    "gateway",
    "log",
  ]);

test("EVERTURN_A__B_C names a.bC; parents come before children; empty ones are as if not set", () => {
  const { overrides: found, faults } = overrides({
    EVERTURN_GATEWAY__DRAIN_SECONDS: "5",
    EVERTURN_LOG: "{}",
    EVERTURN_CONTROL__PORT: "",
    EVERTURN_HOME: "/x",
    EVERTURN_SOMETHING_ELSE: "1",
    OTHER__THING: "1",
  });
  assert.deepEqual(faults, []);
  assert.deepEqual(
    found.map(({ variable, path }) => [variable, path.join(".")]),
    [
      ["EVERTURN_LOG", "log"],
      ["EVERTURN_GATEWAY__DRAIN_SECONDS", "gateway.drainSeconds"],
    ],
  );
});

test("one underscore where two are needed is a fault that shows the right name", () => {
  const { overrides: found, faults } = overrides({ EVERTURN_GATEWAY_DRAIN_SECONDS: "5" });
  assert.deepEqual(found, []);
  assert.equal(faults[0]?.variable, "EVERTURN_GATEWAY_DRAIN_SECONDS");
  assert.match(faults[0]?.todo ?? "", /EVERTURN_GATEWAY__DRAIN_SECONDS/);
});

test("text becomes the value that YAML would read", () => {
  const rows: readonly (readonly [string, unknown])[] = [
    ["0", 0],
    [" 5 ", 5],
    ["-3", -3],
    ["1.5", 1.5],
    ["1e3", 1000],
    ["0x10", 16],
    ["true", true],
    ["False", false],
    ["null", null],
    ["~", null],
    ["yes", "yes"],
    ["1.2.3", "1.2.3"],
    ["", ""],
    ["123456789012345678", 123456789012345678n],
    ["+99999999999999999999", 99999999999999999999n],
    ["[1, 123456789012345678, 1.5]", [1, 123456789012345678n, 1.5]],
    ['{"a": {"b": "c"}}', { a: { b: "c" } }],
    ['"5"', "5"],
  ];
  for (const [text, value] of rows) assert.deepEqual(readScalar(text), { type: "value", value }, text);
  assert.deepEqual(readScalar("{a: 1}"), { type: "not-json" });
  assert.deepEqual(readScalar("[1"), { type: "not-json" });
});
