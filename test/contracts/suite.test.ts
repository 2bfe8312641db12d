// The contract suite itself: a sound platform that has everything passes, and every planted fault is found.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { platformSuite } from "../../src/testing/index.ts";
import { faults, openFar } from "./far/platform.ts";

platformSuite("in memory", async () => openFar(null));

test("every planted fault is found", () => {
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const file = join(import.meta.dirname, "far", "planted.ts");
  const { stdout } = spawnSync(process.execPath, ["--test", "--test-reporter=tap", file], { env, encoding: "utf8" });
  const found = [...stdout.matchAll(/^not ok \d+ - platform (.*)$/gm)].map(([, name]) => name);
  assert.deepEqual(
    faults.filter((fault) => !found.includes(fault)),
    [],
  );
});
