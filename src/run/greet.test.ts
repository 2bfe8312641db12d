// What is said at a start, to whom, and what is not.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { StopClass } from "../core/recovery.ts";
import { type Greeting, farewell, greeting } from "./greet.ts";

const usual: Greeting = {
  version: "1.2.3",
  url: "http://127.0.0.1:7433",
  link: "http://127.0.0.1:7433/#link=secret",
  agent: null,
  hasWeb: true,
  isKept: false,
  held: null,
  recovered: { turns: 0, items: 0 },
  blackoutMs: null,
};

const rows: readonly (readonly [
  what: string,
  one: Partial<Greeting>,
  has: readonly RegExp[],
  hasNot: readonly RegExp[],
])[] = [
  ["somebody sits there", {}, [/^Web chat: \S+#link=secret$/m, /works once/, /Ctrl-C/], [/Took over/, /Goes on/]],
  [
    "a journal keeps it",
    { isKept: true, link: null },
    [/^Web chat: http:\/\/127\.0\.0\.1:7433 .*everturn link/m, /`everturn gateway stop` stops/],
    [/secret/, /Ctrl-C/],
  ],
  ["a pipe reads it", { link: null }, [/^Web chat: http:\/\/127\.0\.0\.1:7433 .*everturn link/m, /Ctrl-C/], [/secret/]],
  ["nobody chose a model", {}, [/^The offline agent answers, because no model is set\. Ctrl-C/m], []],
  ["a model answers", { agent: "openai/small" }, [/^openai\/small answers\. Ctrl-C/m], [/offline/]],
  ["there is no page", { hasWeb: false }, [/^Control: http:\/\/127\.0\.0\.1:7433$/m], [/secret/]],
  ["it took over", { blackoutMs: 42 }, [/^Took over in 42 ms\.$/m], []],
  ["it took work over", { recovered: { turns: 1, items: 2 } }, [/1 unfinished conversation and 2 replies\./], []],
  ["it holds still", { held: "it died" }, [/safe mode: it died\./, /gateway resume/], [/secret/, /is running/]],
];

for (const [what, one, has, hasNot] of rows)
  test(what, () => {
    const said = greeting({ ...usual, ...one }).join("\n");
    for (const pattern of has) assert.match(said, pattern);
    for (const pattern of hasNot) assert.doesNotMatch(said, pattern);
  });

const ends: readonly (readonly [kind: StopClass, interrupted: number | null, says: string])[] = [
  ["planned", null, "The gateway has stopped: somebody asked."],
  ["planned", 0, "The gateway has stopped: somebody asked."],
  ["unexpected", 1, "The gateway has stopped: somebody asked. 1 turn was interrupted, to go on at the next start."],
  ["fault", 2, "The gateway has stopped: somebody asked. 2 turns were interrupted, to go on at the next start."],
  ["restart", 2, "The gateway hands over: somebody asked."],
  ["take-over", 2, "The gateway hands over: somebody asked."],
];

for (const [kind, interrupted, says] of ends)
  test(`the last word of a ${kind} stop with ${interrupted ?? "no"} interrupted`, () => {
    const phases = interrupted === null ? [] : [{ name: "park", ms: 1, facts: { interrupted } }];
    assert.equal(farewell({ intent: { class: kind, by: "cli", reason: "somebody asked" }, phases }), says);
  });
