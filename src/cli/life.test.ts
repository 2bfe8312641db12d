// The journal and the outbox in plain words.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { ItemView } from "../control/protocol.ts";
import type { Entry } from "../core/journal.ts";
import type { Instant } from "../core/ids.ts";
import { describeEntry, describeItem } from "./life.ts";

const call = { call: "c1", tool: "stamp", input: { at: 1 } };
const body = { kind: "text", text: "and\nthis", files: [] } as const;
const message = { key: "k", from: { platform: "p", account: "a", chat: "c" }, sender: "s", body, sentAt: 1 as Instant };

const entries: readonly (readonly [Entry, string])[] = [
  [{ type: "said", text: "hi\nthere", calls: [], final: true }, "answered: hi there"],
  [{ type: "said", text: "", calls: [call], final: false }, 'step: calls stamp({"at":1})'],
  [{ type: "tool-begun", call: "c1", effect: "once" }, "tool begun: c1 (once)"],
  [
    { type: "tool-ended", call: "c1", result: { type: "ok", output: "x".repeat(200) } },
    `tool ended: c1: ok ${"x".repeat(119)}…`,
  ],
  [{ type: "tool-ended", call: "c1", result: { type: "unknown", why: "died" } }, "tool ended: c1: unknown, died"],
  [{ type: "asked", question: "q", text: "which?", choices: ["a", "b"] }, "asked: which? [a | b]"],
  [
    {
      type: "said",
      text: "",
      calls: [call],
      final: false,
      usage: { model: "a/x", input: 12_345, cached: 12_000, output: 80, cost: 1_234 },
    },
    'step: calls stamp({"at":1}) [a/x: 12,345 in (12,000 cached), 80 out, $0.0012]',
  ],
  [
    {
      type: "call-asked",
      question: "q",
      call: "c1",
      kind: "approval",
      text: "May I\nrun it?",
      choices: ["approve", "deny"],
      bound: "b",
      subject: null,
    },
    "approval asked: c1: May I run it? [approve | deny]",
  ],
  [
    {
      type: "compacted",
      summary: "We spoke\nof tea.",
      entries: 4,
      upTo: 12,
      usage: { model: "a/x", input: 900, cached: 0, output: 80, cost: null },
    },
    "compacted: messages up to 12, 4 entries of this turn: We spoke of tea. [a/x: 900 in, 80 out, no price known]",
  ],
  [
    {
      type: "tool-ended",
      call: "c1",
      result: { type: "ok", output: "sent", wishes: [{ type: "send", text: "", files: [] }], outside: true },
    },
    "tool ended: c1: ok sent (from outside; wants send)",
  ],
  [
    { type: "tool-ended", call: "c1", result: { type: "failed", why: "no such\nfile", outside: true } },
    "tool ended: c1: failed, no such file (from outside)",
  ],
  [
    { type: "asked", question: "q", text: "May I?", choices: ["approve", "deny"], kind: "approval" },
    "approval asked: May I? [approve | deny]",
  ],
  [{ type: "heard", blob: "b", text: "two\nlines" }, "heard: two lines"],
  [{ type: "heard", blob: "b", text: "", why: "too\nlarge" }, "heard: nothing: too large"],
  [{ type: "answered", question: "q", choice: "a" }, "was answered: a"],
  [{ type: "answered", question: "q", choice: "a", by: "owner" }, "was answered: a (by owner)"],
  [{ type: "answered", question: "q", choice: null }, "was answered: nobody answered in time"],
  [{ type: "joined", message }, "joined by: and this"],
  [{ type: "resumed", attempt: 2 }, "resumed: start number 2"],
];
for (const [entry, words] of entries) {
  test(words.slice(0, 40), () => {
    const { what, detail } = describeEntry(entry);
    assert.equal(`${what}: ${detail}`, words);
  });
}

const item: ItemView = {
  id: "i1",
  session: "s1",
  turn: "t1",
  part: 0,
  to: "web/local/c1",
  text: "hi",
  question: null,
  files: [],
  createdAt: 5,
  state: "delivered",
  attempts: null,
  why: null,
  remoteId: "r1",
  at: 9,
};
const items: readonly (readonly [Partial<ItemView>, string])[] = [
  [{}, "delivered: part 1, receipt r1 @9"],
  [{ state: "pending", attempts: 2, why: "busy", remoteId: null }, "waits: attempt 2: busy @9"],
  [{ state: "sending", attempts: 1, remoteId: null, at: null }, "being sent: attempt 1 @5"],
  [{ state: "in-doubt", attempts: 1, why: "cut", remoteId: null }, "in doubt: attempt 1: cut @9"],
  [{ state: "dead", why: "refused", remoteId: null }, "given up: refused @9"],
];
for (const [more, words] of items) {
  test(words, () => {
    const { what, detail, at } = describeItem({ ...item, ...more });
    assert.equal(`${what}: ${detail} @${at}`, words);
  });
}
