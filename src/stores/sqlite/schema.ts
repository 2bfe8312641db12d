// The tables, as numbered migrations. Each runs once, in order, inside one transaction; a released one is never edited.
// Open rows have partial indexes of their own, so that start-up and every pick of the engine cost as much as the open
// work and never as much as history. Rows that change keep their large, unchanging text in the last column.

export type Migration = { readonly version: number; readonly sql: string };

/** Marks a file as ours ("EVTR"). */
export const applicationId = 0x45565452;

export const migrations: readonly Migration[] = [
  {
    version: 1,
    sql: `
CREATE TABLE facts(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE boots(
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, live INTEGER NOT NULL,
  started_at INTEGER NOT NULL, beat_at INTEGER NOT NULL, stop TEXT, facts TEXT NOT NULL);
CREATE INDEX boots_live ON boots(n) WHERE live = 1;

CREATE TABLE sessions(
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, key TEXT NOT NULL, platform TEXT NOT NULL,
  owner TEXT, fence INTEGER NOT NULL, created_at INTEGER NOT NULL, active_at INTEGER NOT NULL,
  ended_at INTEGER NOT NULL DEFAULT 0,
  address TEXT NOT NULL);
CREATE UNIQUE INDEX sessions_live ON sessions(key) WHERE ended_at = 0;
CREATE INDEX sessions_key ON sessions(key);
CREATE INDEX sessions_recent ON sessions(platform, active_at);

CREATE TABLE messages(
  n INTEGER PRIMARY KEY, session TEXT NOT NULL, turn TEXT, role TEXT NOT NULL, key TEXT NOT NULL,
  question TEXT, at INTEGER NOT NULL, text TEXT NOT NULL);
CREATE INDEX messages_session ON messages(session);

CREATE TABLE inbox(
  platform TEXT NOT NULL, account TEXT NOT NULL, key TEXT NOT NULL, turn TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY(platform, account, key)) WITHOUT ROWID;

CREATE TABLE cursors(
  platform TEXT NOT NULL, account TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY(platform, account)) WITHOUT ROWID;

CREATE TABLE turns(
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, session TEXT NOT NULL, state TEXT NOT NULL, boot TEXT,
  attempt INTEGER NOT NULL, version INTEGER NOT NULL, accepted_at INTEGER NOT NULL, now TEXT NOT NULL,
  input TEXT NOT NULL);
CREATE INDEX turns_ready ON turns(session, n) WHERE state IN ('queued', 'parked');
CREATE UNIQUE INDEX turns_running ON turns(session) WHERE state = 'running';
CREATE INDEX turns_waiting ON turns(session, n) WHERE state = 'waiting';
CREATE INDEX turns_question ON turns(json_extract(now, '$.question')) WHERE state = 'waiting';

CREATE TABLE entries(
  turn TEXT NOT NULL, n INTEGER NOT NULL, at INTEGER NOT NULL, entry TEXT NOT NULL,
  PRIMARY KEY(turn, n)) WITHOUT ROWID;

CREATE TABLE items(
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, session TEXT NOT NULL, turn TEXT, part INTEGER NOT NULL,
  state TEXT NOT NULL, boot TEXT, version INTEGER NOT NULL, created_at INTEGER NOT NULL, now TEXT NOT NULL,
  body TEXT NOT NULL);
CREATE INDEX items_pending ON items(session, n) WHERE state = 'pending';
CREATE INDEX items_sending ON items(boot) WHERE state = 'sending';
CREATE INDEX items_doubtful ON items(n) WHERE state = 'in-doubt';
CREATE INDEX items_dead ON items(n) WHERE state = 'dead';

CREATE TABLE timers(
  id TEXT PRIMARY KEY, session TEXT NOT NULL, turn TEXT, due_at INTEGER NOT NULL, text TEXT NOT NULL) WITHOUT ROWID;
CREATE INDEX timers_due ON timers(due_at);

CREATE TABLE strikes(key TEXT PRIMARY KEY, strikes INTEGER NOT NULL) WITHOUT ROWID;

CREATE VIRTUAL TABLE search USING fts5(text, content = 'messages', content_rowid = 'n', tokenize = 'unicode61');
INSERT INTO facts(name, value) VALUES ('searched', '0');
`,
  },
  {
    version: 2,
    sql: `
ALTER TABLE boots ADD COLUMN ready_at INTEGER;
ALTER TABLE boots ADD COLUMN story TEXT NOT NULL DEFAULT '{}';
UPDATE boots SET ready_at = started_at;
UPDATE boots SET stop = json_object(
  'class', CASE WHEN stop ->> 'by' = 'fault' THEN 'fault' WHEN stop ->> 'to' = 'restart' THEN 'restart' ELSE 'planned' END,
  'by', stop ->> 'by', 'reason', '', 'at', stop -> 'at', 'clean', stop -> 'clean') WHERE stop IS NOT NULL;

ALTER TABLE sessions ADD COLUMN standing TEXT NOT NULL DEFAULT 'active';
ALTER TABLE sessions ADD COLUMN resume TEXT;
ALTER TABLE sessions ADD COLUMN reset TEXT;

CREATE INDEX turns_restarting ON turns(n) WHERE state = 'restarting';
CREATE INDEX strikes_out ON strikes(key) WHERE strikes >= 3;
`,
  },
  {
    version: 3,
    sql: `
ALTER TABLE sessions ADD COLUMN model TEXT;
ALTER TABLE messages ADD COLUMN files TEXT;
ALTER TABLE messages ADD COLUMN undone INTEGER NOT NULL DEFAULT 0;

CREATE TABLE rules(
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, tool TEXT NOT NULL, subject TEXT NOT NULL, by TEXT NOT NULL,
  at INTEGER NOT NULL);
CREATE UNIQUE INDEX rules_subject ON rules(tool, subject);

CREATE TABLE memories(
  n INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, scope TEXT NOT NULL, at INTEGER NOT NULL, text TEXT NOT NULL);
CREATE INDEX memories_scope ON memories(scope);
CREATE VIRTUAL TABLE memory_search USING fts5(text, content = 'memories', content_rowid = 'n', tokenize = 'unicode61');
CREATE TRIGGER memories_in AFTER INSERT ON memories BEGIN
  INSERT INTO memory_search(rowid, text) VALUES (new.n, new.text);
END;
CREATE TRIGGER memories_out AFTER DELETE ON memories BEGIN
  INSERT INTO memory_search(memory_search, rowid, text) VALUES ('delete', old.n, old.text);
END;

CREATE TABLE summaries(
  session TEXT PRIMARY KEY, up_to INTEGER NOT NULL, at INTEGER NOT NULL, text TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE usage(
  day TEXT NOT NULL, model TEXT NOT NULL, session TEXT NOT NULL, steps INTEGER NOT NULL, input INTEGER NOT NULL,
  cached INTEGER NOT NULL, output INTEGER NOT NULL, cost INTEGER NOT NULL, unpriced INTEGER NOT NULL,
  PRIMARY KEY(day, model, session)) WITHOUT ROWID;
CREATE INDEX usage_session ON usage(session);
`,
  },
  {
    version: 4,
    sql: "ALTER TABLE sessions ADD COLUMN outside INTEGER NOT NULL DEFAULT 0;",
  },
  {
    version: 5,
    sql: `
CREATE TABLE pairings(
  id TEXT PRIMARY KEY, platform TEXT NOT NULL, account TEXT NOT NULL, sender TEXT NOT NULL, name TEXT,
  digest TEXT NOT NULL, asked_at INTEGER NOT NULL, expires_at INTEGER NOT NULL, told_at INTEGER NOT NULL,
  denied INTEGER NOT NULL, address TEXT NOT NULL) WITHOUT ROWID;
CREATE UNIQUE INDEX pairings_sender ON pairings(platform, account, sender);

CREATE TABLE paired(
  platform TEXT NOT NULL, account TEXT NOT NULL, sender TEXT NOT NULL, name TEXT, admin INTEGER NOT NULL,
  by TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY(platform, account, sender)) WITHOUT ROWID;

CREATE TRIGGER messages_reworded AFTER UPDATE OF text ON messages
WHEN old.n <= (SELECT CAST(value AS INTEGER) FROM facts WHERE name = 'searched') BEGIN
  INSERT INTO search(search, rowid, text) VALUES ('delete', old.n, old.text);
  INSERT INTO search(rowid, text) VALUES (new.n, new.text);
END;
`,
  },
  {
    version: 6,
    sql: "ALTER TABLE messages ADD COLUMN outside INTEGER NOT NULL DEFAULT 0;",
  },
  {
    version: 7,
    // Before, a rule held for everybody, from any sender. Only those of the owner stay in effect.
    sql: `
ALTER TABLE timers ADD COLUMN maker TEXT;
ALTER TABLE rules ADD COLUMN scope TEXT NOT NULL DEFAULT 'everywhere';
ALTER TABLE rules ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
UPDATE rules SET held = 1 WHERE by NOT LIKE '% at web/%' AND by NOT LIKE '% at terminal/%'
  AND (by NOT LIKE 'operator at %' OR by LIKE 'operator at api/%');
DROP INDEX rules_subject;
CREATE UNIQUE INDEX rules_scope ON rules(tool, subject, scope);
`,
  },
  {
    version: 8,
    sql: `
CREATE TABLE devices(
  id TEXT PRIMARY KEY, digest TEXT NOT NULL UNIQUE, name TEXT NOT NULL, created_at INTEGER NOT NULL,
  seen_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE access_links(digest TEXT PRIMARY KEY, expires_at INTEGER NOT NULL) WITHOUT ROWID;
`,
  },
  {
    version: 9,
    sql: `
ALTER TABLE strikes ADD COLUMN interruptions INTEGER NOT NULL DEFAULT 0;
CREATE INDEX interruptions_out ON strikes(key) WHERE interruptions >= 50;
`,
  },
];
