// What became of a question, in every state of its turn, and how somebody who is late is told.

import assert from "node:assert/strict";
import { aTurn, at, turnId } from "../../testing/samples.ts";
import { table } from "../../testing/table.ts";
import type { Entry } from "../journal.ts";
import type { Turn } from "../turn.ts";
import { type Fate, fateOf, fateText, questionId, turnOfQuestion } from "./late.ts";

const question = questionId(turnId("t1"), 4);
const asked: Entry = { type: "asked", question, text: "which?", choices: ["a", "b"] };
const answered = (choice: string | null, by?: string): Entry => ({
  type: "answered",
  question,
  choice,
  ...(by === undefined ? {} : { by }),
});
const lines = (...entries: Entry[]) => entries.map((entry, i) => ({ at: at(i * 60_000), entry }));
const waiting = aTurn("t1", { now: { state: "waiting", question, until: at(9) } });
const ended = (why?: string): Turn =>
  aTurn("t1", {
    now: { state: "done", outcome: "cancelled", doneAt: at(120_000), ...(why === undefined ? {} : { why }) },
  });

type FateCase = { name: string; turn: Turn | null; entries: readonly Entry[]; gives: Fate; text: RegExp };
table(
  "fate",
  [
    { name: "no such turn", turn: null, entries: [], gives: { type: "gone" }, text: /I do not know that question/ },
    { name: "never asked", turn: waiting, entries: [], gives: { type: "gone" }, text: /I do not know/ },
    { name: "open", turn: waiting, entries: [asked], gives: { type: "open" }, text: /still open/ },
    {
      name: "answered",
      turn: ended(),
      entries: [asked, answered("a", "ann at web/local/c1")],
      gives: { type: "answered", choice: "a", by: "ann at web/local/c1", choices: ["a", "b"], at: at(60_000) },
      text: /answered already, with "a", on 2027-01-15 08:01 UTC by ann at web\/local\/c1\./,
    },
    {
      name: "answered by somebody nobody noted",
      turn: waiting,
      entries: [asked, answered("a")],
      gives: { type: "answered", choice: "a", by: null, choices: ["a", "b"], at: at(60_000) },
      text: /on 2027-01-15 08:01 UTC\.$/,
    },
    {
      name: "expired",
      turn: ended(),
      entries: [asked, answered(null)],
      gives: { type: "expired", at: at(60_000) },
      text: /nobody answered in time, so it ended on 2027-01-15 08:01 UTC/,
    },
    {
      name: "withdrawn",
      turn: ended("stopped by its user"),
      entries: [asked],
      gives: { type: "withdrawn", why: "stopped by its user", at: at(120_000) },
      text: /withdrawn on 2027-01-15 08:02 UTC \(stopped by its user\)/,
    },
    {
      name: "ended without a word",
      turn: ended(),
      entries: [asked],
      gives: { type: "withdrawn", why: "what it was about has ended", at: at(120_000) },
      text: /withdrawn/,
    },
  ] satisfies FateCase[],
  ({ turn, entries, gives, text }) => {
    const fate = fateOf(question, turn, lines(...entries));
    assert.deepEqual(fate, gives);
    assert.match(fateText(fate), text);
  },
);

table(
  "whose question it is",
  [
    { name: "by its name", id: question, gives: "t1" },
    { name: "of a turn with a dot in its name", id: "a.q1.q2", gives: "a.q1" },
    { name: "something else", id: "t1", gives: null },
    { name: "nothing", id: "", gives: null },
  ],
  ({ id, gives }) => assert.equal(turnOfQuestion(id), gives),
);
