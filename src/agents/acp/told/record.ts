// What of an ACP agent's work is on our record: kept in the data of its steps, read back after any death. Pure.
// An agent works by itself, so its tools are no calls of ours; a step says which of them have been begun and finished.

import { wordsOf } from "../../../core/access/strangers.ts";
import type { Entry } from "../../../core/journal.ts";

export type ToolNote = {
  readonly id: string;
  readonly title: string;
  readonly kind: string;
  readonly status: "begun" | "completed" | "failed";
};

/**
 * `session` is the agent's own id of this conversation; `tools` are those with news since the step before; `cost` is what the
 * session has cost so far as the agent counts it, in millionths of a dollar.
 */
export type AcpData = {
  readonly acp: { readonly session: string; readonly tools: readonly ToolNote[]; readonly cost?: number };
};

export function dataOf(entry: Entry): AcpData["acp"] | null {
  if (entry.type !== "said" || typeof entry.data !== "object" || entry.data === null) return null;
  const { acp } = entry.data as {
    readonly acp?: { readonly session?: unknown; readonly tools?: unknown; readonly cost?: unknown };
  };
  if (typeof acp !== "object" || acp === null || typeof acp.session !== "string") return null;
  return {
    session: acp.session,
    tools: Array.isArray(acp.tools) ? (acp.tools as ToolNote[]) : [],
    ...(typeof acp.cost === "number" ? { cost: acp.cost } : {}),
  };
}

/** What the agent's session has cost, as it was said last; null where it never was. */
export function costOn(journal: readonly Entry[]): number | null {
  for (const entry of journal.toReversed()) {
    const { cost } = dataOf(entry) ?? {};
    if (cost !== undefined) return cost;
  }
  return null;
}

/** The agent's own id of the conversation, as it was said last. */
export function sessionIn(journal: readonly Entry[]): string | null {
  for (const entry of journal.toReversed()) {
    const data = dataOf(entry);
    if (data !== null) return data.session;
  }
  return null;
}

/** Each tool of a turn as it was known last, in the order they were begun. */
export function toolsIn(journal: readonly Entry[]): readonly ToolNote[] {
  const tools = new Map<string, ToolNote>();
  for (const entry of journal) for (const tool of dataOf(entry)?.tools ?? []) tools.set(tool.id, tool);
  return [...tools.values()];
}

/** Everything the agent has said in this turn, as one text. */
export function saidIn(journal: readonly Entry[], more = ""): string {
  const texts = journal.flatMap((entry) => (entry.type === "said" ? [entry.text] : []));
  return [...texts, more]
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .join("\n\n");
}

/** Whether the agent got anything done or said in this turn, beyond having a session for it. */
export function hasBegun(journal: readonly Entry[]): boolean {
  return journal.some(
    (entry) =>
      entry.type === "asked" ||
      (entry.type === "said" && (entry.text !== "" || (dataOf(entry)?.tools.length ?? 0) > 0)),
  );
}

export function joinedIn(journal: readonly Entry[]): readonly string[] {
  return journal.flatMap((entry) => (entry.type === "joined" ? [wordsOf(entry.message)] : []));
}

/** `bound`: what exactly it was about; null where that is not on record. */
export type Decision = {
  readonly question: string;
  readonly what: string;
  readonly bound: string | null;
  readonly choice: string | null;
};

/** What the user was asked in this turn, with the answers. */
export function decisionsIn(journal: readonly Entry[]): readonly Decision[] {
  return journal.flatMap((entry) => {
    if (entry.type !== "asked") return [];
    const answer = journal.find((one) => one.type === "answered" && one.question === entry.question);
    if (answer?.type !== "answered") return [];
    const { question, text, what = text, bound = null } = entry;
    return [{ question, what, bound, choice: answer.choice }];
  });
}

/**
 * An answer that certainly nobody has acted on: the agent was gone when it came, and this is the first life since. After
 * another death it might have been acted on, and then the user is asked again.
 */
export function unusedDecision(journal: readonly Entry[]): Decision | null {
  const last = journal.findLast((entry) => ["said", "asked", "answered", "resumed"].includes(entry.type));
  return last?.type === "answered" ? (decisionsIn(journal).at(-1) ?? null) : null;
}

/** Steps of ours on record; a prompt under way that knows of another number is not the one the record speaks of. */
export function stepsIn(journal: readonly Entry[]): number {
  return journal.filter((entry) => entry.type === "said" || entry.type === "asked").length;
}
