// The mark of an interrupted session, how it is read back, and what the agent is told.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { aSession, anInbound, at, bootId, sessionId } from "../testing/samples.ts";
import { table } from "../testing/table.ts";
import type { Entry } from "./journal.ts";
import type { StopClass } from "./recovery.ts";
import { clearResume, markResume, noteAlone, noteFor, readResume, resumeNote, resumeReason } from "./resume.ts";
import { type Resume, type Session, decideAccess, followerOf } from "./session.ts";

const marked: Resume = { reason: "shutdown_timeout", markedAt: at(3) };
const suspended = aSession("s1", { standing: "suspended" });

describe("marking", () => {
  const cases: readonly { name: string; session: Session; reason: Resume["reason"]; isMarked: boolean }[] = [
    { name: "S72 an active one", session: aSession(), reason: "restart_timeout", isMarked: true },
    { name: "S73 with another reason", session: aSession(), reason: "crash", isMarked: true },
    {
      name: "again: the later reason counts",
      session: aSession("s1", { resume: marked }),
      reason: "restart_timeout",
      isMarked: true,
    },
    { name: "S75 a suspended one: nothing", session: suspended, reason: "crash", isMarked: false },
  ];
  for (const { name, session, reason, isMarked } of cases) {
    test(name, () => {
      const after = markResume(session, at(9), reason);
      assert.deepEqual(after, isMarked ? { ...session, resume: { reason, markedAt: at(9) } } : null);
    });
  }
});

describe("clearing", () => {
  test("S77 a marked one loses all of it", () => {
    assert.deepEqual(clearResume(aSession("s1", { resume: marked })), aSession("s1"));
  });
  test("S78 one that is not marked: nothing", () => assert.equal(clearResume(aSession()), null));
});

table(
  "what the next message meets",
  [
    { name: "S80 an active session stays", session: aSession(), gives: "keep" },
    { name: "S80 one to be resumed stays", session: aSession("s1", { resume: marked }), gives: "keep" },
    { name: "S81 a suspended one starts over", session: suspended, gives: "start-over" },
    { name: "S82 both: it starts over", session: { ...suspended, resume: marked }, gives: "start-over" },
  ],
  ({ session, gives }) => {
    const access = decideAccess(session);
    assert.equal(access.type, gives);
    if (access.type === "start-over") assert.equal(access.reset, "suspended");
  },
);

test("S81 a follower has the place, nothing of the memory, and tells why it is there", () => {
  const next = followerOf({ ...suspended, resume: marked }, sessionId("s2"), bootId("b2"), at(9));
  assert.deepEqual(next, {
    ...aSession("s1"),
    id: "s2",
    owner: "b2",
    createdAt: at(9),
    activeAt: at(9),
    reset: "suspended",
  });
});

table(
  "a stored mark",
  [
    { name: "S70 none", text: null, gives: null },
    { name: "S69 as it was written", text: JSON.stringify(marked), gives: marked },
    {
      name: "S71 a broken moment: the rest is kept",
      text: '{"reason":"shutdown_timeout","markedAt":"not a moment"}',
      gives: { reason: "shutdown_timeout", markedAt: null },
    },
    { name: "S71 no moment", text: '{"reason":"crash"}', gives: { reason: "crash", markedAt: null } },
    {
      name: "S71 a moment before time",
      text: '{"reason":"crash","markedAt":-5}',
      gives: { reason: "crash", markedAt: null },
    },
    { name: "S86 no reason: a restart", text: '{"markedAt":5}', gives: { reason: "restart_timeout", markedAt: 5 } },
    {
      name: "S86 another reason: an interruption",
      text: '{"reason":"flood","markedAt":5}',
      gives: { reason: "crash", markedAt: 5 },
    },
    { name: "no JSON", text: "resume", gives: null },
    { name: "half of it", text: '{"reason":"cra', gives: null },
    { name: "a number", text: "7", gives: null },
    { name: "a list", text: "[]", gives: null },
    { name: "null", text: "null", gives: null },
  ],
  ({ text, gives }) => assert.deepEqual(readResume(text), gives),
);

table(
  "the reason of an interruption",
  [
    { name: "no stop", stop: null, gives: "crash" },
    ...(
      [
        ["restart", "restart_timeout"],
        ["take-over", "restart_timeout"],
        ["planned", "shutdown_timeout"],
        ["unexpected", "shutdown_timeout"],
        ["fault", "shutdown_timeout"],
      ] as const satisfies readonly (readonly [StopClass, Resume["reason"]])[]
    ).map(([name, gives]) => ({ name, stop: { class: name }, gives })),
  ],
  ({ stop, gives }) => assert.equal(resumeReason(stop), gives),
);

function countNotes(text: string): number {
  return text.split("[System note:").length - 1;
}

describe("the note", () => {
  test("S85 after a restart: one note, then the words of the user", () => {
    const note = resumeNote({ reason: "restart_timeout" }, "other", "what happened?");
    assert.match(note, /^\[System note: .*gateway restart.*\]\n\nwhat happened\?$/);
    assert.match(note, /history is intact.*Do not repeat finished work/);
  });
  test("S86 after a shutdown, after anything else, and without a reason", () => {
    assert.match(resumeNote({ reason: "shutdown_timeout" }, "other", "ping"), /gateway shutdown.*\n\nping$/s);
    assert.match(resumeNote({ reason: "crash" }, "other", "ping"), /gateway interruption/);
    assert.match(resumeNote(readResume('{"reason":"flood"}'), "other", "ping"), /gateway interruption/);
    assert.match(resumeNote(readResume("{}"), "other", "ping"), /gateway restart/);
  });
  test("S87 also where the record does not end with a tool's result", () => {
    assert.equal(countNotes(resumeNote({ reason: "restart_timeout" }, "other", "ping")), 1);
  });
  test("S88 with a tool's result at the end: the same note, once", () => {
    const note = resumeNote({ reason: "restart_timeout" }, "tool-result", "ping");
    assert.equal(note, resumeNote({ reason: "restart_timeout" }, "other", "ping"));
    assert.doesNotMatch(note, /after a tool result/);
  });
  test("a note without the words that joined, for agents that are given those separately", () => {
    const journal = [again("crash"), joined];
    const alone = noteAlone({ note: noteFor(journal), journal });
    assert.equal(alone, noteFor([again("crash")]));
    assert.deepEqual([noteAlone({ note: null, journal }), noteAlone({ note: alone, journal })], [null, alone]);
  });
  test("S112 every note puts pending tool results before the new message, and asks to say what was done", () => {
    const notes = [
      resumeNote({ reason: "restart_timeout" }, "other", "ping"),
      resumeNote(null, "tool-result", "ping"),
      noteFor([], { reason: "crash" }) ?? "",
    ];
    for (const note of notes)
      assert.match(note, /First process any tool results.* say what was done; then answer the user's new message/);
  });
  test("S89 no mark, but a tool's result nobody looked at: a note of its own", () => {
    const note = resumeNote(null, "tool-result", "ping");
    assert.match(note, /^\[System note: .*after a tool result.*\]\n\nping$/);
    assert.doesNotMatch(note, /gateway/);
    assert.equal(countNotes(note), 1);
  });
  test("S90 neither: the words as they are", () => assert.equal(resumeNote(null, "other", "ping"), "ping"));
  test("without words the note stands alone", () => {
    for (const reason of ["restart_timeout", "shutdown_timeout", "crash"] as const) {
      assert.match(resumeNote({ reason }, "other", ""), /^\[System note: .*\]$/);
    }
    assert.equal(resumeNote(null, "other", ""), "");
  });
});

const said: Entry = { type: "said", text: "hm", calls: [{ call: "1", tool: "x", input: {} }], final: false };
const ended: Entry = { type: "tool-ended", call: "1", result: { type: "ok", output: 1 } };
const joined: Entry = { type: "joined", message: anInbound("and now?") };
const again = (reason?: Resume["reason"]): Entry => ({ type: "resumed", attempt: 2, ...(reason && { reason }) });

type NoteCase = {
  readonly name: string;
  readonly journal: readonly Entry[];
  readonly before?: Resume["reason"];
  readonly gives: RegExp | null;
};

table(
  "the note for the next step",
  [
    { name: "S90 a new turn: none", journal: [], gives: null },
    { name: "a turn in full swing: none", journal: [said, ended], gives: null },
    {
      name: "a step that only put something on record does not use the note up",
      journal: [again("crash"), { ...said, text: "", calls: [] }],
      gives: /gateway interruption/,
    },
    {
      name: "the same in a new turn after a failed one",
      journal: [{ ...said, text: "", calls: [] }],
      before: "crash",
      gives: /previous turn/,
    },
    {
      name: "S98 a new turn after one that was interrupted and failed",
      journal: [],
      before: "shutdown_timeout",
      gives: /^\[.*your previous turn.*gateway shutdown.*\]$/,
    },
    { name: "S98 the same, and a message joined it", journal: [joined], before: "crash", gives: /interruption.*\]$/ },
    { name: "S98 the same, past its first step: none", journal: [said, ended], before: "crash", gives: null },
    {
      name: "S98 the same, interrupted itself: told of this turn",
      journal: [again("restart_timeout")],
      before: "crash",
      gives: /your work on this turn.*gateway restart/,
    },
    { name: "S87 resumed before its first step", journal: [again("crash")], gives: /^\[.*gateway interruption.*\]$/ },
    {
      name: "S88 resumed after a tool",
      journal: [said, ended, again("restart_timeout")],
      gives: /^\[.*gateway restart.*\]$/,
    },
    {
      name: "resumed, and the tool ran again since",
      journal: [said, again("crash"), ended],
      gives: /gateway interruption/,
    },
    { name: "S90 a step was made since: none", journal: [said, ended, again("crash"), said, ended], gives: null },
    {
      name: "resumed twice: the last reason",
      journal: [again("crash"), again("shutdown_timeout")],
      gives: /gateway shutdown/,
    },
    {
      name: "S85 words joined since",
      journal: [said, ended, again("restart_timeout"), joined],
      gives: /\]\n\nand now\?$/,
    },
    {
      name: "words that joined before are no part of it",
      journal: [said, ended, joined, again("crash")],
      gives: /\]$/,
    },
    { name: "S89 resumed without a mark, after a tool", journal: [said, ended, again()], gives: /after a tool result/ },
    {
      name: "the same, and a voice message came and was heard since",
      journal: [said, ended, again(), joined, { type: "heard", blob: "b", text: "x" } as const],
      gives: /tool result/,
    },
    { name: "S90 resumed without a mark, with nothing to look at", journal: [again(), joined], gives: null },
  ] as readonly NoteCase[],
  ({ journal, before, gives }) => {
    const note = noteFor(journal, before === undefined ? null : { reason: before });
    if (gives === null) assert.equal(note, null);
    else assert.match(note ?? "", gives);
  },
);
