// What counts as a held answer, and where.

import assert from "node:assert/strict";
import { anItem, at } from "../testing/samples.ts";
import { table } from "../testing/table.ts";
import { heldAnswers, heldNoticeId } from "./held.ts";
import type { OutboxItem } from "./outbox.ts";

const to = (chat: string) => ({ platform: "telegram", account: "bot", chat });
const held = (id: string, chat: string, since: number): OutboxItem =>
  anItem(id, { to: to(chat), now: { state: "in-doubt", since: at(since), attempts: 3, why: "reset" } });
const view = (chat: string, answers: number, since: number) => ({
  address: `telegram/bot/${chat}`,
  platform: "telegram",
  account: "bot",
  answers,
  since: at(since),
});

table(
  "held answers by conversation",
  [
    { name: "nothing", items: [], gives: [] },
    { name: "one answer", items: [held("t1.0", "a", 5)], gives: [view("a", 1, 5)] },
    {
      name: "the parts of a reply are one answer",
      items: [held("t1.1", "a", 6), held("t1.0", "a", 5)],
      gives: [view("a", 1, 5)],
    },
    {
      name: "several answers, the longest waiting conversation first",
      items: [held("t3.0", "b", 2), held("t2.0", "a", 9), held("t1.0", "a", 5)],
      gives: [view("b", 1, 2), view("a", 2, 5)],
    },
    {
      name: "a held notice is no answer",
      items: [held(`${heldNoticeId(held("t1.0", "a", 5), at(7))}.0`, "a", 9)],
      gives: [],
    },
    { name: "what is not held", items: [anItem("t1.0", { to: to("a") })], gives: [] },
  ] as const,
  ({ items, gives }) => assert.deepEqual(heldAnswers(items), gives),
);
