import assert from "node:assert/strict";
import { test } from "node:test";
import { descriptionMax, shortSchema, shortText } from "./schema.ts";

test("a small schema stays as it is, but for what explains nothing", () => {
  const schema = {
    $schema: "x",
    type: "object",
    title: "Args",
    properties: { title: { type: "string", description: "Its title" }, n: { type: "number", minimum: 1, default: 2 } },
    required: ["title"],
  };
  assert.deepEqual(shortSchema(schema), {
    type: "object",
    properties: { title: { type: "string", description: "Its title" }, n: { type: "number", minimum: 1, default: 2 } },
    required: ["title"],
  });
});

test("what is no schema becomes one without arguments", () => {
  for (const odd of [undefined, null, 7, "x", []]) assert.deepEqual(shortSchema(odd), { type: "object" });
});

test("a large schema loses its explanations first, then its depth, and always fits", () => {
  const many = (n: number, one: unknown) => Object.fromEntries(Array.from({ length: n }, (_, i) => [`p${i}`, one]));
  const wordy = { type: "object", properties: many(50, { type: "string", description: "x".repeat(5_000) }) };
  const first = shortSchema(wordy);
  assert.deepEqual(first["properties"], many(50, { type: "string" }));
  const deep = {
    type: "object",
    properties: many(3, { type: "array", items: { type: "object", properties: many(100, { type: "string" }) } }),
    required: ["p1"],
  };
  assert.deepEqual(shortSchema(deep), { type: "object", properties: many(3, { type: "array" }), required: ["p1"] });
  const wide = { type: "object", properties: many(10_000, { type: "string" }), required: ["p9999"] };
  const fits = shortSchema(wide);
  assert.ok(JSON.stringify(fits).length <= 4_000);
  assert.equal("required" in fits, false);
});

test("a schema without a bottom is cut off", () => {
  let deep: Record<string, unknown> = { type: "string" };
  for (let i = 0; i < 10_000; i++) deep = { type: "array", items: deep };
  assert.ok(JSON.stringify(shortSchema({ type: "object", properties: { deep } })).length < 4_000);
});

test("texts are cut without breaking a character", () => {
  assert.equal(shortText(" a\n  b "), "a b");
  const long = shortText(`${"x".repeat(descriptionMax - 2)}👋👋`);
  assert.equal(long.length, descriptionMax);
  assert.ok(long.isWellFormed());
});
