// What a turn does next, from its journal alone: every effect class, interrupted or not, begun in this life or another.

import assert from "node:assert/strict";
import { test } from "node:test";
import { anInbound } from "../testing/samples.ts";
import { table } from "../testing/table.ts";
import {
  type CallAsked,
  type Entry,
  type NextAction,
  type ToolCall,
  type ToolEffect,
  dangling,
  decideNext,
  diedOfIt,
  follows,
  isClear,
  isFromOutside,
  madeProgress,
} from "./journal.ts";

/** A tool is named for its effect, with a number where there are several. */
const effectOf = (tool: string): ToolEffect => tool.replace(/\d+$/, "") as ToolEffect;

const call = (id: string, tool: string): ToolCall => ({ call: id, tool, input: { id } });
const said = (text: string, calls: readonly ToolCall[] = [], final = false): Entry => ({
  type: "said",
  text,
  calls,
  final,
});
const begun = (id: string, effect: ToolEffect): Entry => ({ type: "tool-begun", call: id, effect });
const ended = (id: string): Entry => ({ type: "tool-ended", call: id, result: { type: "ok", output: 1 } });
const unknown = (id: string): Entry => ({ type: "tool-ended", call: id, result: { type: "unknown", why: "died" } });
const asked = (question: string): Entry => ({ type: "asked", question, text: "which?", choices: ["a", "b"] });
const answered = (question: string, choice: string | null): Entry => ({ type: "answered", question, choice });
const callAsked = (id: string, question: string, more: Partial<CallAsked> = {}): CallAsked => ({
  type: "call-asked",
  question,
  call: id,
  kind: "approval",
  text: "may I?",
  choices: ["approve", "deny"],
  bound: "b1",
  subject: null,
  ...more,
});
const joined: Entry = { type: "joined", message: anInbound("and another thing") };
const resumed: Entry = { type: "resumed", attempt: 2 };
const heard: Entry = { type: "heard", blob: "b", text: "words" };
const compacted: Entry = { type: "compacted", summary: "so far", entries: 1, upTo: 3 };

type NextCase = {
  readonly name: string;
  readonly journal: readonly Entry[];
  /** Calls begun in this life. */
  readonly here?: readonly string[];
  readonly gives: NextAction;
};

const one = (id: string, tool: string, mode: "first" | "again" | "check"): NextAction => ({
  type: "call",
  calls: [{ call: call(id, tool), mode }],
});

const effects: readonly ToolEffect[] = ["pure", "keyed", "checkable", "once"];
const afterDeath: Record<ToolEffect, NextAction> = {
  pure: one("1", "pure", "again"),
  keyed: one("1", "keyed", "again"),
  checkable: one("1", "checkable", "check"),
  once: { type: "give-up", call: call("1", "once") },
};

const byEffect: readonly NextCase[] = effects.flatMap((effect): NextCase[] => {
  const wanted = said("let me see", [call("1", effect)]);
  return [
    { name: `${effect}, not begun → first`, journal: [wanted], gives: one("1", effect, "first") },
    {
      name: `${effect}, begun in this life → first`,
      journal: [wanted, begun("1", effect)],
      here: ["1"],
      gives: one("1", effect, "first"),
    },
    {
      name: `${effect}, begun in another life → by its effect`,
      journal: [wanted, begun("1", effect)],
      gives: afterDeath[effect],
    },
    {
      name: `${effect}, begun in another life and resumed → by its effect`,
      journal: [wanted, begun("1", effect), resumed],
      gives: afterDeath[effect],
    },
    { name: `${effect}, ended → step`, journal: [wanted, begun("1", effect), ended("1")], gives: { type: "step" } },
    {
      name: `${effect}, ended as unknown → step`,
      journal: [wanted, begun("1", effect), unknown("1")],
      gives: { type: "step" },
    },
    {
      name: `${effect}, ended, in a final step → finish`,
      journal: [said("done", [call("1", effect)], true), begun("1", effect), ended("1")],
      gives: { type: "finish", text: "done" },
    },
  ];
});
table("next: one call", byEffect, check);

const two = (a: string, b: string): Entry => said("", [call("1", a), call("2", b)]);
table(
  "next: several calls",
  [
    {
      name: "pure calls run together",
      journal: [said("", [call("1", "pure1"), call("2", "pure2"), call("3", "pure1")])],
      gives: {
        type: "call",
        calls: [
          { call: call("1", "pure1"), mode: "first" },
          { call: call("2", "pure2"), mode: "first" },
          { call: call("3", "pure1"), mode: "first" },
        ],
      },
    },
    {
      name: "pure calls run together up to the first that is not",
      journal: [said("", [call("1", "pure"), call("2", "pure"), call("3", "keyed"), call("4", "pure")])],
      gives: {
        type: "call",
        calls: [
          { call: call("1", "pure"), mode: "first" },
          { call: call("2", "pure"), mode: "first" },
        ],
      },
    },
    {
      name: "of pure calls only the open ones run",
      journal: [said("", [call("1", "pure"), call("2", "pure"), call("3", "pure")]), ended("2")],
      gives: {
        type: "call",
        calls: [
          { call: call("1", "pure"), mode: "first" },
          { call: call("3", "pure"), mode: "first" },
        ],
      },
    },
    { name: "others run one by one", journal: [two("keyed", "keyed")], gives: one("1", "keyed", "first") },
    { name: "in their order", journal: [two("once", "pure")], gives: one("1", "once", "first") },
    {
      name: "the next after the first ended",
      journal: [two("once", "once"), begun("1", "once"), ended("1")],
      gives: one("2", "once", "first"),
    },
    {
      name: "what was cut short comes before what was not begun",
      journal: [two("checkable", "pure"), begun("1", "checkable")],
      gives: one("1", "checkable", "check"),
    },
    {
      name: "after giving up, the rest goes on",
      journal: [two("once", "keyed"), begun("1", "once"), resumed, unknown("1")],
      gives: one("2", "keyed", "first"),
    },
    {
      name: "the effect on record counts, whatever the tool says today",
      journal: [said("", [call("1", "pure")]), begun("1", "once")],
      gives: { type: "give-up", call: call("1", "pure") },
    },
    {
      name: "calls of earlier steps are over",
      journal: [two("pure", "pure"), ended("1"), ended("2"), said("", [call("3", "keyed")])],
      gives: one("3", "keyed", "first"),
    },
    {
      name: "an id that a model uses again in a later step is a new call",
      journal: [said("", [call("1", "once")]), begun("1", "once"), ended("1"), said("", [call("1", "once")])],
      gives: one("1", "once", "first"),
    },
  ] satisfies NextCase[],
  check,
);

table(
  "next: words and questions",
  [
    { name: "nothing yet → step", journal: [], gives: { type: "step" } },
    { name: "only resumed → step", journal: [resumed], gives: { type: "step" } },
    { name: "only a joined message → step", journal: [joined], gives: { type: "step" } },
    { name: "said, not final → step", journal: [said("thinking")], gives: { type: "step" } },
    { name: "said, final → finish", journal: [said("bye", [], true)], gives: { type: "finish", text: "bye" } },
    { name: "final with nothing to say → finish", journal: [said("", [], true)], gives: { type: "finish", text: "" } },
    {
      name: "final and resumed → finish, not said again",
      journal: [said("bye", [], true), resumed],
      gives: { type: "finish", text: "bye" },
    },
    {
      name: "final with an open call → the call first",
      journal: [said("bye", [call("1", "keyed")], true)],
      gives: one("1", "keyed", "first"),
    },
    { name: "asked → wait", journal: [asked("q1")], gives: { type: "wait", question: "q1" } },
    { name: "asked and resumed → wait", journal: [asked("q1"), resumed], gives: { type: "wait", question: "q1" } },
    { name: "answered → step", journal: [asked("q1"), answered("q1", "a")], gives: { type: "step" } },
    { name: "expired → step", journal: [asked("q1"), answered("q1", null)], gives: { type: "step" } },
    {
      name: "the answer to an earlier question is not this one's",
      journal: [asked("q1"), answered("q1", "a"), asked("q2")],
      gives: { type: "wait", question: "q2" },
    },
    {
      name: "asked after tool calls → wait",
      journal: [said("", [call("1", "pure")]), ended("1"), asked("q1")],
      gives: { type: "wait", question: "q1" },
    },
    {
      name: "said after an answer → as said",
      journal: [asked("q1"), answered("q1", "b"), said("b it is", [], true)],
      gives: { type: "finish", text: "b it is" },
    },
    { name: "joined after a step → step", journal: [said("thinking"), joined], gives: { type: "step" } },
    {
      name: "joined between calls → the open call first",
      journal: [said("", [call("1", "keyed")]), joined],
      gives: one("1", "keyed", "first"),
    },
  ] satisfies NextCase[],
  check,
);

const yes = answered("q1", "approve");
const goesOn = (id: string, tool: string, ask: CallAsked, answer: Entry): NextAction => {
  if (answer.type !== "answered") throw new Error("not an answer");
  return { type: "answered-call", call: call(id, tool), asked: ask, answer };
};
const pures = (...ids: string[]): NextAction => ({
  type: "call",
  calls: ids.map((id) => ({ call: call(id, "pure"), mode: "first" as const })),
});
const middle = said("", [call("1", "pure"), call("2", "once"), call("3", "pure")]);
const inRow = said("", [call("1", "pure"), call("2", "pure"), call("3", "pure"), call("4", "pure")]);

table(
  "next: calls that ask",
  [
    ...effects.flatMap((effect): NextCase[] => {
      const wanted = said("", [call("1", effect)]);
      const ask = callAsked("1", "q1");
      return [
        { name: `${effect}, asked → wait`, journal: [wanted, ask], gives: { type: "wait", question: "q1" } },
        {
          name: `${effect}, asked and resumed → wait`,
          journal: [wanted, ask, resumed],
          gives: { type: "wait", question: "q1" },
        },
        {
          name: `${effect}, answered → goes on with it`,
          journal: [wanted, ask, yes],
          gives: goesOn("1", effect, ask, yes),
        },
        {
          name: `${effect}, answered, then died before it was begun → goes on with it`,
          journal: [wanted, ask, yes, resumed],
          gives: goesOn("1", effect, ask, yes),
        },
        {
          name: `${effect}, denied → goes on with that`,
          journal: [wanted, ask, answered("q1", "deny")],
          gives: goesOn("1", effect, ask, answered("q1", "deny")),
        },
        {
          name: `${effect}, nobody answered → goes on with that`,
          journal: [wanted, ask, answered("q1", null)],
          gives: goesOn("1", effect, ask, answered("q1", null)),
        },
        {
          name: `${effect}, allowed and begun in this life → first`,
          journal: [wanted, ask, yes, begun("1", effect)],
          here: ["1"],
          gives: one("1", effect, "first"),
        },
        {
          name: `${effect}, allowed and begun in another life → by its effect`,
          journal: [wanted, ask, yes, begun("1", effect), resumed],
          gives: afterDeath[effect],
        },
        {
          name: `${effect}, allowed and ended → step`,
          journal: [wanted, ask, yes, ended("1")],
          gives: { type: "step" },
        },
      ];
    }),
    {
      name: "asked again → only the latest question counts",
      journal: [said("", [call("1", "once")]), callAsked("1", "q1"), yes, callAsked("1", "q2", { bound: "b2" })],
      gives: { type: "wait", question: "q2" },
    },
    {
      name: "asked again and answered → with the latest question",
      journal: [
        said("", [call("1", "once")]),
        callAsked("1", "q1"),
        yes,
        callAsked("1", "q2", { bound: "b2" }),
        answered("q2", "deny"),
      ],
      gives: goesOn("1", "once", callAsked("1", "q2", { bound: "b2" }), answered("q2", "deny")),
    },
    ...(["keyed", "checkable"] as const).flatMap((effect): NextCase[] => {
      const cut = [said("", [call("1", effect)]), callAsked("1", "q1"), yes, begun("1", effect), resumed];
      const ask = callAsked("1", "q2", { bound: "b2" });
      const again = answered("q2", "approve");
      return [
        {
          name: `${effect}, begun, then asked about again → wait`,
          journal: [...cut, ask],
          gives: { type: "wait", question: "q2" },
        },
        {
          name: `${effect}, begun, asked about again, answered → goes on with it`,
          journal: [...cut, ask, again],
          gives: goesOn("1", effect, ask, again),
        },
        {
          name: `${effect}, begun, asked about again, begun again → by its effect`,
          journal: [...cut, ask, again, begun("1", effect)],
          gives: afterDeath[effect],
        },
      ];
    }),
    {
      name: "the answer to another question is none",
      journal: [said("", [call("1", "once")]), callAsked("1", "q2"), yes],
      gives: { type: "wait", question: "q2" },
    },
    {
      name: "a question about the same id in an earlier step is none",
      journal: [
        said("", [call("1", "once")]),
        callAsked("1", "q1"),
        yes,
        begun("1", "once"),
        ended("1"),
        said("", [call("1", "once")]),
      ],
      gives: one("1", "once", "first"),
    },
    { name: "in the middle: what is before it runs first", journal: [middle], gives: pures("1") },
    {
      name: "in the middle: asked → wait, though a pure one is open behind it",
      journal: [middle, ended("1"), callAsked("2", "q1")],
      gives: { type: "wait", question: "q1" },
    },
    {
      name: "in the middle: denied and ended → what is behind it",
      journal: [middle, ended("1"), callAsked("2", "q1"), answered("q1", "deny"), ended("2")],
      gives: pures("3"),
    },
    {
      name: "pure calls run together up to the one that has asked",
      journal: [inRow, callAsked("3", "q1"), yes],
      gives: pures("1", "2"),
    },
    {
      name: "the one that has asked goes on alone",
      journal: [inRow, callAsked("3", "q1"), yes, ended("1"), ended("2")],
      gives: goesOn("3", "pure", callAsked("3", "q1"), yes),
    },
    { name: "a summary is no step of its own", journal: [said("thinking"), compacted], gives: { type: "step" } },
    { name: "what was heard is no step of its own", journal: [heard], gives: { type: "step" } },
    { name: "heard behind a step, after it joined", journal: [said("thinking"), heard], gives: { type: "step" } },
    {
      name: "heard in the middle of calls: the rest of them is still made",
      journal: [said("", [call("1", "keyed")]), begun("1", "keyed"), resumed, heard],
      gives: { type: "call", calls: [{ call: call("1", "keyed"), mode: "again" }] },
    },
    { name: "a summary before anything was said → step", journal: [compacted], gives: { type: "step" } },
    {
      name: "joined while it waits → wait",
      journal: [said("", [call("1", "once")]), callAsked("1", "q1"), joined],
      gives: { type: "wait", question: "q1" },
    },
  ] satisfies NextCase[],
  check,
);

table(
  "calls without a result",
  [
    { name: "nothing said", journal: [], gives: [] },
    { name: "no calls", journal: [said("x")], gives: [] },
    { name: "not begun", journal: [said("", [call("1", "once")])], gives: [["1", null]] },
    { name: "begun", journal: [said("", [call("1", "once")]), begun("1", "once")], gives: [["1", "once"]] },
    { name: "asked about", journal: [said("", [call("1", "once")]), callAsked("1", "q1"), yes], gives: [["1", null]] },
    {
      name: "begun, then asked about again, where it was looked whether it had happened",
      journal: [said("", [call("1", "checkable")]), begun("1", "checkable"), resumed, callAsked("1", "q1"), yes],
      gives: [["1", null]],
    },
    {
      name: "begun, then asked about again, where nobody can look",
      journal: [said("", [call("1", "keyed")]), begun("1", "keyed"), resumed, callAsked("1", "q1"), yes],
      gives: [["1", "keyed"]],
    },
    {
      name: "some ended",
      journal: [middle, ended("1"), begun("2", "once")],
      gives: [
        ["2", "once"],
        ["3", null],
      ],
    },
    { name: "of the last step only", journal: [middle, said("y")], gives: [] },
    { name: "a question of the agent", journal: [middle, asked("q1")], gives: [] },
  ] satisfies { name: string; journal: Entry[]; gives: (readonly [string, ToolEffect | null])[] }[],
  ({ journal, gives }) => {
    assert.deepEqual(
      dangling(journal).map(({ call: { call: id }, effect }) => [id, effect]),
      gives,
    );
  },
);

const joinedByStrangers: Entry = { type: "joined", message: anInbound("x", { outside: true }) };
const fromOutside: Entry = { type: "tool-ended", call: "1", result: { type: "ok", output: "x", outside: true } };
table(
  "words of strangers in the turn",
  [
    { name: "none", journal: [said("", [call("1", "pure")]), ended("1")], gives: false },
    { name: "in the last result", journal: [said("", [call("1", "pure")]), fromOutside], gives: true },
    { name: "in an earlier step", journal: [fromOutside, said("", [call("1", "pure")]), ended("1")], gives: true },
    ...(["failed", "unknown"] as const).map((type) => ({
      name: `in one that is ${type}`,
      journal: [{ type: "tool-ended", call: "1", result: { type, why: "x", outside: true } } satisfies Entry],
      gives: true,
    })),
    { name: "summed up since", journal: [fromOutside, compacted, said("x")], gives: true },
    { name: "a message that joined", journal: [joined], gives: false },
    { name: "a message of theirs that joined", journal: [joinedByStrangers], gives: true },
  ],
  ({ journal, gives }) => assert.equal(isFromOutside(journal), gives),
);

function check({ journal, here, gives }: NextCase): void {
  assert.deepEqual(decideNext(journal, effectOf, new Set(here ?? [])), gives);
}

table(
  "progress since the last start",
  [
    { name: "nothing", journal: [], gives: false },
    { name: "a step", journal: [said("x")], gives: true },
    { name: "a tool result", journal: [said("", [call("1", "once")]), resumed, ended("1")], gives: true },
    {
      name: "a failed tool is a result",
      journal: [resumed, { type: "tool-ended", call: "1", result: { type: "failed", why: "no" } }],
      gives: true,
    },
    { name: "a step before the last start", journal: [said("x"), resumed], gives: false },
    { name: "only the last start counts", journal: [resumed, said("x"), resumed], gives: false },
    { name: "a beginning is none", journal: [resumed, begun("1", "once")], gives: false },
    { name: "a recovered unknown is none", journal: [resumed, unknown("1")], gives: false },
    { name: "a joined message is none", journal: [resumed, joined], gives: false },
    { name: "a summary is one", journal: [resumed, compacted], gives: true },
    { name: "a voice message that was heard is one", journal: [resumed, heard], gives: true },
    { name: "a call that asks is none", journal: [resumed, callAsked("1", "q1")], gives: false },
    {
      name: "an answer is a new start",
      journal: [said("", [call("1", "once")]), callAsked("1", "q1"), yes],
      gives: false,
    },
    {
      name: "a result after an answer is one",
      journal: [said("", [call("1", "once")]), callAsked("1", "q1"), yes, begun("1", "once"), ended("1")],
      gives: true,
    },
    { name: "an answer from the user is none", journal: [resumed, answered("q1", "a")], gives: false },
  ] satisfies { name: string; journal: Entry[]; gives: boolean }[],
  ({ journal, gives }) => {
    assert.equal(madeProgress(journal), gives);
  },
);

test("a turn killed at every entry does each finished step once", () => {
  const whole: readonly Entry[] = [
    said("", [call("1", "pure"), call("2", "keyed")]),
    ended("1"),
    begun("2", "keyed"),
    ended("2"),
    said("", [call("3", "once")]),
    begun("3", "once"),
    ended("3"),
    said("there", [], true),
  ];
  const actions = whole.map((_, n) => decideNext(whole.slice(0, n), effectOf, new Set()));
  assert.deepEqual(
    actions.map((action) =>
      action.type === "call" ? action.calls.map((c) => `${c.mode} ${c.call.call}`).join() : action.type,
    ),
    ["step", "first 1", "first 2", "again 2", "step", "first 3", "give-up", "step"],
  );
});

const begunOnce: Entry = { type: "tool-begun", call: "1", effect: "once" };
const ok: Entry = { type: "tool-ended", call: "1", result: { type: "ok", output: 1 } };
const crash: Entry = { type: "resumed", attempt: 2, reason: "crash" };
const restart: Entry = { type: "resumed", attempt: 2, reason: "restart_timeout" };
const using = (tool: string, input: unknown): Entry => said("", [{ call: "1", tool, input }]);

table(
  "dying of the same call twice",
  [
    { name: "never died", journal: [using("once", "x"), begunOnce], gives: false },
    { name: "in its first call again", journal: [using("once", "x"), begunOnce, crash], gives: true },
    {
      name: "asked for again after it was unknown",
      journal: [using("once", "x"), begunOnce, crash, unknown("1"), using("once", "x"), begunOnce],
      gives: true,
    },
    {
      name: "with steps that went well between",
      journal: [
        using("once", "x"),
        begunOnce,
        crash,
        unknown("1"),
        using("pure", 0),
        ok,
        using("once", "x"),
        begunOnce,
      ],
      gives: true,
    },
    {
      name: "with another input",
      journal: [using("once", "x"), begunOnce, crash, unknown("1"), using("once", "y"), begunOnce],
      gives: false,
    },
    {
      name: "in another tool",
      journal: [using("once", "x"), begunOnce, crash, unknown("1"), using("once2", "x"), begunOnce],
      gives: false,
    },
    {
      name: "a tool that leaves no trace of its beginning",
      journal: [using("pure", "x"), crash, ok, using("pure", "x")],
      gives: true,
    },
    {
      name: "interrupted by a restart, which is no death",
      journal: [using("once", "x"), begunOnce, restart, unknown("1"), using("once", "x"), begunOnce],
      gives: false,
    },
    {
      name: "in a call that was allowed and leaves no trace of its beginning",
      journal: [using("pure", "x"), callAsked("1", "q1"), yes, crash],
      gives: true,
    },
    {
      name: "waiting for leave is no call",
      journal: [using("once", "x"), begunOnce, crash, unknown("1"), using("once", "x"), callAsked("1", "q1")],
      gives: false,
    },
    { name: "not in a call now", journal: [using("once", "x"), begunOnce, crash, unknown("1")], gives: false },
    { name: "not in a call then", journal: [crash, using("once", "x"), begunOnce], gives: false },
  ],
  ({ journal, gives }) => assert.equal(diedOfIt(journal, effectOf), gives),
);

const ran = [said("", [call("1", "checkable")]), begun("1", "checkable")];
const again: Entry = { type: "resumed", attempt: 2, reason: "crash" };
table(
  "a call that goes on without us",
  [
    { name: "begun", journal: ran, gives: true },
    { name: "not begun", journal: ran.slice(0, 1), gives: false },
    { name: "ended", journal: [...ran, ended("1")], gives: false },
    { name: "of another effect", journal: [said("", [call("1", "keyed")]), begun("1", "keyed")], gives: false },
    { name: "asked about again", journal: [...ran, again, callAsked("1", "q1")], gives: false },
    { name: "followed by another life", journal: [...ran, again, again], gives: true },
  ],
  ({ journal, gives }) => assert.equal(follows(journal), gives),
);

table(
  "whether a suspect may be let go",
  [
    { name: "words", journal: [said("hm")], gives: true },
    { name: "a step that makes a call", journal: [said("", [call("1", "once")]), begun("1", "once")], gives: false },
    { name: "a call's result", journal: [ended("1")], gives: true },
    { name: "a result nobody knows", journal: [unknown("1")], gives: false },
    { name: "a voice message", journal: [heard], gives: true },
    { name: "only a new start", journal: [again], gives: false },
  ],
  ({ journal, gives }) => assert.equal(isClear(journal), gives),
);
