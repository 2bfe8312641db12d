import assert from "node:assert/strict";
import { test } from "node:test";
import { blocksOf } from "./blocks.ts";

const blobs = { read: async () => new TextEncoder().encode("a,b"), path: (blob: string) => `/files/${blob}` };
const none = { image: false, embedded: false, links: false };

const kinds = { image: "image/png", table: "text/csv", archive: "application/zip" } as const;

const table: readonly (readonly [
  name: string,
  can: Partial<typeof none>,
  mime: string,
  bytes: number,
  type: string,
])[] = [
  ["an image that it sees", { image: true }, kinds.image, 3, "image"],
  ["without a sandbox, a link", { links: true, embedded: true }, kinds.table, 3, "resource_link"],
  ["in the sandbox, the whole file", { embedded: true }, kinds.archive, 3, "resource"],
  ["a large file is only named", { embedded: true }, kinds.archive, 20e6, "text"],
  ["text for an agent that takes text alone", {}, kinds.table, 3, "text"],
  ["anything else is only named", {}, kinds.archive, 3, "text"],
];

test("how a file is handed to an agent", async () => {
  for (const [name, can, mime, bytes, type] of table) {
    const file = { name: "a", mime, blob: "b1", bytes };
    const [, block] = await blocksOf("look", [file], { can: { ...none, ...can }, blobs });
    assert.equal(block?.type, type, name);
    const isNamedOnly = block?.type === "text" && block.text.includes("bytes");
    assert.equal(isNamedOnly, name.includes("only named"), name);
    assert.ok(type === "resource_link" || !JSON.stringify(block).includes("/files/"), "no path of the gateway's home");
  }
});
