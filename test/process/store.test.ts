// A state.db that is not what this version expects: from a newer version, cut short, or somebody else's. It is refused
// with what to do, and not one byte in the home's database files changes.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { client } from "./client.ts";
import { atEnd, newHome, refusedStart, runGateway, until } from "./stage.ts";

/** A home whose gateway was ended in the given way, with a conversation in it. */
async function usedHome(t: TestContext, end: "SIGTERM" | "SIGKILL"): Promise<string> {
  const home = newHome(t);
  const gateway = await runGateway(t, home);
  const ask = client(gateway);
  for (let i = 0; i < 20; i++) await ask.send("c1", `m${i}`, `word ${i} ${"x".repeat(5_000)}`);
  await until(
    () => ask.transcript("c1"),
    (all) => all.length === 40,
    "all is answered",
  );
  await gateway.end(end);
  return home;
}

/** What the files of the store hold, and which there are; the index of the log is made anew by every reader. */
function bytesOf(home: string): Record<string, string> {
  const names = ["state.db", "state.db-wal", "state.db-journal"].filter((name) => existsSync(join(home, name)));
  const kept = names.filter((name) => name === "state.db" || statSync(join(home, name)).size > 0);
  return Object.fromEntries(
    kept.map((name) => [
      name,
      createHash("sha256")
        .update(readFileSync(join(home, name)))
        .digest("hex"),
    ]),
  );
}

/** Refused by `gateway run`, twice, with the words, and nothing has changed. */
async function assertRefused(t: TestContext, home: string, says: RegExp): Promise<void> {
  const before = bytesOf(home);
  for (let i = 0; i < 2; i++) {
    const refused = await refusedStart(t, home);
    assert.equal(refused.code, 78, `${refused.code}: ${refused.err}${refused.out}`);
    assert.match(refused.err, says);
    assert.equal(refused.out, "");
    assert.doesNotMatch(refused.err, /^\s+at /m, "no stack is shown");
  }
  assert.deepEqual(bytesOf(home), before, "the files were changed");
}

function change(home: string, sql: string): void {
  const db = new DatabaseSync(join(home, "state.db"));
  db.exec(sql);
  db.close();
}

test("a store of a newer version is refused, unchanged, and usable by the newer version afterwards", async (t) => {
  const home = await usedHome(t, "SIGTERM");
  const db = new DatabaseSync(join(home, "state.db"), { readOnly: true });
  const version = Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
  db.close();
  change(home, "PRAGMA user_version = 99");
  await assertRefused(
    t,
    home,
    /state\.db was written by a newer Everturn \(schema 99, .*\)\. Install the newer version again, or restore a backup/,
  );
  change(home, `PRAGMA user_version = ${version}`);
  const gateway = await runGateway(t, home);
  assert.equal((await client(gateway).transcript("c1")).length, 40);
  assert.equal(await gateway.end(), 0);
});

test("a store of a newer version that was killed is refused, and its log is left as it is", async (t) => {
  const home = await usedHome(t, "SIGKILL");
  const aside = join(dirname(home), "aside");
  // As a killed gateway of a newer version leaves it: the change is in the log, not in the file yet.
  cpSync(home, aside, { recursive: true });
  const writer = new DatabaseSync(join(aside, "state.db"));
  atEnd(t, () => writer.isOpen && writer.close());
  writer.exec("PRAGMA user_version = 99");
  for (const name of ["state.db", "state.db-wal"]) copyFileSync(join(aside, name), join(home, name));
  writer.close();
  rmSync(join(home, "state.db-shm"), { force: true });
  assert.ok(statSync(join(home, "state.db-wal")).size > 0);
  await assertRefused(t, home, /newer Everturn \(schema 99/);
});

test("a store that is cut short is refused, wherever the cut is", async (t) => {
  const home = await usedHome(t, "SIGTERM");
  const file = join(home, "state.db");
  const { size } = statSync(file);
  assert.ok(size > 100_000, "there is something to cut");
  const whole = readFileSync(file);
  for (const left of [1, 100, 4_096, Math.floor(size / 2), size - 4_096, size - 1]) {
    writeFileSync(file, whole);
    truncateSync(file, left);
    await assertRefused(
      t,
      home,
      /state\.db .*(?:cut short|damaged|not a database).*not touched\. Restore a backup, or move it away/,
    );
    assert.equal(statSync(file).size, left);
  }
  writeFileSync(file, whole);
  const gateway = await runGateway(t, home);
  assert.equal((await client(gateway).transcript("c1")).length, 40);
  assert.equal(await gateway.end(), 0);
});

test("a store that is cut short and has a log beside it is told as such, and not as a mistake of ours", async (t) => {
  const home = await usedHome(t, "SIGTERM");
  // A second life that ends by a kill leaves a log that holds little of the whole.
  const gateway = await runGateway(t, home);
  await client(gateway).send("c2", "m0", "count to 9 slowly");
  await gateway.end("SIGKILL");
  const file = join(home, "state.db");
  const names = ["state.db", "state.db-wal"].map((name) => join(home, name));
  const whole = names.map((name) => readFileSync(name));
  for (const pages of [8, Math.floor(statSync(file).size / 2 / 4_096)]) {
    for (const [i, name] of names.entries()) writeFileSync(name, whole[i] ?? assert.fail());
    rmSync(`${file}-shm`, { force: true });
    truncateSync(file, pages * 4_096);
    const before = readFileSync(file);
    const refused = await refusedStart(t, home);
    assert.equal(refused.code, 78, `${pages} pages left, ${refused.code}: ${refused.err}`);
    assert.match(refused.err, /state\.db .*(?:cut short|damaged).*Restore a backup, or move it away/);
    assert.deepEqual(readFileSync(file), before, "the file was changed");
  }
});

test("a file of somebody else is refused: text, noise, other databases", async (t) => {
  const texts: readonly (readonly [string, Buffer])[] = [
    ["a letter", Buffer.from("Dear state.db,\n".repeat(500))],
    ["a short note", Buffer.from("x")],
    ["noise", createHash("sha512").update("noise").digest()],
    ["the head of a database", Buffer.concat([Buffer.from("SQLite format 3\0"), Buffer.alloc(5_000, 7)])],
  ];
  for (const [name, bytes] of texts) {
    const home = newHome(t);
    mkdirSync(home, { mode: 0o700 });
    writeFileSync(join(home, "state.db"), bytes);
    await assertRefused(
      t,
      home,
      /state\.db is damaged or not a database.*not touched\. Restore a backup, or move it away/,
    );
    assert.deepEqual(readFileSync(join(home, "state.db")), bytes, name);
  }
  for (const mode of ["DELETE", "WAL"]) {
    const home = newHome(t);
    mkdirSync(home, { mode: 0o700 });
    change(home, `PRAGMA journal_mode = ${mode}; CREATE TABLE wine(year INTEGER); INSERT INTO wine VALUES (1982)`);
    await assertRefused(
      t,
      home,
      /state\.db is a database, but not one of Everturn's\. It was not touched\. Move it away, or set EVERTURN_HOME/,
    );
  }
});

test("another program's database is not written to, not even by clearing its log", async (t) => {
  const home = newHome(t);
  mkdirSync(home, { mode: 0o700 });
  const aside = join(dirname(home), "other.db");
  const other = new DatabaseSync(aside);
  atEnd(t, () => other.close());
  other.exec("PRAGMA journal_mode = WAL; CREATE TABLE wine(year INTEGER); INSERT INTO wine VALUES (1982)");
  for (const end of ["", "-wal"]) copyFileSync(`${aside}${end}`, join(home, `state.db${end}`));
  assert.ok(statSync(join(home, "state.db-wal")).size > 0);
  await assertRefused(t, home, /not one of Everturn's\. It was not touched/);
});

test("a store without anything in it, as a kill in the first moments leaves it, is filled", async (t) => {
  for (const sql of ["PRAGMA journal_mode = WAL", "PRAGMA journal_mode = DELETE; PRAGMA user_version = 0", ""]) {
    const home = newHome(t);
    mkdirSync(home, { mode: 0o700 });
    if (sql === "") writeFileSync(join(home, "state.db"), "");
    else change(home, sql);
    const gateway = await runGateway(t, home);
    await client(gateway).send("c1", "m1", "hello");
    assert.equal(await gateway.end(), 0);
  }
});

test("a folder named state.db is refused", async (t) => {
  const home = newHome(t);
  mkdirSync(join(home, "state.db"), { recursive: true, mode: 0o700 });
  const refused = await refusedStart(t, home);
  assert.ok(refused.code === 1 || refused.code === 78, `${refused.code}: ${refused.err}`);
  assert.match(refused.err, /state\.db cannot be opened/);
});
