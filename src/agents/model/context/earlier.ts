// The conversation before a turn, as pieces of a request: the words of every turn, and for the newest ones also what was
// done. Pure: what is read for it comes in.

import { strangersText } from "../../../core/access/strangers.ts";
import type { TurnId } from "../../../core/ids.ts";
import type { Entry } from "../../../core/journal.ts";
import type { Inbound, Message as Line } from "../../../core/message.ts";
import { promptTokens } from "./tokens.ts";
import { type Message, type Scene, journalPieces, userMessage } from "./turn.ts";

/** A turn of the conversation, or a message that belongs to none. */
export type Group = { readonly turn: TurnId | null; readonly lines: readonly Line[] };

export type EarlierPiece = {
  readonly messages: readonly Message[];
  /** The numbers of its first and its last message; those of other turns may lie between. */
  readonly from: number;
  readonly upTo: number;
  readonly tokens: number;
};

/**
 * The turns before this one, oldest first. Those that wait behind it are not among them, though their messages may be
 * older than the answers before it.
 */
export function groupsBefore(
  lines: readonly Line[],
  turn: TurnId,
  input: Inbound,
  summarised: number,
): readonly Group[] {
  const own = lines.find((line) => line.turn === turn || line.key === input.key);
  const groups = new Map<string, Line[]>();
  for (const line of lines) {
    if (line.turn === turn || line.key === input.key || line.role === "notice") continue;
    const name = line.turn ?? `alone ${line.n}`;
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [line]);
    else group.push(line);
  }
  return [...groups.values()]
    .filter(([first]) => first !== undefined && (own === undefined || first.n < own.n))
    .map((group) => group.filter(({ n }) => n > summarised))
    .filter((group) => group.length > 0)
    .map((group) => ({ turn: group[0]?.turn ?? null, lines: group }));
}

/**
 * How many of the newest turns are told with all that was done in them. It changes only every few turns: a request that
 * begins like the one before it is cheaper.
 */
export function detailedFrom(count: number): number {
  return Math.max(0, Math.floor((count - 4) / 4) * 4);
}

export function earlierPieces(
  groups: readonly Group[],
  journals: Journals,
  budget: number,
  scene: Scene,
): readonly EarlierPiece[] {
  // The ids of calls are made fresh in the order of the request, but which turns are told in full is decided from the end.
  const sizes = groups.map((group) => promptTokens(detailed(group, journals, { ...scene, ids: new Set() }) ?? []));
  let left = budget;
  let from = groups.length;
  while (from > 0 && left >= (sizes[from - 1] ?? 0)) left -= sizes[--from] ?? 0;
  // A message that joined a turn is told there; where only the words of that turn are, it stands by itself.
  const inFull = groups.filter((group, at) => at >= from && journalTold(group, journals) !== null);
  const joined = new Set(inFull.flatMap((group) => joinedKeys(journalTold(group, journals) ?? [])));
  return groups.flatMap((group, at) => {
    const lines = group.lines.filter((line) => line.role !== "user" || !joined.has(line.key));
    const messages = (at >= from ? detailed(group, journals, scene) : null) ?? plain(lines, scene);
    const numbers = { from: group.lines[0]?.n ?? 0, upTo: group.lines.at(-1)?.n ?? 0 };
    return messages.length === 0 ? [] : [{ messages, ...numbers, tokens: promptTokens(messages) }];
  });
}

function joinedKeys(journal: readonly Entry[]): readonly string[] {
  return journal.flatMap((entry) => (entry.type === "joined" ? [entry.message.key] : []));
}

type Journals = ReadonlyMap<TurnId, readonly Entry[]>;

/** Null where there is none, or it says no more than the answer. */
function journalTold({ turn }: Group, journals: Journals): readonly Entry[] | null {
  const journal = turn === null ? undefined : journals.get(turn);
  return journal?.some((entry) => entry.type === "said" && entry.calls.length > 0) ? journal : null;
}

/** The words of the user, then the journal. What joined is told in the journal, also where it was an answer. */
function detailed(group: Group, journals: Journals, scene: Scene): readonly Message[] | null {
  const journal = journalTold(group, journals);
  if (journal === null) return null;
  const joined = new Set(joinedKeys(journal));
  const compacted = journal.findLast((entry) => entry.type === "compacted");
  const from = compacted?.type === "compacted" ? compacted.entries : 0;
  const pieces = journalPieces(journal, from, null, scene);
  return [
    ...plain(
      group.lines.filter(({ role, key }) => role === "user" && !joined.has(key)),
      scene,
    ),
    ...pieces.flatMap(({ messages }) => messages),
  ];
}

function plain(lines: readonly Line[], scene: Scene): readonly Message[] {
  return lines.flatMap((line): readonly Message[] => {
    if (line.role === "user") {
      const text = line.outside === true ? strangersText(line.text) : line.text;
      return [userMessage(text, line.at, line.files ?? [], scene)];
    }
    const sent = (line.files ?? []).map((file) => `[You sent the file ${file.name}.]`);
    const text = [line.text, ...sent].filter((part) => part.trim() !== "").join("\n");
    return text === "" ? [] : [{ role: "assistant", content: [{ type: "text", text }] }];
  });
}
