// The mark of an interrupted session as the gateway makes and clears it: by a real stop, a real start and the end of a turn,
// in a real store file that is opened a second time to see what it holds.

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import type { Change } from "../../src/core/change.ts";
import type { BootId } from "../../src/core/ids.ts";
import { type Session, sessionKey } from "../../src/core/session.ts";
import type { Agent } from "../../src/ports/agent.ts";
import { openSqliteStore } from "../../src/stores/sqlite/index.ts";
import { type Stage, type StageOptions, at, stage } from "./stage.ts";

/** As the file has it, read by somebody else. */
async function inFile(on: Stage, chat: string): Promise<Session | null> {
  const store = await openSqliteStore({ file: on.file, writer: "inline" });
  try {
    return await store.sessionOf(sessionKey(at(chat)));
  } finally {
    await store.close();
  }
}

/** A gateway whose turn at `a` hangs. */
async function stuck(on: Stage, options: StageOptions = {}) {
  const one = await on.start(options);
  await on.say("stuck", { from: at("a") });
  await on.until(() => on.calls.includes("step stuck"));
  return one;
}

/** The facts of a step of the last stop. */
function told(on: Stage, step: string): unknown {
  return on.log.findLast(({ what }) => what === `stop: ${step}`)?.facts;
}

const answers = (on: Stage) => on.calls.filter((call) => call.startsWith("send answer"));

test("S68 S69 S72 S73 S76 a session that a stop interrupts is marked with its reason and the moment, and the file keeps it", async (t) => {
  for (const [kind, reason] of [
    ["restart", "restart_timeout"],
    ["planned", "shutdown_timeout"],
  ] as const) {
    const on = await stage(t);
    const one = await stuck(on);
    assert.equal((await inFile(on, "a"))?.resume, null, "S68: a new session has no mark");
    await on.pass(77);
    const markedAt = on.clock.now();
    await on.stop(one, { class: kind });
    assert.deepEqual(told(on, "mark"), { ms: 0, marked: 1 }, "S72: it was marked");
    const found = await inFile(on, "a");
    assert.deepEqual(found?.resume, { reason, markedAt }, "S69, S73, S76");
    assert.equal(found?.standing, "active");
  }
});

test("S77 S78 the end of a turn clears reason and moment, and writes nothing about a session that has no mark", async (t) => {
  const on = await stage(t);
  await on.stop(await stuck(on));
  assert.notEqual((await inFile(on, "a"))?.resume, null);
  const cleared: Change[] = [];
  const store = {
    ...on.store,
    commit: (changes: readonly Change[], by: BootId) => {
      cleared.push(...changes.filter((one) => "put" in one && one.put === "resume"));
      return on.store.commit(changes, by);
    },
  };
  await on.start({ store });
  await on.until(() => answers(on).length === 1, "the interrupted turn is answered");
  assert.equal((await inFile(on, "a"))?.resume, null, "S77: all of it is gone");
  assert.equal(cleared.length, 1);
  await on.say("and now?", { from: at("a") });
  await on.until(() => answers(on).length === 2);
  assert.equal(cleared.length, 1, "S78: there was nothing to clear");
});

test("S75 a suspended session that a dead process held is not marked, and stays suspended", async (t) => {
  const on = await stage(t);
  const one = await stuck(on);
  one.life.kill();
  const before = await inFile(on, "a");
  assert.ok(before !== null);
  const [boot] = await on.store.lastBoots(1);
  const suspend: Change = { put: "standing", session: before.id, standing: "suspended" };
  assert.equal(await on.store.commit([suspend], boot?.id as BootId), "committed");
  await on.start();
  const after = await on.store.session(before.id);
  assert.deepEqual([after?.standing, after?.resume], ["suspended", null]);
});

/** Takes the session out of the file behind the gateway's back. */
function forget(t: TestContext, on: Stage): () => number {
  const db = new DatabaseSync(on.file);
  t.after(() => db.close());
  db.exec("PRAGMA foreign_keys = off");
  db.exec("DELETE FROM sessions");
  return () => Number(db.prepare("SELECT count(*) AS n FROM sessions").get()?.["n"]);
}

test("S74 a session that is not in the store cannot be marked: the stop marks none, and makes no row of it", async (t) => {
  const on = await stage(t);
  const one = await stuck(on);
  const rows = forget(t, on);
  await on.stop(one);
  assert.equal((told(on, "mark") as { marked: number }).marked, 0);
  assert.equal(rows(), 0);
});

test("S79 a session that is not in the store cannot be cleared: the end of its turn is refused, and makes no row of it", async (t) => {
  const on = await stage(t);
  await on.stop(await stuck(on));
  const go = Promise.withResolvers<void>();
  const agent: Agent = {
    tools: [],
    async step() {
      await go.promise;
      return { type: "said", text: "answer", calls: [], final: true };
    },
    close: async () => undefined,
  };
  const two = await on.start({ agent });
  await on.until(() => two.gateway.status().running.length === 1);
  const rows = forget(t, on);
  go.resolve();
  await on.until(() => two.gateway.status().running.length === 0);
  assert.deepEqual([rows(), answers(on)], [0, []]);
});
