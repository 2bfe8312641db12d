// `node bench/seed.ts <home> [sessions]`: fills a home with history (per session ten messages, five finished turns with
// their replies) and 64 turns that a dead gateway left unfinished.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openConnection } from "../src/stores/sqlite/open.ts";

const unfinished = 64;
const turnsEach = 5;
const words = "An ordinary sentence of a chat, about as long as people write them, repeated for size. ";

export function seed(home: string, sessions: number): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const file = join(home, "state.db");
  openConnection(file, "write").close();
  const db = new DatabaseSync(file);
  db.exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000");
  db.exec("BEGIN");
  history(db, sessions);
  openWork(db);
  db.exec("COMMIT; PRAGMA journal_mode = WAL");
  db.close();
}

function numbers(count: number): string {
  return `WITH RECURSIVE s(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM s WHERE i + 1 < ${count})`;
}

function history(db: DatabaseSync, sessions: number): void {
  const turns = sessions * turnsEach;
  const session = `'s' || printf('%019d', i / ${turnsEach})`;
  const turn = "'t' || printf('%019d', i)";
  const at = "1700000000000 + i";
  const address = "json_object('platform', 'web', 'account', 'local', 'chat', 'c' || i)";
  db.exec(`${numbers(sessions)} INSERT INTO sessions(id, key, platform, owner, fence, created_at, active_at, address)
    SELECT 's' || printf('%019d', i), 'web/local/c' || i, 'web', 'old', 1, ${at}, ${at}, ${address} FROM s`);
  db.exec(
    `${numbers(turns)} INSERT INTO inbox SELECT 'web', 'local', 'k' || printf('%019d', i), ${turn}, ${at} FROM s`,
  );
  db.exec(`${numbers(turns)} INSERT INTO turns(id, session, state, boot, attempt, version, accepted_at, now, input)
    SELECT ${turn}, ${session}, 'done', NULL, 1, 3, ${at}, '{"state":"done","outcome":"replied","doneAt":0}', '{"key":"k","body":{"kind":"text","text":"${words}"}}' FROM s`);
  for (const role of ["user", "assistant"]) {
    db.exec(`${numbers(turns)} INSERT INTO messages(session, turn, role, key, question, at, text)
      SELECT ${session}, ${turn}, '${role}', 'k' || i, NULL, ${at}, '${words.repeat(2)}' FROM s`);
  }
  db.exec(`${numbers(turns)} INSERT INTO items(id, session, turn, part, state, boot, version, created_at, now, body)
    SELECT ${turn} || '.0', ${session}, ${turn}, 0, 'delivered', NULL, 2, ${at}, '{"state":"delivered","remoteId":"r","deliveredAt":0}', '{"to":{},"text":"${words}"}' FROM s`);
  // The search index belongs to the history too, but filling it takes longer than everything else together.
  db.exec("UPDATE facts SET value = (SELECT max(n) FROM messages) WHERE name = 'searched'");
}

function openWork(db: DatabaseSync): void {
  db.exec(
    `INSERT INTO boots(id, live, started_at, beat_at, facts) VALUES ('dead', 1, 0, 0, '{"pid":1,"host":"h","machine":"m","version":"0"}')`,
  );
  const input = db.prepare("SELECT json(?) AS j");
  for (let i = 0; i < unfinished; i++) {
    const address = { platform: "web", account: "local", chat: `open-${i}` };
    const body = { kind: "text", text: "count to 900 slowly", files: [] };
    const inbound = input.get(JSON.stringify({ key: `open-${i}`, from: address, sender: "you", body, sentAt: 0 }));
    const [session, turn] = [`open-s${i}`, `open-t${i}`];
    db.prepare(
      "INSERT INTO sessions(id, key, platform, owner, fence, created_at, active_at, address) VALUES (?, ?, 'web', 'dead', 1, 0, 0, ?)",
    ).run(session, `web/local/open-${i}`, JSON.stringify(address));
    db.prepare(
      "INSERT INTO turns(id, session, state, boot, attempt, version, accepted_at, now, input) VALUES (?, ?, 'running', 'dead', 1, 1, 0, ?, ?)",
    ).run(turn, session, JSON.stringify({ state: "running", boot: "dead", startedAt: 0 }), String(inbound?.["j"]));
    const entry = db.prepare("INSERT INTO entries(turn, n, at, entry) VALUES (?, ?, 0, ?)");
    for (let n = 0; n < 10; n++)
      entry.run(turn, n, JSON.stringify({ type: "said", text: String(n + 1), calls: [], final: false }));
  }
}

if (import.meta.main) {
  const [home, sessions = "1000000"] = process.argv.slice(2);
  if (home === undefined) {
    console.error("usage: node bench/seed.ts <home> [sessions]");
    process.exit(64);
  }
  seed(home, Number(sessions));
}
