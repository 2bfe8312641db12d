// What must hold after every story for calls that asked, for what tools wished, and for what was paid.

import { readDecision } from "../core/asked/asking.ts";
import type { Entry } from "../core/journal.ts";
import { memoryScope, outsideScope } from "../core/memory.ts";
import type { Turn } from "../core/turn.ts";
import { nothingSpent, spend } from "../core/usage.ts";
import type { Told } from "./story.ts";

export async function brokenCalls(told: Told, turns: readonly Turn[]): Promise<readonly string[]> {
  const found: string[] = [];
  let spent = nothingSpent;
  for (const turn of turns) {
    const journal = await told.store.journalOf(turn.id);
    for (const [i, entry] of journal.entries()) {
      if (entry.type === "said" || entry.type === "compacted") {
        if (entry.usage !== undefined) spent = spend(spent, entry.usage);
        if (entry.type === "compacted" && (await told.store.summaryOf(turn.session)) === null && !mayHaveMoved(told))
          found.push(`the summary of ${turn.input.key} is lost`);
      }
      if (entry.type === "call-asked") found.push(...answeredWrongly(told, turn, journal, entry));
      if (entry.type === "tool-ended") found.push(...(await lostWishes(told, turn, journal, i)));
    }
  }
  return [...found, ...(await miscounted(told, spent))];
}

/** Another session may have taken over what was said. */
function mayHaveMoved({ story, lives }: Told): boolean {
  return story.recovery.afterCrash === "suspend" || lives > 3;
}

/** Allowed: made once, unless it was cut short. Denied or never answered: never made. */
function answeredWrongly(told: Told, turn: Turn, journal: readonly Entry[], asked: Entry): readonly string[] {
  if (asked.type !== "call-asked" || asked.kind !== "approval") return [];
  const isLast = asked === journal.findLast((entry) => entry.type === "call-asked" && entry.call === asked.call);
  if (!isLast) return [];
  const answer = journal.find((entry) => entry.type === "answered" && entry.question === asked.question);
  const end = journal.find((entry) => entry.type === "tool-ended" && entry.call === asked.call);
  const keys = [...told.effects.happened].filter(
    ([key]) => key.startsWith(`${turn.id}:`) && key.endsWith(`:${asked.call}`),
  );
  const times = keys.reduce((sum, [, count]) => sum + count, 0);
  const decision = answer?.type === "answered" ? readDecision(answer.choice).type : "nobody";
  const isAllowed = decision === "approve" || decision === "always";
  if (!isAllowed) return times === 0 ? [] : [`call ${asked.call} was made ${times} times although: ${decision}`];
  if (end?.type !== "tool-ended") return isDone(turn) ? [`call ${asked.call} was allowed and has no result`] : [];
  if (end.result.type === "ok" && times !== 1) return [`call ${asked.call} was allowed and made ${times} times`];
  return [];
}

function isDone({ now }: Turn): boolean {
  return now.state === "done" && now.outcome === "replied";
}

/** What was wished for came with the result: seen once, remembered once. */
async function lostWishes(told: Told, turn: Turn, journal: readonly Entry[], at: number): Promise<readonly string[]> {
  const entry = journal[at];
  if (entry?.type !== "tool-ended" || entry.result.type !== "ok") return [];
  const found: string[] = [];
  const { from } = turn.input;
  for (const wish of entry.result.wishes ?? []) {
    if (wish.type === "remember") {
      // A conversation with text from outside remembers in a scope of its own.
      const own = memoryScope(from);
      const held = await Promise.all([own, outsideScope(own)].map((scope) => told.store.memories(scope, 100_000)));
      const times = held.flat().filter(({ text }) => text === wish.text).length;
      if (times !== 1) found.push(`"${wish.text}" is remembered ${times} times`);
    }
    if (wish.type !== "send") continue;
    const on = told.servers.find((one) => one.name === from.platform);
    const times = on?.seen.filter(({ text }) => text === wish.text).length ?? 0;
    const items = (await told.store.items({ turn: turn.id, limit: 100_000 })).filter(({ text }) => text === wish.text);
    if (items.length !== 1) found.push(`"${wish.text}" became ${items.length} items`);
    if (times === 0 && items[0]?.now.state === "delivered") found.push(`"${wish.text}" was never seen`);
    if (times > 1 && on?.habits.keyedSend) found.push(`"${wish.text}" was seen ${times} times`);
  }
  return found;
}

/** What was stored for the day is what the journals say. */
async function miscounted({ store }: Told, spent: typeof nothingSpent): Promise<readonly string[]> {
  const lines = await store.usage({});
  const stored = lines.reduce(
    (sum, { steps, input, output, cost }) => [sum[0] + steps, sum[1] + input, sum[2] + output, sum[3] + cost] as const,
    [0, 0, 0, 0] as readonly [number, number, number, number],
  );
  const wanted = [spent.steps, spent.input, spent.output, spent.cost];
  return stored.join() === wanted.join() ? [] : [`usage is ${stored.join()} and should be ${wanted.join()}`];
}
