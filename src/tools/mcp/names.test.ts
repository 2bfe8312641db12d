import assert from "node:assert/strict";
import { test } from "node:test";
import { prefixes, splitName, toolNames } from "./names.ts";

test("a server's prefix has only what every provider takes, and a name splits in one way", () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["files", /^files$/],
    ["my files", /^my_files$/],
    ["my__files_", /^my_files$/],
    ["a.b", /^a_b$/],
    ["übersetzer", /^bersetzer$/],
    ["日本", /^-[0-9a-f]{6}$/],
    ["x".repeat(40), /^x{24}$/],
  ];
  for (const [name, wanted] of cases) {
    const prefix = prefixes([name]).get(name) ?? "";
    assert.match(prefix, wanted);
    assert.deepEqual(splitName(`${prefix}___odd__tool`), { prefix, tool: "_odd__tool" });
  }
});

test("servers and tools that look alike get names of their own, whatever the order", () => {
  const alike = ["a b", "a.b", "a_b"];
  for (const order of [alike, alike.toReversed()]) {
    const found = prefixes(order);
    assert.equal(new Set(found.values()).size, 3);
    assert.equal(found.get("a_b"), "a_b");
    const names = toolNames("s", order);
    assert.equal(names.get("a_b"), "s__a_b");
    assert.equal(new Set(names.values()).size, 3);
    assert.deepEqual(names, toolNames("s", alike));
  }
});

test("a tool's name has at most 64 characters of the allowed ones, and long ones stay apart", () => {
  const long = "read".repeat(30);
  const tools = ["read_file", "get.weather/now", `${long}1`, `${long}2`, "", "日本"];
  const names = [...toolNames("x".repeat(24), tools).values()];
  assert.equal(new Set(names).size, tools.length);
  for (const name of names) assert.match(name, /^[a-zA-Z0-9_-]{1,64}$/);
  assert.equal(names[1], `${"x".repeat(24)}__get_weather_now`);
});

test("what is no name of a server's tool is not split", () => {
  for (const name of ["read_file", "__x", "", "terminal"]) assert.equal(splitName(name), null);
});
