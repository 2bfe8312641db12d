// Which updates belong together, when an album has ended, and which offset confirms what.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message, Update } from "grammy/types";
import { table } from "../../testing/table.ts";
import { cursorAfter, gather, offsetAfter, partsOf, placeAt } from "./albums.ts";

/** "12:a" is an update with id 12, part of album a in chat 1; "13@2" is a plain one in chat 2. */
function update(words: string): Update {
  const [, id = "", , album, , chat = "1"] = /^(\d+)(:(\w+))?(@(\d+))?$/.exec(words) ?? assert.fail(words);
  const place = { id: Number(chat), type: "private", first_name: "Ada" } as const;
  const message = {
    message_id: Number(id),
    date: 1,
    chat: place,
    ...(album === undefined ? {} : { media_group_id: album }),
  };
  return { update_id: Number(id), message: message as Message } as Update;
}
const updates = (words: string): readonly Update[] => (words === "" ? [] : words.split(" ").map(update));
const ids = (all: readonly (readonly Update[])[]): string =>
  all.map((one) => one.map(({ update_id }) => update_id).join("+")).join(" ");

table(
  "what is handed over, and what waits",
  [
    { name: "plain ones", given: "1 2 3", before: {}, ready: "1 2 3", open: {} },
    { name: "an album at the end waits", given: "1 2:a 3:a", before: {}, ready: "1", open: { "1:a": 2 } },
    { name: "one that has not grown has ended", given: "2:a 3:a", before: { "1:a": 2 }, ready: "2+3", open: {} },
    { name: "one that grew waits again", given: "2:a 3:a 4:a", before: { "1:a": 2 }, ready: "", open: { "1:a": 3 } },
    { name: "followed by its own chat", given: "2:a 3:a 4", before: {}, ready: "2+3 4", open: {} },
    {
      name: "followed by another chat, it may go on",
      given: "2:a 3@2 4:a",
      before: {},
      ready: "3",
      open: { "1:a": 2 },
    },
    {
      name: "around another chat, it ends later",
      given: "2:a 3@2 4:a",
      before: { "1:a": 2 },
      ready: "3 2+4",
      open: {},
    },
    { name: "one album after the other", given: "1:a 2:a 3:b 4:b", before: {}, ready: "1+2", open: { "1:b": 2 } },
    {
      name: "ten are all",
      given: "1:a 2:a 3:a 4:a 5:a 6:a 7:a 8:a 9:a 10:a",
      before: {},
      ready: "1+2+3+4+5+6+7+8+9+10",
      open: {},
    },
    { name: "the same one twice", given: "1 1 2:a 2:a", before: {}, ready: "1", open: { "1:a": 1 } },
    { name: "nothing", given: "", before: {}, ready: "", open: {} },
  ],
  ({ given, before, ready, open }) => {
    const found = gather(updates(given), new Map(Object.entries(before)));
    assert.deepEqual([ids(found.ready), Object.fromEntries(found.open)], [ready, open]);
  },
);

table(
  "the offset",
  [
    { name: "all are done", batch: "5 6 7", done: [5, 6, 7], offset: 8 },
    { name: "the first is not", batch: "5 6 7", done: [6, 7], offset: 5 },
    { name: "one in the middle is not", batch: "5 6 7", done: [5, 7], offset: 6 },
    { name: "ids began anew below", batch: "900 3 4", done: [900, 3, 4], offset: 5 },
    { name: "ids began anew, one is left", batch: "900 3 4", done: [900, 3], offset: 4 },
  ],
  ({ batch, done, offset }) => {
    assert.equal(offsetAfter(updates(batch), new Set(done)), offset);
  },
);

table(
  "our place in the stream is told and found again",
  [
    { name: "all are done", batch: "5 6 7", done: [5, 6, 7], cursor: "8", offset: 8, beyond: [] },
    { name: "nothing behind the first is done", batch: "5 6 7", done: [], cursor: "5", offset: 5, beyond: [] },
    { name: "some behind it are", batch: "5 6 7 8", done: [5, 7, 8], cursor: "6;7,8", offset: 6, beyond: [7, 8] },
    { name: "ids began anew below", batch: "900 3 4", done: [3], cursor: "900;3", offset: 900, beyond: [3] },
    { name: "what is not in the batch is over", batch: "5 6", done: [2, 6], cursor: "5;6", offset: 5, beyond: [6] },
  ],
  ({ batch, done, cursor, offset, beyond }) => {
    assert.equal(cursorAfter(updates(batch), new Set(done)), cursor);
    assert.deepEqual(placeAt(cursor), { offset, done: new Set(beyond) });
  },
);

test("without a cursor there is no place", () => {
  assert.deepEqual(placeAt(null), { offset: undefined, done: new Set() });
});

test("the parts of an album are in the order of its sender", () => {
  assert.deepEqual(
    partsOf(updates("7:a 5:a 6:a")).map(({ message_id }) => message_id),
    [5, 6, 7],
  );
});
