// What was said while nobody listened. Slack repeats an event a few times at most and promises nothing about the time
// without a socket, so the past of every conversation is read after each gap: its newest messages, and the replies in
// threads that are known or show up among them.

import { later } from "../../../core/ids.ts";
import type { World } from "../../../ports/world.ts";
import type { Api, Conversation, Page, SlackMessage } from "../api.ts";
import { type Place, since, threadsIn } from "../cursor.ts";
import { failureOf, isClosed, wordsOf } from "../faults.ts";

type Around = { readonly api: Api; readonly world: World; readonly signal: AbortSignal };

/** Of one conversation; what is older than that is lost, and said so. */
const pagesMax = 50;

/** Each kind needs a permission of its own; without it there are none of that kind. */
const kinds = ["im", "mpim", "public_channel", "private_channel"] as const;

/** Where we take part, those heard last first. */
export async function ourConversations(around: Around, { recent }: Place): Promise<readonly Conversation[]> {
  const { api, signal } = around;
  const found: Conversation[] = [];
  for (const kind of kinds) {
    for await (const some of pages(around, (at) => api.conversations(kind, at, signal))) found.push(...some);
  }
  const rank = new Map(recent.map((id, n) => [id, n]));
  return found.toSorted((a, b) => (rank.get(b.id) ?? -1) - (rank.get(a.id) ?? -1));
}

/** What was said in one of them since, oldest first. */
export async function missedIn(around: Around, id: string, place: Place): Promise<readonly SlackMessage[]> {
  const { api, signal } = around;
  const from = since(place);
  const recent: SlackMessage[] = [];
  // From the newest back to the moment; the last page reaches beyond it, and shows threads that are older.
  for await (const some of pages(around, (cursor) => api.history(id, { cursor }, signal))) {
    recent.push(...some);
    if (some.some(({ ts }) => ts <= from)) break;
  }
  const replies: SlackMessage[] = [];
  for (const thread of threadsToRead(recent, threadsIn(place, id), from)) {
    const ask = (cursor: string | null) => api.replies(id, thread, { oldest: from, cursor }, signal);
    for await (const some of pages(around, ask)) replies.push(...some);
  }
  return inOrder([...recent, ...replies], from);
}

async function* pages<T>(
  around: Around,
  ask: (cursor: string | null) => Promise<Page<T>>,
): AsyncGenerator<readonly T[]> {
  let cursor: string | null = null;
  for (let n = 0; n < pagesMax; n++) {
    const at: string | null = cursor;
    const page: Page<T> | null = await patiently(around, () => ask(at));
    yield page?.items ?? [];
    cursor = page?.next ?? null;
    if (cursor === null) return;
  }
  around.world.log("warn", "Slack: more was said while nobody listened than is read; the oldest of it is left out");
}

/** Known threads, unless their first message was seen and says that nobody replied since; and those that say so. */
export function threadsToRead(
  recent: readonly SlackMessage[],
  known: readonly string[],
  from: string,
): readonly string[] {
  const seen = new Map(recent.map((one) => [one.ts, one.latest_reply ?? ""]));
  const awake = recent.filter(({ latest_reply: last = "" }) => last > from).map(({ ts }) => ts);
  return [...new Set([...awake, ...known.filter((ts) => (seen.get(ts) ?? "~") > from)])];
}

/** Each message once, oldest first. */
export function inOrder(messages: readonly SlackMessage[], from: string): readonly SlackMessage[] {
  const byMoment = new Map(messages.filter(({ ts }) => ts > from).map((one) => [one.ts, one]));
  return [...byMoment.values()].toSorted((a, b) => (a.ts < b.ts ? -1 : 1));
}

/** Waits as long as Slack wants. Null where we may not look; other failures end the connection, which is tried again. */
async function patiently<T>({ world, signal }: Around, call: () => Promise<T>): Promise<T | null> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const failure = failureOf(error);
      if (isClosed(failure)) {
        world.log("warn", `Slack: something that may have been missed cannot be read: ${wordsOf(failure)}`);
        return null;
      }
      if (failure.kind !== "limited" || signal.aborted) throw error;
      await world.sleep(later(world.now(), failure.afterMs), signal);
    }
  }
}
