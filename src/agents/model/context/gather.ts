// Reads everything a request is made of: the conversation, what was done in its newest turns, what was remembered, the
// files that people sent. Results that are too long for a request are put into files here. It decides nothing.

import { createHash } from "node:crypto";
import type { TurnId } from "../../../core/ids.ts";
import type { Compacted, Entry } from "../../../core/journal.ts";
import type { Memory } from "../../../core/memory.ts";
import type { FileRef, Message as Line } from "../../../core/message.ts";
import type { AgentJob } from "../../../ports/agent.ts";
import type { Blobs } from "../../../ports/blobs.ts";
import type { Abilities } from "../providers/abilities.ts";
import { type Group, detailedFrom, groupsBefore } from "./earlier.ts";
import { type Contents, loadFiles, resultFiles } from "./files.ts";
import { fromOutside, outputText } from "./results.ts";

export type Gathered = {
  readonly groups: readonly Group[];
  readonly journals: ReadonlyMap<TurnId, readonly Entry[]>;
  readonly memories: readonly Memory[];
  /** What stands for everything before, and how far it goes. */
  readonly summary: { readonly text: string; readonly upTo: number; readonly entries: number } | null;
  /** When the message of this turn came, as the transcript has it. */
  readonly cameAt: number;
  /** The number of the last message before this turn; 0 without one. */
  readonly before: number;
  /** More messages are not in a summary than requests should begin with: so much of them may stay; 1 for all. */
  readonly stays: number;
  /** There may be messages that are neither here nor in a summary. */
  readonly gap: boolean;
  readonly contents: Contents;
  readonly kept: ReadonlyMap<string, string>;
};

/** Messages of the conversation that are read; when there are more they are summarised first. */
const linesMax = 300;
/** So many are read to be summarised, where another backend has had a long conversation; of older ones it is told. */
const linesMost = 2_000;
const memoriesMax = 60;
/** Results that are longer than this are kept as files; the requests hold the beginning and the end. */
export const resultMax = 16_000;

export async function gather(job: AgentJob, abilities: Abilities, keep: Keep, blobs: Blobs | null): Promise<Gathered> {
  const [newest, stored, memories] = await Promise.all([
    job.history(linesMax),
    job.summary(),
    job.memories(memoriesMax),
  ]);
  const compacted = job.journal.findLast((entry): entry is Compacted => entry.type === "compacted");
  const summary =
    compacted !== undefined
      ? { text: compacted.summary, upTo: compacted.upTo, entries: compacted.entries }
      : stored === null
        ? null
        : { text: stored.text, upTo: stored.upTo, entries: 0 };
  const reachesBack = (read: readonly Line[], most: number): boolean =>
    read.length < most || (read[0]?.n ?? 0) <= (summary?.upTo ?? 0);
  const isFull = !reachesBack(newest, linesMax);
  const lines = isFull ? await job.history(linesMost) : newest;
  const groups = groupsBefore(lines, job.turn, job.input, summary?.upTo ?? 0);
  const journals = new Map<TurnId, readonly Entry[]>();
  await Promise.all(
    groups.slice(detailedFrom(groups.length)).map(async ({ turn }) => {
      if (turn !== null) journals.set(turn, await job.journalOf(turn));
    }),
  );
  const own = lines.find((line) => line.key === job.input.key);
  return {
    groups,
    journals,
    memories,
    summary,
    cameAt: own?.at ?? job.input.sentAt,
    before: lastBefore(groups, own?.n ?? null, summary?.upTo ?? 0),
    stays: isFull ? (0.75 * linesMax) / lines.length : 1,
    gap: isFull && !reachesBack(lines, linesMost),
    contents: await loadFiles(filesOf(job, groups, journals), abilities, blobs),
    kept: await keepLong([job.journal, ...journals.values()], keep),
  };
}

/** Messages behind its own are another turn's, or are still to be told. */
function lastBefore(groups: readonly Group[], own: number | null, summarised: number): number {
  const numbers = groups.flatMap(({ lines }) => lines.map(({ n }) => n)).filter((n) => own === null || n < own);
  return Math.max(summarised, ...numbers);
}

/** The newest first. */
function filesOf(
  { journal, input }: AgentJob,
  groups: readonly Group[],
  journals: ReadonlyMap<TurnId, readonly Entry[]>,
): readonly FileRef[] {
  const sent = groups.flatMap(({ turn, lines }) => [
    ...lines.map((line: Line) => (line.role === "user" ? (line.files ?? []) : [])),
    ...((turn === null ? null : journals.get(turn)) ?? []).map(broughtBy),
  ]);
  const all = [...sent, input.body.kind === "text" ? input.body.files : [], ...journal.map(broughtBy)];
  return all.toReversed().flat();
}

/** By a message that joined, or by a tool. */
function broughtBy(entry: Entry): readonly FileRef[] {
  if (entry.type === "tool-ended") return resultFiles(entry.result);
  return entry.type === "joined" && entry.message.body.kind === "text" ? entry.message.body.files : [];
}

/** Puts a text where tools can read it, and tells where; null where it could not be. */
export type Keep = (text: string) => Promise<string | null>;

async function keepLong(journals: readonly (readonly Entry[])[], keep: Keep): Promise<ReadonlyMap<string, string>> {
  const kept = new Map<string, string>();
  for (const entry of journals.flat()) {
    if (entry.type !== "tool-ended" || entry.result.type !== "ok") continue;
    const text = outputText(entry.result.output);
    if (text.length <= resultMax || kept.has(text)) continue;
    // Whoever reads the file later is told as well whose words it holds.
    const where = await keep(entry.result.outside === true ? fromOutside(text) : text);
    if (where !== null) kept.set(text, where);
  }
  return kept;
}

const rememberedMax = 500;

/** What was kept once is not written again; the content names the file, so nothing hangs on this memory. */
export function keeper(blobs: Blobs | null): Keep {
  const places = new Map<string, string>();
  return async (text) => {
    if (blobs === null) return null;
    const digest = createHash("sha256").update(text).digest("base64");
    const known = places.get(digest);
    if (known !== undefined) return known;
    try {
      const file = await blobs.put(new TextEncoder().encode(text), { name: "result.txt", mime: "text/plain" });
      if (places.size >= rememberedMax) places.clear();
      places.set(digest, blobs.path(file.blob));
      return blobs.path(file.blob);
    } catch (error) {
      // The disk is full, or it is larger than a file may be: the model is told that it was not kept.
      if (error instanceof Error && error.name === "Fault") return null;
      throw error;
    }
  };
}
