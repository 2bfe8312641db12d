// What Telegram brings in several updates is one message: an album. It never says how many parts there are, so an album
// has ended when something else of its chat follows, or when nothing of it came for a while. Pure.

import type { Message, Update } from "grammy/types";

/** So many parts an album has at most. */
const albumMax = 10;

export type Gathered = {
  /** What can be handed over, each at the place of its last part. */
  readonly ready: readonly (readonly Update[])[];
  /** Albums that may go on, with how many parts of them are there. */
  readonly open: ReadonlyMap<string, number>;
};

/** `before`: the albums that were open at the last look; one that has not grown since then has ended. */
export function gather(updates: readonly Update[], before: ReadonlyMap<string, number>): Gathered {
  const own = [...new Map(updates.map((one) => [one.update_id, one])).values()];
  const albums = Map.groupBy(
    own.filter((one) => albumOf(one) !== null),
    (one) => albumOf(one) ?? "",
  );
  const open = new Map<string, number>();
  for (const [name, held] of albums) {
    const last = own.indexOf(held.at(-1) ?? own[0] ?? { update_id: 0 });
    const isFollowed = own.slice(last + 1).some((one) => chatOf(one) === chatOf(own[last]));
    if (held.length < albumMax && !isFollowed && before.get(name) !== held.length) open.set(name, held.length);
  }
  const ready = own.flatMap((update): readonly (readonly Update[])[] => {
    const name = albumOf(update);
    if (name === null) return [[update]];
    const held = albums.get(name) ?? [];
    return open.has(name) || update !== held.at(-1) ? [] : [held];
  });
  return { ready, open };
}

/** The parts of an album in the order in which its sender sees them. */
export function partsOf(updates: readonly Update[]): readonly Message[] {
  return updates
    .flatMap(({ message }) => (message === undefined ? [] : [message]))
    .toSorted((a, b) => a.message_id - b.message_id);
}

function albumOf({ message }: Update): string | null {
  return message?.media_group_id === undefined ? null : `${message.chat.id}:${message.media_group_id}`;
}

export function chatOf(update: Update | undefined): number | undefined {
  const { message, edited_message: edited, callback_query: press } = update ?? {};
  return (message ?? edited ?? press?.message)?.chat.id;
}

/**
 * The offset that confirms everything that is done and nothing else. Ids are taken as they come: after a quiet week they
 * begin anew anywhere, also below the last one.
 */
export function offsetAfter(batch: readonly Update[], done: ReadonlySet<number>): number {
  const left = batch.find(({ update_id }) => !done.has(update_id));
  return left?.update_id ?? (batch.at(-1)?.update_id ?? -1) + 1;
}

/**
 * Our place in the stream: the offset, and behind it the ids that are stored although something before them is not,
 * "7;9,10". They come again with it, and an album that is only half among them must not be taken for one that is all new:
 * it would have the key of the half that is stored. There are never more of them than a batch has.
 */
export function cursorAfter(batch: readonly Update[], done: ReadonlySet<number>): string {
  const ids = batch.map(({ update_id }) => update_id);
  const left = ids.findIndex((id) => !done.has(id));
  const beyond = left < 0 ? [] : ids.slice(left).filter((id) => done.has(id));
  return [offsetAfter(batch, done), ...(beyond.length === 0 ? [] : [beyond.join(",")])].join(";");
}

export type Place = { readonly offset: number | undefined; readonly done: ReadonlySet<number> };

/** A cursor as it was stored; older ones are an offset alone. */
export function placeAt(cursor: string | null): Place {
  if (cursor === null) return { offset: undefined, done: new Set() };
  const [offset, beyond = ""] = cursor.split(";");
  return { offset: Number(offset), done: new Set(beyond.split(",").filter(Boolean).map(Number)) };
}
