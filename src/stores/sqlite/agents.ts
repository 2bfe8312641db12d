// What people and tools look up about agents: what waits for an answer, what was allowed for good, what was remembered, and
// what it cost. Reads by index and with limits.

import type { SessionId } from "../../core/ids.ts";
import { type Recalled, memoryScope } from "../../core/memory.ts";
import type { Archive, AskedLine } from "../../ports/store.ts";
import type { All } from "./archive.ts";
import type { Session } from "../../core/session.ts";
import { questionIn } from "./queries.ts";
import { toEntry, toMemory, toMessage, toRule, toSession, toSpent, toTurn } from "./rows.ts";

/** Messages that are looked at to find those of one scope. */
const lookedAt = 500;

export function agentReads(
  all: All,
  indexAll: () => Promise<void>,
): Pick<Archive, "recall" | "asked" | "rules" | "usage"> {
  function remembered(scope: string, match: string, limit: number): readonly Recalled[] {
    const sql = `SELECT memories.* FROM memory_search, memories
      WHERE memory_search MATCH ? AND memories.n = memory_search.rowid AND scope = ? ORDER BY rank LIMIT ?`;
    return all(sql, match, scope, limit)
      .map(toMemory)
      .map(({ id, text, at }) => ({ from: "memory", id, text, at }));
  }

  function said(scope: string, match: string, limit: number): readonly Recalled[] {
    const sql = `SELECT messages.* FROM search, messages
      WHERE search MATCH ? AND messages.n = search.rowid AND undone = 0 ORDER BY rank LIMIT ?`;
    const sessions = new Map<SessionId, Session | null>();
    /** Null where it is a conversation of other people. */
    const theirs = (id: SessionId): Session | null => {
      const known = sessions.get(id);
      if (known !== undefined) return known;
      const [session] = all("SELECT * FROM sessions WHERE id = ?", id).map(toSession);
      const found = session !== undefined && memoryScope(session.address) === scope ? session : null;
      sessions.set(id, found);
      return found;
    };
    const found = all(sql, match, lookedAt)
      .map(toMessage)
      .filter(({ session }) => theirs(session) !== null);
    return found.slice(0, limit).map(({ key, text, at, session, outside, carries }) => {
      // What was said in a conversation with text from outside may repeat it.
      const isMarked = outside === true || carries === true || theirs(session)?.outside === true;
      return { from: "conversation", id: key, text, at, ...(isMarked ? { outside: true } : {}) };
    });
  }

  return {
    async recall(scope, text, limit) {
      const match = toMatch(text);
      if (match === "") return [];
      await indexAll();
      const first = remembered(scope, match, limit);
      return [...first, ...said(scope, match, limit - first.length)];
    },
    async asked(limit) {
      const waiting = all(
        "SELECT * FROM turns INDEXED BY turns_waiting WHERE state = 'waiting' ORDER BY n LIMIT ?",
        limit,
      ).map(toTurn);
      return waiting.flatMap((turn): AskedLine[] => {
        const [last] = all("SELECT entry FROM entries WHERE turn = ? ORDER BY n DESC LIMIT 1", turn.id).map(toEntry);
        const question = last === undefined ? null : questionIn(last);
        const [session] = all("SELECT * FROM sessions WHERE id = ?", turn.session).map(toSession);
        if (question === null || session === undefined || turn.now.state !== "waiting") return [];
        return [{ turn: turn.id, ...question, session: session.id, address: session.address, until: turn.now.until }];
      });
    },
    rules: async () => all("SELECT * FROM rules ORDER BY n").map(toRule),
    async usage({ session, since }) {
      const by = session === undefined ? "" : "INDEXED BY usage_session";
      const of = session === undefined ? "" : "AND session = ?";
      const sql = `SELECT day, model, sum(steps) AS steps, sum(input) AS input, sum(cached) AS cached,
        sum(output) AS output, sum(cost) AS cost, sum(unpriced) AS unpriced
        FROM usage ${by} WHERE day >= ? ${of} GROUP BY day, model ORDER BY day DESC, model`;
      const parameters = session === undefined ? [since ?? ""] : [since ?? "", session];
      return all(sql, ...parameters).map((raw) => ({
        day: raw["day"] as string,
        model: raw["model"] as string,
        ...toSpent(raw),
      }));
    },
  };
}

/** Words become quoted terms that must all occur, so that no typed character is read as search syntax. */
export function toMatch(text: string): string {
  const words = text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
  return words.map((word) => `"${word.replaceAll('"', '""')}"*`).join(" ");
}
