import assert from "node:assert/strict";
import { test } from "node:test";
import { headerFault } from "./headers.ts";

const property = (more: object): object => ({ type: "object", properties: { region: { type: "string", ...more } } });

const cases: readonly (readonly [title: string, schema: unknown, fault: RegExp | null])[] = [
  ["no schema", undefined, null],
  ["no declaration", property({}), null],
  ["a plain one", property({ "x-mcp-header": "Region" }), null],
  ["a nested one", { properties: { a: property({ "x-mcp-header": "Region" }) } }, null],
  ["a property of that name", { properties: { "x-mcp-header": { type: "string" } } }, null],
  ["an empty name", property({ "x-mcp-header": "" }), /not a header name/],
  ["a name with a line break", property({ "x-mcp-header": "A\r\nHost: evil" }), /not a header name/],
  ["no text", property({ "x-mcp-header": 7 }), /not a header name/],
  ["a number", property({ type: "number", "x-mcp-header": "Region" }), /needs a string/],
  ["an object", property({ type: "object", "x-mcp-header": "Region" }), /needs a string/],
  ["at the root", { type: "string", "x-mcp-header": "Region" }, /no plain property/],
  ["in items", { properties: { a: { items: { type: "string", "x-mcp-header": "A" } } } }, /no plain property/],
  ["in anyOf", { anyOf: [property({ "x-mcp-header": "A" })] }, /no plain property/],
  ["in $defs", { $defs: { a: { type: "string", "x-mcp-header": "A" } } }, /no plain property/],
  [
    "the same name twice",
    { properties: { a: { type: "string", "x-mcp-header": "Id" }, b: { type: "string", "x-mcp-header": "ID" } } },
    /used twice/,
  ],
];

for (const [title, schema, fault] of cases)
  test(`header declarations: ${title}`, () => {
    if (fault === null) assert.equal(headerFault(schema), null);
    else assert.match(headerFault(schema) ?? "", fault);
  });
