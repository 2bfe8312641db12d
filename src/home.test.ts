// Taking possession of a home: who only looks at its lock is no gateway, who keeps it is one.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { pathsIn } from "./config/paths.ts";
import { takeHome } from "./home.ts";
import { acquireLock } from "./host/lock.ts";

function newHome(t: TestContext) {
  const home = mkdtempSync(join(tmpdir(), "everturn-home-"));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const paths = pathsIn(home);
  const looking = acquireLock(paths.lock);
  if (looking.type === "taken") assert.fail("a new home is free");
  return { paths, looking };
}

test("a start does not take somebody who only looks at the lock for a gateway", async (t) => {
  const { paths, looking } = newHome(t);
  const taking = takeHome(paths, { type: "at-once", patienceMs: 0 });
  await pause(5);
  looking.release();
  const { lock } = await taking;
  assert.equal(acquireLock(paths.lock).type, "taken");
  lock.release();
});

test("whoever keeps it serves, and a second start says so", async (t) => {
  const { paths, looking } = newHome(t);
  await assert.rejects(takeHome(paths, { type: "at-once", patienceMs: 0 }), {
    code: "already-running",
    message: /already serves .*--replace/,
  });
  looking.release();
});
