// A file written by an earlier version opens with everything in it, and what it could not know has its default.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { aBoot, bootId, sessionId, turnId } from "../../testing/samples.ts";
import { openSqliteStore } from "./index.ts";
import { applicationId, migrations } from "./schema.ts";

const oldStops = {
  died: null,
  stopped: { to: "stop", by: "signal", at: 50, clean: true },
  restarted: { to: "restart", by: "cli", at: 60, clean: false },
  broken: { to: "stop", by: "fault", at: 70, clean: true },
} as const;

/** A file as the first version left it: one conversation with a turn cut short, one with a turn that waits to go on. */
function writeFirstVersion(file: string): void {
  const [first] = migrations;
  assert.equal(first?.version, 1);
  const db = new DatabaseSync(file);
  db.exec(
    `PRAGMA journal_mode = WAL; BEGIN; ${first.sql}; PRAGMA application_id = ${applicationId}; PRAGMA user_version = 1`,
  );
  const boot = db.prepare("INSERT INTO boots(id, live, started_at, beat_at, stop, facts) VALUES (?, 0, ?, 9, ?, ?)");
  const facts = JSON.stringify({ pid: 1, host: "h", machine: "m", version: "0.1.0" });
  for (const [name, stop] of Object.entries(oldStops)) boot.run(name, 5, stop && JSON.stringify(stop), facts);
  const address = JSON.stringify({ platform: "web", account: "home", chat: "c" });
  const session = db.prepare(
    "INSERT INTO sessions(id, key, platform, owner, fence, created_at, active_at, address) VALUES (?, ?, 'web', 'died', 3, 5, 6, ?)",
  );
  for (const name of ["s1", "s2"]) session.run(name, `web/home/${name}`, address);
  const turn = db.prepare(
    "INSERT INTO turns(id, session, state, boot, attempt, version, accepted_at, now, input) VALUES (?, ?, ?, ?, 1, 2, 5, ?, ?)",
  );
  const input = {
    key: "k",
    from: JSON.parse(address),
    sender: "u",
    body: { kind: "text", text: "hi", files: [] },
    sentAt: 5,
  };
  const running = { state: "running", boot: "died", startedAt: 5 };
  const parked = { state: "parked", cause: "shutdown", parkedAt: 7 };
  turn.run("t1", "s1", "running", "died", JSON.stringify(running), JSON.stringify(input));
  turn.run("t2", "s2", "parked", null, JSON.stringify(parked), JSON.stringify(input));
  db.prepare("INSERT INTO entries(turn, n, at, entry) VALUES ('t2', 0, 6, ?)").run('{"type":"resumed","attempt":1}');
  db.prepare("INSERT INTO strikes(key, strikes) VALUES ('web/home/s1', 2)").run();
  db.exec("COMMIT");
  db.close();
}

test("S70 a file of the first version: sessions are active and not to be resumed, nothing is lost, old stops are understood", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "everturn-migrate-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "state.db");
  writeFirstVersion(file);
  const store = await openSqliteStore({ file, writer: "inline" });
  t.after(() => store.close());

  for (const name of ["s1", "s2"]) {
    const session = await store.session(sessionId(name));
    assert.deepEqual([session?.standing, session?.resume, session?.reset], ["active", null, null]);
    assert.deepEqual([session?.fence, session?.owner, session?.address.chat], [3, "died", "c"]);
  }
  assert.deepEqual(
    (await store.heldTurns(bootId("died"))).map(({ id }) => id),
    ["t1"],
  );
  assert.deepEqual((await store.turn(turnId("t2")))?.now, { state: "parked", cause: "shutdown", parkedAt: 7 });
  assert.deepEqual(await store.journalOf(turnId("t2")), [{ type: "resumed", attempt: 1 }]);
  const counts = [await store.strikes("web/home/s1"), await store.interruptions("web/home/s1")];
  assert.deepEqual([counts, await store.struckOut()], [[2, 0], []]);
  assert.deepEqual(await store.restarting(), []);

  const boots = Object.fromEntries((await store.lastBoots(10)).map((boot) => [boot.id, boot]));
  assert.deepEqual(
    Object.keys(oldStops).map((name) => boots[name]?.stop),
    [
      null,
      { class: "planned", by: "signal", reason: "", at: 50, clean: true },
      { class: "restart", by: "cli", reason: "", at: 60, clean: false },
      { class: "fault", by: "fault", reason: "", at: 70, clean: true },
    ],
  );
  // They served: none of them counts as a start that failed.
  assert.deepEqual(
    Object.keys(oldStops).map((name) => boots[name]?.readyAt),
    [5, 5, 5, 5],
  );
  assert.deepEqual([boots["died"]?.config, boots["died"]?.story], ["", {}]);

  assert.equal(await store.openBoot(aBoot("b2")), "opened");
  assert.deepEqual(
    (await store.deadBoots()).map(({ id }) => id),
    ["died"],
  );
});

test("S70 the file is brought up to date once", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "everturn-migrate-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "state.db");
  writeFirstVersion(file);
  await (await openSqliteStore({ file, writer: "inline" })).close();
  const again = await openSqliteStore({ file, writer: "inline" });
  assert.equal((await again.lastBoots(10)).find(({ id }) => id === "restarted")?.stop?.class, "restart");
  await again.close();
});

test("rules of 0.4.0 are kept; only those of the owner stay in effect", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "everturn-migrate-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, "state.db");
  const db = new DatabaseSync(file);
  const before = migrations.filter(({ version }) => version <= 6);
  db.exec(`PRAGMA journal_mode = WAL; ${before.map(({ sql }) => sql).join(";")}`);
  db.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = 6`);
  const put = db.prepare("INSERT INTO rules(id, tool, subject, by, at) VALUES (?, 'terminal', ?, ?, 1)");
  const makers = {
    page: "you at web/local/c1",
    chat: "you at terminal/local/c1",
    cli: "operator at telegram/bot/7",
    guest: "7 at telegram/bot/-5",
    key: "operator at api/api/operator/s1",
    unknown: "somebody",
  };
  for (const [id, by] of Object.entries(makers)) put.run(id, `make ${id}`, by);
  db.prepare("INSERT INTO timers(id, session, turn, due_at, text) VALUES ('r', 's', NULL, 5, 'tea')").run();
  db.close();

  const store = await openSqliteStore({ file, writer: "inline" });
  t.after(() => store.close());
  const rules = await store.rules();
  assert.deepEqual(
    rules.map(({ id, scope, held = false }) => [id, scope, held]),
    [
      ["page", "everywhere", false],
      ["chat", "everywhere", false],
      ["cli", "everywhere", false],
      ["guest", "everywhere", true],
      ["key", "everywhere", true],
      ["unknown", "everywhere", true],
    ],
  );
  for (const { id, held = false } of rules)
    assert.equal((await store.rule("terminal", `make ${id}`, "web/local/c2")) === null, held, id);
  assert.deepEqual(await store.nextTimer(), { id: "r", session: "s", turn: null, dueAt: 5, text: "tea" });
});
