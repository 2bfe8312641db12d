// What people look at: transcripts, lists, counts, search. Reads by index and with limits; never on the path of a turn.

import { type DatabaseSync, backup } from "node:sqlite";
import type { Instant } from "../../core/ids.ts";
import type { Address, Message } from "../../core/message.ts";
import { sessionKey } from "../../core/session.ts";
import type { Archive, Counts, ItemFilter, SessionFilter, SessionLine, TurnFilter } from "../../ports/store.ts";
import { agentReads, toMatch } from "./agents.ts";
import type { Desk } from "./desk.ts";
import { reading } from "./file/connect.ts";
import {
  type Raw,
  toAddress,
  toBoot,
  toDevice,
  toEntry,
  toItem,
  toLink,
  toMessage,
  toPaired,
  toPairing,
  toSession,
  toTurn,
} from "./rows.ts";

/** Titles are the first words of a conversation. */
const titleMax = 80;
const indexedAtOnce = 2_000;

export function archiveReads(db: DatabaseSync, desk: Desk | null): Archive {
  const all = (sql: string, ...parameters: (string | number)[]): readonly Raw[] =>
    reading(db, () => db.prepare(sql).all(...parameters));
  const get = (sql: string, ...parameters: (string | number)[]): Raw | undefined =>
    reading(db, () => db.prepare(sql).get(...parameters));

  // A conversation has as many sessions as its user started over.
  const placeSessions = "SELECT id FROM sessions INDEXED BY sessions_key WHERE key = ?";

  function after(address: Address, n: number, limit: number): readonly Message[] {
    const sql = `SELECT * FROM messages INDEXED BY messages_session
      WHERE session IN (${placeSessions}) AND n > ? ORDER BY n LIMIT ?`;
    return all(sql, sessionKey(address), n, limit).map(toMessage);
  }

  /** The newest session first, until there is enough; one more, because its last answers may be younger than the next's first. */
  function before(address: Address, n: number, limit: number): readonly Message[] {
    const sql =
      "SELECT * FROM messages INDEXED BY messages_session WHERE session = ? AND n < ? ORDER BY n DESC LIMIT ?";
    const found: Message[] = [];
    let enough = false;
    for (const { id } of all(`${placeSessions} ORDER BY n DESC`, sessionKey(address))) {
      found.push(...all(sql, id as string, n, limit).map(toMessage));
      if (enough) break;
      enough = found.length >= limit;
    }
    return found.toSorted((a, b) => a.n - b.n).slice(-limit);
  }

  function toLine(raw: Raw): SessionLine {
    const session = toSession(raw);
    const firstWords = (of: string) =>
      get(
        `SELECT substr(text, 1, ?) AS title FROM messages INDEXED BY messages_session WHERE session = ? AND ${of} ORDER BY n LIMIT 1`,
        titleMax,
        session.id,
      );
    const first = firstWords("role = 'user' AND text NOT LIKE '/%'") ?? firstWords("role <> 'user'");
    const last = get("SELECT max(n) AS n FROM messages INDEXED BY messages_session WHERE session = ?", session.id);
    return { ...session, title: (first?.["title"] ?? "") as string, lastN: Number(last?.["n"] ?? 0) };
  }

  /** The platforms that have sessions, found by skipping through the index. */
  function platforms(): readonly string[] {
    const sql = `WITH RECURSIVE p(x) AS (SELECT min(platform) FROM sessions UNION ALL
      SELECT (SELECT min(platform) FROM sessions WHERE platform > x) FROM p WHERE x IS NOT NULL)
      SELECT x FROM p WHERE x IS NOT NULL`;
    return all(sql).map((raw) => raw["x"] as string);
  }

  /** The index is filled behind the turns; a search catches up first. */
  async function indexAll(): Promise<void> {
    while (desk !== null && (await desk.order({ type: "index", limit: indexedAtOnce })) > 0);
  }

  return {
    history: async (session, limit) =>
      all(
        "SELECT * FROM messages INDEXED BY messages_session WHERE session = ? AND undone = 0 ORDER BY n DESC LIMIT ?",
        session,
        limit,
      )
        .map(toMessage)
        .toReversed(),
    messagesAfter: async (address, n, limit) => after(address, n, limit),
    messagesBefore: async (address, n, limit) => before(address, n ?? Number.MAX_SAFE_INTEGER, limit),
    async sessions({ platform, limit, before }: SessionFilter) {
      const sql = `SELECT * FROM sessions INDEXED BY sessions_recent
        WHERE platform = ? AND active_at < ? ORDER BY active_at DESC LIMIT ?`;
      const names = platform === undefined ? platforms() : [platform];
      const found = names.flatMap((name) => all(sql, name, before ?? Number.MAX_SAFE_INTEGER, limit));
      found.sort((a, b) => Number(b["active_at"]) - Number(a["active_at"]));
      return found.slice(0, limit).map(toLine);
    },
    turns: async (filter) => turnsBy(all, filter).map(toTurn),
    async entries(turn, newest) {
      const found = all("SELECT * FROM entries WHERE turn = ? ORDER BY n DESC LIMIT ?", turn, newest ?? -1);
      return found.toReversed().map((raw) => ({
        n: raw["n"] as number,
        at: raw["at"] as Instant,
        entry: toEntry(raw),
      }));
    },
    items: async (filter) => itemsBy(all, filter).map(toItem),
    async uncertainAddresses() {
      const found = all(`SELECT DISTINCT body -> '$.to' AS address FROM items ${openItems["in-doubt"]}`).map(toAddress);
      return [...new Map(found.map((address) => [sessionKey(address), address])).values()];
    },
    async search(text, limit) {
      const match = toMatch(text);
      if (match === "") return [];
      await indexAll();
      const sql =
        "SELECT messages.* FROM search, messages WHERE search MATCH ? AND messages.n = search.rowid ORDER BY search.rowid DESC LIMIT ?";
      return all(sql, match, limit).map(toMessage);
    },
    ...agentReads(all, indexAll),
    pairings: async () => all("SELECT * FROM pairings ORDER BY id").map(toPairing),
    devices: async () => all("SELECT * FROM devices ORDER BY created_at, id").map(toDevice),
    links: async () => all("SELECT * FROM access_links ORDER BY expires_at").map(toLink),
    pairedPeople: async () => all("SELECT * FROM paired ORDER BY at, platform, sender").map(toPaired),
    async counts() {
      const of = (sql: string) => Number(get(sql)?.["count"]);
      return countsOf(of);
    },
    lastBoots: async (limit) => all("SELECT * FROM boots ORDER BY n DESC LIMIT ?", limit).map(toBoot),
    async backup(file) {
      await backup(db, file);
    },
  };
}

export type All = (sql: string, ...parameters: (string | number)[]) => readonly Raw[];

const openTurns: Readonly<Record<keyof Counts["turns"], string>> = {
  queued: "INDEXED BY turns_ready WHERE state IN ('queued', 'parked') AND state = 'queued'",
  parked: "INDEXED BY turns_ready WHERE state IN ('queued', 'parked') AND state = 'parked'",
  running: "INDEXED BY turns_running WHERE state = 'running'",
  waiting: "INDEXED BY turns_waiting WHERE state = 'waiting'",
  restarting: "INDEXED BY turns_restarting WHERE state = 'restarting'",
};

function turnsBy(all: All, { session, state, limit }: TurnFilter): readonly Raw[] {
  const open = Object.keys(openTurns) as readonly (keyof typeof openTurns)[];
  const states = state === "open" ? open : state === undefined || state === "done" ? [] : [state];
  if (states.length > 0) {
    const bySession = session === undefined ? "" : " AND session = ?";
    const parameters = session === undefined ? [] : [session];
    const found = states.flatMap((one) =>
      all(`SELECT * FROM turns ${openTurns[one]}${bySession} ORDER BY n DESC LIMIT ?`, ...parameters, limit),
    );
    return found.toSorted((a, b) => Number(b["n"]) - Number(a["n"])).slice(0, limit);
  }
  const done = state === "done" ? " AND state = 'done'" : "";
  if (session === undefined) return all(`SELECT * FROM turns WHERE 1${done} ORDER BY n DESC LIMIT ?`, limit);
  // Turns of a session are found through its messages, which have the index already.
  const ids = "SELECT turn FROM messages INDEXED BY messages_session WHERE session = ?";
  return all(`SELECT * FROM turns WHERE id IN (${ids})${done} ORDER BY n DESC LIMIT ?`, session, limit);
}

const openItems: Readonly<Record<string, string>> = {
  pending: "INDEXED BY items_pending WHERE state = 'pending'",
  sending: "INDEXED BY items_sending WHERE state = 'sending'",
  "in-doubt": "INDEXED BY items_doubtful WHERE state = 'in-doubt'",
  dead: "INDEXED BY items_dead WHERE state = 'dead'",
};

/** As JSON, because half a surrogate pair is only the same there. */
function addressedTo(to: Address | undefined): { readonly where: string; readonly parameters: readonly string[] } {
  if (to === undefined) return { where: "", parameters: [] };
  const parts = Object.entries({ platform: to.platform, account: to.account, chat: to.chat, thread: to.thread });
  const conditions = parts.map(
    ([name, value]) => ` AND body -> '$.to.${name}' IS ${value === undefined ? "NULL" : "?"}`,
  );
  const parameters = parts.flatMap(([, value]) => (value === undefined ? [] : [JSON.stringify(value)]));
  return { where: conditions.join(""), parameters };
}

function itemsBy(all: All, { turn, state, to, limit }: ItemFilter): readonly Raw[] {
  // The id of a turn's item begins with the turn's id and a dot; "/" is the character after ".".
  if (turn !== undefined) {
    return all("SELECT * FROM items WHERE id > ? AND id < ? ORDER BY n LIMIT ?", `${turn}.`, `${turn}/`, limit);
  }
  const { where, parameters } = addressedTo(to);
  if (state === undefined || state === "delivered") {
    const delivered = state === "delivered" ? " AND state = 'delivered'" : "";
    return all(`SELECT * FROM items WHERE 1${delivered}${where} ORDER BY n DESC LIMIT ?`, ...parameters, limit);
  }
  const states = state === "open" ? ["pending", "sending", "in-doubt"] : [state];
  const found = states.flatMap((one) =>
    all(`SELECT * FROM items ${openItems[one]}${where} ORDER BY n DESC LIMIT ?`, ...parameters, limit),
  );
  return found.toSorted((a, b) => Number(b["n"]) - Number(a["n"])).slice(0, limit);
}

function countsOf(of: (sql: string) => number): Counts {
  const turns = (state: keyof Counts["turns"]) => of(`SELECT count(*) AS count FROM turns ${openTurns[state]}`);
  const items = (state: string) => of(`SELECT count(*) AS count FROM items ${openItems[state]}`);
  return {
    turns: {
      queued: turns("queued"),
      running: turns("running"),
      waiting: turns("waiting"),
      parked: turns("parked"),
      restarting: turns("restarting"),
    },
    items: { pending: items("pending"), sending: items("sending"), "in-doubt": items("in-doubt"), dead: items("dead") },
    timers: of("SELECT count(*) AS count FROM timers"),
  };
}
