// What an inbound message is: commands and what only looks like one, answers in every form, timers, plain words.

import assert from "node:assert/strict";
import { anInbound, turnId } from "../testing/samples.ts";
import { table } from "../testing/table.ts";
import type { Body } from "./message.ts";
import { type OpenQuestion, type Route, commands, decided, nearest, readCommand, route } from "./route.ts";

const text = (words: string): Body => ({ kind: "text", text: words, files: [] });
const command = (name: keyof typeof commands, rest = ""): Route => ({ type: "command", name, rest });
const unknown = (name: string, near: keyof typeof commands | null): Route => ({
  type: "unknown-command",
  name,
  nearest: near,
});
const turn: Route = { type: "turn" };

type RouteCase = { name: string; body: Body; open?: readonly OpenQuestion[]; gives: Route };
function check({ body, open, gives }: RouteCase): void {
  assert.deepEqual(route(anInbound("", { body }), open ?? []), gives);
}

table(
  "route: commands",
  [
    ...(Object.keys(commands) as (keyof typeof commands)[]).map((name) => ({
      name: `/${name}`,
      body: text(`/${name}`),
      gives: command(name),
    })),
    { name: "with words behind it", body: text("/new please  now"), gives: command("new", "please  now") },
    { name: "with lines behind it", body: text("/new\nfirst\nsecond"), gives: command("new", "first\nsecond") },
    { name: "in capitals", body: text("/HELP"), gives: command("help") },
    { name: "with space around it", body: text("  /stop \n"), gives: command("stop") },
    { name: "to a named bot", body: text("/help@everturn_bot"), gives: command("help") },
    { name: "to a named bot, with words", body: text("/help@bot me"), gives: command("help", "me") },
    {
      name: "as the platform's own command",
      body: { kind: "command", name: "stop", rest: "" },
      gives: command("stop"),
    },
    { name: "misspelt", body: text("/hepl"), gives: unknown("hepl", "help") },
    { name: "misspelt by one letter", body: text("/statu"), gives: unknown("statu", "status") },
    { name: "unlike any", body: text("/teleport home"), gives: unknown("teleport", null) },
    { name: "a name every object has", body: text("/constructor"), gives: unknown("constructor", null) },
    {
      name: "another such name",
      body: { kind: "command", name: "toString", rest: "" },
      gives: unknown("toString", null),
    },
    {
      name: "unknown one from the platform",
      body: { kind: "command", name: "stopp", rest: "" },
      gives: unknown("stopp", "stop"),
    },
  ] satisfies RouteCase[],
  check,
);

table(
  "route: not commands",
  [
    { name: "plain words", body: text("hello"), gives: turn },
    { name: "a path", body: text("/etc/hosts"), gives: turn },
    { name: "a path with words", body: text("/etc/hosts is empty"), gives: turn },
    { name: "a file at the root", body: text("/vmlinuz.old"), gives: turn },
    { name: "a slash alone", body: text("/"), gives: turn },
    { name: "two slashes", body: text("//help"), gives: turn },
    { name: "a slash and a space", body: text("/ help"), gives: turn },
    { name: "a slash and a number", body: text("/2"), gives: turn },
    { name: "a slash and an emoji", body: text("/👋"), gives: turn },
    { name: "a command in the middle", body: text("say /help"), gives: turn },
    { name: "a word longer than any command", body: text(`/${"a".repeat(33)}`), gives: turn },
    { name: "nothing", body: text(""), gives: turn },
    { name: "a timer", body: { kind: "timer", timer: "x", text: "tea" }, gives: turn },
    {
      name: "a timer whose text looks like a command",
      body: { kind: "timer", timer: "x", text: "/stop" },
      gives: turn,
    },
  ] satisfies RouteCase[],
  check,
);

const file = { name: "a.txt", mime: "text/plain", blob: "x", bytes: 1 };
const first: OpenQuestion = {
  turn: turnId("t1"),
  question: "q1",
  kind: "question",
  text: "which?",
  choices: ["Tea", "Coffee", "7"],
};
const second: OpenQuestion = { turn: turnId("t2"), question: "q2", kind: "question", text: "what?", choices: [] };
const chose = (choice: string): Route => ({ type: "answer", turn: turnId("t1"), question: "q1", choice });

table(
  "route: answers",
  [
    { name: "by number", body: text("2"), open: [first], gives: chose("Coffee") },
    { name: "by number with space", body: text(" 1 \n"), open: [first], gives: chose("Tea") },
    { name: "by words", body: text("Tea"), open: [first], gives: chose("Tea") },
    { name: "by words in another case", body: text("cOFFEE"), open: [first], gives: chose("Coffee") },
    { name: "a choice that is a number", body: text("7"), open: [first], gives: chose("7") },
    { name: "number 0 is no choice", body: text("0"), open: [first], gives: chose("0") },
    { name: "a number too high is no choice", body: text("4"), open: [first], gives: chose("4") },
    { name: "a negative number is no choice", body: text("-1"), open: [first], gives: chose("-1") },
    { name: "in the user's own words", body: text("  water, please "), open: [first], gives: chose("water, please") },
    {
      name: "with a button",
      body: { kind: "answer", question: "q1", choice: "Coffee" },
      open: [first],
      gives: chose("Coffee"),
    },
    {
      name: "with a button of an older question",
      body: { kind: "answer", question: "q1", choice: "Tea" },
      open: [first, second],
      gives: chose("Tea"),
    },
    {
      name: "in words, to the newest question",
      body: text("whatever"),
      open: [first, second],
      gives: { type: "answer", turn: turnId("t2"), question: "q2", choice: "whatever" },
    },
    {
      name: "with a button, too late",
      body: { kind: "answer", question: "q0", choice: "Tea" },
      open: [first],
      gives: { type: "late-answer", question: "q0" },
    },
    {
      name: "with a button, nothing open",
      body: { kind: "answer", question: "q1", choice: "Tea" },
      gives: { type: "late-answer", question: "q1" },
    },
    { name: "a command is no answer", body: text("/stop"), open: [first], gives: command("stop") },
    { name: "a path is an answer", body: text("/etc/hosts"), open: [first], gives: chose("/etc/hosts") },
    {
      name: "files without a word are no answer",
      body: { kind: "text", text: " ", files: [file] },
      open: [first],
      gives: turn,
    },
    {
      name: "files with words are one",
      body: { kind: "text", text: "Tea", files: [file] },
      open: [first],
      gives: chose("Tea"),
    },
    { name: "a timer is no answer", body: { kind: "timer", timer: "x", text: "Tea" }, open: [first], gives: turn },
  ] satisfies RouteCase[],
  check,
);

const leave: OpenQuestion = {
  turn: turnId("t3"),
  question: "q3",
  kind: "approval",
  text: "may I?",
  choices: ["approve", "always", "deny"],
};
const leaveOnce: OpenQuestion = { ...leave, choices: ["approve", "deny"] };
const decidedAs = (choice: string): Route => ({ type: "answer", turn: turnId("t3"), question: "q3", choice });
const pressed = (choice: string): Body => ({ kind: "answer", question: "q3", choice });

table(
  "route: leave to do something",
  [
    { name: "pressed", body: pressed("approve"), open: [leave], gives: decidedAs("approve") },
    { name: "always, pressed", body: pressed("always"), open: [leave], gives: decidedAs("always") },
    {
      name: "denied with words",
      body: pressed("deny: not on a Friday"),
      open: [leave],
      gives: decidedAs("deny: not on a Friday"),
    },
    {
      name: "pressed, with something that decides nothing",
      body: pressed("perhaps"),
      open: [leave],
      gives: { type: "no-decision", choices: ["approve", "always", "deny"] },
    },
    {
      name: "always, where that is not possible, is once",
      body: pressed("always"),
      open: [leaveOnce],
      gives: decidedAs("approve"),
    },
    { name: "yes, typed", body: text(" Yes "), open: [leave], gives: decidedAs("approve") },
    { name: "no, typed", body: text("no"), open: [leave], gives: decidedAs("deny") },
    { name: "by the number of a button", body: pressed("2"), open: [leave], gives: decidedAs("always") },
    { name: "by the number of one of fewer", body: pressed("2"), open: [leaveOnce], gives: decidedAs("deny") },
    ...["1", "2", "ok", "y", "n", "sure", "approved"].map((word) => ({
      name: `${word}, typed, is a message: it may have been meant for something else`,
      body: text(word),
      open: [leave],
      gives: turn,
    })),
    { name: "other words are a message", body: text("yes, but first show me the file"), open: [leave], gives: turn },
    { name: "a file is a message", body: { kind: "text", text: "yes", files: [file] }, open: [leave], gives: turn },
    { name: "other words answer an older question", body: text("Tea"), open: [first, leave], gives: chose("Tea") },
    {
      name: "a clear word decides before an older question",
      body: text("yes"),
      open: [first, leave],
      gives: decidedAs("approve"),
    },
    { name: "a newer question takes the words", body: text("yes"), open: [leave, first], gives: chose("yes") },
    { name: "a timer decides nothing", body: { kind: "timer", timer: "x", text: "yes" }, open: [leave], gives: turn },
  ] satisfies RouteCase[],
  check,
);

const other: OpenQuestion = { ...leave, turn: turnId("t4"), question: "q4" };
table(
  "/approve and /deny",
  [
    { name: "nothing waits", word: "approve", rest: "", open: [], gives: null },
    { name: "only a question waits", word: "deny", rest: "", open: [first], gives: null },
    { name: "the only one", word: "approve", rest: "", open: [leave], gives: ["q3", "approve", 0] },
    { name: "the newest of several", word: "approve", rest: "", open: [leave, other], gives: ["q4", "approve", 1] },
    {
      name: "also behind a newer question",
      word: "approve",
      rest: "",
      open: [leave, second],
      gives: ["q3", "approve", 0],
    },
    { name: "always", word: "approve", rest: " ALWAYS ", open: [leave], gives: ["q3", "always", 0] },
    {
      name: "always where only once is possible",
      word: "approve",
      rest: "always",
      open: [leaveOnce],
      gives: ["q3", "approve", 0],
    },
    { name: "with other words", word: "approve", rest: "not now, wait", open: [leave], gives: "unclear" },
    { name: "with the same in words", word: "approve", rest: "Yes", open: [leave], gives: ["q3", "approve", 0] },
    { name: "no", word: "approve", rest: "no", open: [leave], gives: "unclear" },
    { name: "denied", word: "deny", rest: "", open: [leave], gives: ["q3", "deny", 0] },
    {
      name: "denied with words",
      word: "deny",
      rest: " use git mv ",
      open: [leave],
      gives: ["q3", "deny: use git mv", 0],
    },
  ] as readonly {
    name: string;
    word: "approve" | "deny";
    rest: string;
    open: readonly OpenQuestion[];
    gives: readonly [string, string, number] | "unclear" | null;
  }[],
  ({ word, rest, open, gives }) => {
    const found = decided(word, rest, open);
    const isNone = found === null || found === "unclear";
    assert.deepEqual(isNone ? found : [found.answer.question, found.answer.choice, found.others], gives);
  },
);

table(
  "readCommand",
  [
    { name: "a button is none", body: { kind: "answer", question: "q", choice: "/stop" }, gives: null },
    { name: "a timer is none", body: { kind: "timer", timer: "x", text: "/stop" }, gives: null },
    { name: "text", body: text("/Do_it2 now"), gives: { name: "do_it2", rest: "now" } },
  ] satisfies { name: string; body: Body; gives: { name: string; rest: string } | null }[],
  ({ body, gives }) => {
    assert.deepEqual(readCommand(body), gives);
  },
);

table(
  "nearest",
  [
    { name: "itself", word: "port", among: ["host", "port"], gives: "port" },
    { name: "a letter too many", word: "portt", among: ["host", "port"], gives: "port" },
    { name: "two letters swapped", word: "hots", among: ["host", "port"], gives: "host" },
    { name: "the nearer of two", word: "hort", among: ["horn", "host", "hort"], gives: "hort" },
    { name: "three edits away", word: "potato", among: ["port"], gives: null },
    { name: "a short name allows fewer edits", word: "abc", among: ["new"], gives: null },
    { name: "a short name, two letters swapped", word: "nwe", among: ["new"], gives: null },
    { name: "a short name, one letter off", word: "nex", among: ["new"], gives: "new" },
    { name: "nothing to compare with", word: "port", among: [], gives: null },
    { name: "no word", word: "", among: ["new"], gives: null },
  ],
  ({ word, among, gives }) => {
    assert.equal(nearest(word, among), gives);
  },
);

table(
  "route: what strangers wrote is a message, whatever it looks like",
  [
    { name: "a command", body: text("/restart") },
    { name: "a command of the platform", body: { kind: "command", name: "stop", rest: "" } as const },
    { name: "an approval", body: text("approve") },
    { name: "words where any would be an answer", body: text("yes, all of it") },
    { name: "a press", body: { kind: "answer", question: "q1", choice: "approve" } as const },
  ],
  ({ body }) => {
    const open: OpenQuestion[] = (["question", "approval"] as const).map((kind) => {
      return { turn: turnId("t1"), question: "q1", kind, text: "?", choices: ["approve", "deny"] };
    });
    assert.deepEqual(route(anInbound("", { body, outside: true }), open), turn);
  },
);
