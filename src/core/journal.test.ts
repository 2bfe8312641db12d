// What a turn does next, from its journal alone: every effect class, interrupted or not, begun in this life or another.

import assert from "node:assert/strict";
import { test } from "node:test";
import { anInbound } from "../testing/samples.ts";
import { table } from "../testing/table.ts";
import {
  type Entry,
  type NextAction,
  type ToolCall,
  type ToolEffect,
  decideNext,
  diedOfIt,
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
const joined: Entry = { type: "joined", message: anInbound("and another thing") };
const resumed: Entry = { type: "resumed", attempt: 2 };

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
    { name: "not in a call now", journal: [using("once", "x"), begunOnce, crash, unknown("1")], gives: false },
    { name: "not in a call then", journal: [crash, using("once", "x"), begunOnce], gives: false },
  ],
  ({ journal, gives }) => assert.equal(diedOfIt(journal, effectOf), gives),
);
