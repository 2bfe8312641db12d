// Every write as flat rows: a change becomes numbered statements with plain parameters. Flat, because they cross to the
// writer thread, where a nested object costs far more to copy than a short list of strings.

import type { SQLInputValue } from "node:sqlite";
import type { Change } from "../../core/change.ts";
import type { OutboxItem } from "../../core/outbox.ts";
import type { Session } from "../../core/session.ts";
import type { Turn } from "../../core/turn.ts";

type Expect =
  /** Whatever it changes is fine. */
  | "anything"
  /** Exactly one row, else the commit is a conflict. */
  | "one"
  /** One row, else the inbox key is known. */
  | "new"
  /** A query: the row of the turn and the session's fence. */
  | "check";

const table = {
  checkTurn: [
    "SELECT turns.version AS version, sessions.fence AS fence FROM turns, sessions WHERE turns.id = ? AND sessions.id = ?",
    "check",
  ],
  inbox: ["INSERT INTO inbox(platform, account, key, turn, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", "new"],
  cursor: [
    "INSERT INTO cursors(platform, account, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
    "anything",
  ],
  newSession: [
    "INSERT INTO sessions(id, key, platform, owner, fence, created_at, active_at, ended_at, address, reset, model) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT(id) DO NOTHING",
    "anything",
  ],
  active: ["UPDATE sessions SET active_at = ? WHERE id = ?", "one"],
  ended: ["UPDATE sessions SET ended_at = ? WHERE id = ? AND ended_at = 0", "one"],
  owner: ["UPDATE sessions SET owner = ?, fence = ? WHERE id = ? AND fence = ?", "one"],
  message: [
    "INSERT INTO messages(session, turn, role, key, question, at, text, files, outside) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "one",
  ],
  newTurn: [
    "INSERT INTO turns(id, session, state, boot, attempt, version, accepted_at, now, input) VALUES (?, ?, ?, ?, ?, 1, ?, ?, ?)",
    "one",
  ],
  turn: ["UPDATE turns SET state = ?, boot = ?, attempt = ?, version = ?, now = ? WHERE id = ? AND version = ?", "one"],
  entry: ["INSERT INTO entries(turn, n, at, entry) VALUES (?, ?, ?, ?)", "one"],
  newItem: [
    "INSERT INTO items(id, session, turn, part, state, boot, version, created_at, now, body) VALUES (?, ?, ?, ?, ?, ?, 1, ?, ?, ?)",
    "one",
  ],
  item: ["UPDATE items SET state = ?, boot = ?, version = ?, now = ? WHERE id = ? AND version = ?", "one"],
  timer: ["INSERT INTO timers(id, session, turn, due_at, text, maker) VALUES (?, ?, ?, ?, ?, ?)", "one"],
  dropTimer: ["DELETE FROM timers WHERE id = ?", "anything"],
  strikes: [
    "INSERT INTO strikes(key, strikes) VALUES (?, ?) ON CONFLICT DO UPDATE SET strikes = excluded.strikes",
    "anything",
  ],
  interruptions: [
    "INSERT INTO strikes(key, strikes, interruptions) VALUES (?, 0, ?) ON CONFLICT DO UPDATE SET interruptions = excluded.interruptions",
    "anything",
  ],
  dropStrikes: ["DELETE FROM strikes WHERE key = ?", "anything"],
  resume: ["UPDATE sessions SET resume = ? WHERE id = ?", "one"],
  standing: ["UPDATE sessions SET standing = ? WHERE id = ?", "one"],
  rebound: ["UPDATE turns SET session = ? WHERE id = ?", "one"],
  words: ["UPDATE messages INDEXED BY messages_session SET session = ? WHERE session = ? AND turn = ?", "anything"],
  stop: ["UPDATE boots SET stop = ? WHERE id = ?", "one"],
  ready: ["UPDATE boots SET ready_at = ? WHERE id = ?", "one"],
  story: ["UPDATE boots SET story = json_patch(story, ?) WHERE id = ?", "one"],
  rule: [
    "INSERT INTO rules(id, tool, subject, by, at, scope, held) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    "anything",
  ],
  dropRule: ["DELETE FROM rules WHERE id = ?", "one"],
  memory: ["INSERT INTO memories(id, scope, at, text) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", "anything"],
  dropMemory: ["DELETE FROM memories WHERE id = ? AND scope = ?", "anything"],
  summary: [
    "INSERT INTO summaries(session, up_to, at, text) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET up_to = excluded.up_to, at = excluded.at, text = excluded.text",
    "anything",
  ],
  model: ["UPDATE sessions SET model = ? WHERE id = ?", "one"],
  outside: ["UPDATE sessions SET outside = 1 WHERE id = ?", "one"],
  guests: ["UPDATE sessions SET outside = 2 WHERE id = ? AND outside = 0", "anything"],
  usage: [
    `INSERT INTO usage(day, model, session, steps, input, cached, output, cost, unpriced)
     VALUES (?, ?, ?, 1, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET steps = steps + 1, input = input + excluded.input,
     cached = cached + excluded.cached, output = output + excluded.output, cost = cost + excluded.cost,
     unpriced = unpriced + excluded.unpriced`,
    "anything",
  ],
  undone: ["UPDATE messages INDEXED BY messages_session SET undone = 1 WHERE session = ? AND turn = ?", "anything"],
  input: [
    "UPDATE turns SET input = ?, version = version + 1 WHERE id = ? AND version = ? AND state = 'queued' AND attempt = 0",
    "one",
  ],
  wording: [
    "UPDATE messages INDEXED BY messages_session SET text = ?, files = ? WHERE session = ? AND key = ? AND role = 'user'",
    "anything",
  ],
  pairing: [
    "INSERT INTO pairings(id, platform, account, sender, name, digest, asked_at, expires_at, told_at, denied, address) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    "one",
  ],
  dropPairing: ["DELETE FROM pairings WHERE id = ?", "one"],
  paired: [
    "INSERT INTO paired(platform, account, sender, name, admin, by, at) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET name = excluded.name, admin = excluded.admin, by = excluded.by, at = excluded.at",
    "anything",
  ],
  dropPaired: ["DELETE FROM paired WHERE platform = ? AND account = ? AND sender = ?", "one"],
  device: ["INSERT INTO devices(id, digest, name, created_at, seen_at) VALUES (?, ?, ?, ?, ?)", "one"],
  seen: ["UPDATE devices SET seen_at = ? WHERE id = ?", "anything"],
  dropDevice: ["DELETE FROM devices WHERE id = ?", "one"],
  link: ["INSERT INTO access_links(digest, expires_at) VALUES (?, ?)", "one"],
  dropLink: ["DELETE FROM access_links WHERE digest = ?", "one"],
  fact: ["INSERT INTO facts(name, value) VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value", "anything"],
  dropFact: ["DELETE FROM facts WHERE name = ?", "anything"],
} as const satisfies Readonly<Record<string, readonly [sql: string, expect: Expect]>>;

export type StatementName = keyof typeof table;
export const statementNames = Object.keys(table) as readonly StatementName[];

export function sqlOf(name: StatementName): string {
  return table[name][0];
}

export function expectOf(name: StatementName): Expect {
  return table[name][1];
}

/** Number of the statement, then its parameters. */
export type Row = readonly [statement: number, ...parameters: SQLInputValue[]];

const numbers = Object.fromEntries(statementNames.map((name, i) => [name, i])) as Readonly<
  Record<StatementName, number>
>;

export function toRow(change: Change): Row {
  if ("check" in change) return [numbers.checkTurn, change.turn, change.session, change.version, change.fence];
  if ("drop" in change) return dropRow(change);
  switch (change.put) {
    case "inbox":
      return [numbers.inbox, change.platform, change.account, change.key, change.turn, change.at];
    case "cursor":
      return [numbers.cursor, change.platform, change.account, change.value];
    case "session":
      return sessionRow(change.session);
    case "active":
      return [numbers.active, change.at, change.session];
    case "ended":
      return [numbers.ended, change.at, change.session];
    case "owner":
      return [numbers.owner, change.boot, change.fence, change.session, change.fence - 1];
    case "message": {
      const { session, turn, role, key, question, at, text, files, outside, carries } = change.message;
      const strange = outside === true ? 1 : carries === true ? 2 : 0;
      return [numbers.message, session, turn, role, key, orNull(question), at, text, orNull(files), strange];
    }
    case "turn":
      return turnRow(change.turn);
    case "entry":
      return [numbers.entry, change.turn, change.n, change.at, JSON.stringify(change.entry)];
    case "item":
      return itemRow(change.item);
    case "timer": {
      const { id, session, turn, dueAt, text, maker } = change.timer;
      return [numbers.timer, id, session, turn, dueAt, text, orNull(maker)];
    }
    case "strikes":
      return [numbers.strikes, change.key, change.strikes];
    case "interruptions":
      return [numbers.interruptions, change.key, change.interruptions];
    case "resume":
      return [numbers.resume, change.resume === null ? null : JSON.stringify(change.resume), change.session];
    case "standing":
      return [numbers.standing, change.standing, change.session];
    case "rebound":
      return [numbers.rebound, change.session, change.turn];
    case "words":
      return [numbers.words, change.session, change.from, change.turn];
    case "stop":
      return [numbers.stop, JSON.stringify(change.stop), change.boot];
    case "ready":
      return [numbers.ready, change.at, change.boot];
    case "story":
      return [numbers.story, JSON.stringify(change.story), change.boot];
    case "fact":
      return [numbers.fact, change.name, change.value];
    case "device":
    case "seen":
    case "link":
      return deviceRow(change);
    case "input":
    case "wording":
    case "pairing":
    case "paired":
      return accessRow(change);
    default:
      return agentRow(change);
  }
}

function sessionRow(session: Session): Row {
  const { id, key, address, owner, fence, createdAt, activeAt, endedAt, reset, model } = session;
  const times = [createdAt, activeAt, endedAt ?? 0];
  return [numbers.newSession, id, key, address.platform, owner, fence, ...times, JSON.stringify(address), reset, model];
}

/** Browsers that are signed in, and the links that let them in. */
function deviceRow(change: Extract<Change, { put: "device" | "seen" | "link" }>): Row {
  switch (change.put) {
    case "device": {
      const { id, digest, name, createdAt, seenAt } = change.device;
      return [numbers.device, id, digest, name, createdAt, seenAt];
    }
    case "seen":
      return [numbers.seen, change.at, change.device];
    case "link":
      return [numbers.link, change.link.digest, change.link.expiresAt];
  }
}

/** Who is let in, and what people say anew. */
function accessRow(change: Extract<Change, { put: "input" | "wording" | "pairing" | "paired" }>): Row {
  switch (change.put) {
    case "input":
      return [numbers.input, JSON.stringify(change.input), change.turn, change.version - 1];
    case "wording": {
      const files = change.files.length === 0 ? null : JSON.stringify(change.files);
      return [numbers.wording, change.text, files, change.session, change.key];
    }
    case "pairing": {
      const { id, sender, name, digest, askedAt, expiresAt, toldAt, denied, address } = change.pairing;
      const { platform, account } = address;
      const row = [id, platform, account, sender, name, digest, askedAt, expiresAt, toldAt, denied ? 1 : 0];
      return [numbers.pairing, ...row, JSON.stringify(address)];
    }
    case "paired": {
      const { platform, account, sender, name, admin, by, at } = change.paired;
      return [numbers.paired, platform, account, sender, name, admin ? 1 : 0, by, at];
    }
  }
}

/** What agents leave behind: rules, memories, summaries, choices and what they cost. */
function agentRow(
  change: Extract<Change, { put: "rule" | "memory" | "summary" | "model" | "outside" | "guests" | "usage" | "undone" }>,
): Row {
  switch (change.put) {
    case "rule": {
      const { id, tool, subject, by, at, scope, held } = change.rule;
      return [numbers.rule, id, tool, subject, by, at, scope, held === true ? 1 : 0];
    }
    case "memory": {
      const { id, scope, at, text } = change.memory;
      return [numbers.memory, id, scope, at, text];
    }
    case "summary":
      return [numbers.summary, change.session, change.upTo, change.at, change.text];
    case "model":
      return [numbers.model, change.model, change.session];
    case "outside":
      return [numbers.outside, change.session];
    case "guests":
      return [numbers.guests, change.session];
    case "usage": {
      const { model, input, cached, output, cost } = change.usage;
      const { day, session } = change;
      return [numbers.usage, day, model, session, input, cached, output, cost ?? 0, cost === null ? 1 : 0];
    }
    case "undone":
      return [numbers.undone, change.session, change.turn];
  }
}

function orNull(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value);
}

function dropRow(change: Extract<Change, { drop: unknown }>): Row {
  switch (change.drop) {
    case "timer":
      return [numbers.dropTimer, change.id];
    case "strikes":
      return [numbers.dropStrikes, change.key];
    case "rule":
      return [numbers.dropRule, change.id];
    case "memory":
      return [numbers.dropMemory, change.id, change.scope];
    case "pairing":
      return [numbers.dropPairing, change.id];
    case "paired":
      return [numbers.dropPaired, change.platform, change.account, change.sender];
    case "device":
      return [numbers.dropDevice, change.id];
    case "link":
      return [numbers.dropLink, change.digest];
    case "fact":
      return [numbers.dropFact, change.name];
  }
}

function turnRow(turn: Turn): Row {
  const { id, session, attempt, version, acceptedAt, now, input } = turn;
  const boot = now.state === "running" ? now.boot : null;
  if (version === 1) {
    return [
      numbers.newTurn,
      id,
      session,
      now.state,
      boot,
      attempt,
      acceptedAt,
      JSON.stringify(now),
      JSON.stringify(input),
    ];
  }
  return [numbers.turn, now.state, boot, attempt, version, JSON.stringify(now), id, version - 1];
}

function itemRow(item: OutboxItem): Row {
  const { id, session, turn, part, createdAt, version, now, to, text, files, question, hints, edits } = item;
  const boot = now.state === "sending" ? now.boot : null;
  if (version === 1) {
    const body = JSON.stringify({ to, text, files, question, hints, edits });
    return [numbers.newItem, id, session, turn, part, now.state, boot, createdAt, JSON.stringify(now), body];
  }
  return [numbers.item, now.state, boot, version, JSON.stringify(now), id, version - 1];
}
