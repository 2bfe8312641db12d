// Every fault to plant still has its place in the sources. Whether the suites find it, `npm run sim:mutants` says.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { mutants } from "./mutants/faults.ts";

for (const { name, file, find } of mutants) {
  test(`can be planted: ${name}`, () => {
    const places = readFileSync(join(import.meta.dirname, "..", file), "utf8").split(find).length - 1;
    assert.equal(places, 1, `${file} has ${places} places that read: ${find}`);
  });
}
