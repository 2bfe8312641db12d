import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { TurnId } from "../../../core/ids.ts";
import type { Entry } from "../../../core/journal.ts";
import type { Message as Line } from "../../../core/message.ts";
import { aMessage, anInbound, turnId } from "../../../testing/samples.ts";
import { detailedFrom, earlierPieces, groupsBefore } from "./earlier.ts";
import type { Scene } from "./turn.ts";

/** "1 user hello" is a line of turn 1; "- assistant hi" one of none. */
function lines(...texts: readonly string[]): readonly Line[] {
  return texts.map((text, at): Line => {
    const [turn = "", role = "", ...words] = text.split(" ");
    return {
      ...aMessage(`k${at + 1}`),
      turn: turn === "-" ? null : turnId(turn),
      role: role as Line["role"],
      text: words.join(" "),
      n: at + 1,
    };
  });
}

function groups(all: readonly Line[], turn: string, summarised = 0): readonly string[] {
  const input = anInbound("x", { key: all.find((line) => line.turn === turn)?.key ?? "none" });
  return groupsBefore(all, turnId(turn), input, summarised).map(({ lines: own }) =>
    own.map(({ text }) => text).join(" "),
  );
}

describe("the turns before", () => {
  const two = ["1 user a", "1 assistant b", "2 user c", "2 assistant d"];
  for (const [name, all, turn, gives, summarised = 0] of [
    ["in their order", [...two, "3 user e"], "3", ["a b", "c d"]],
    ["not its own lines", [...two, "2 user more"], "2", ["a b"]],
    ["an answer that came after this message was sent", ["1 user a", "2 user c", "1 assistant b"], "2", ["a b"]],
    ["none that wait behind it", ["1 user a", "2 user c", "3 user e", "1 assistant b"], "2", ["a b"]],
    ["no notices", ["1 user a", "1 notice restarted", "1 assistant b", "2 user c"], "2", ["a b"]],
    ["what belongs to no turn", ["1 user a", "- assistant by the way", "2 user c"], "2", ["a", "by the way"]],
    ["nothing that is summarised", [...two, "3 user e"], "3", ["c d"], 2],
    ["half of a turn that is", [...two, "3 user e"], "3", ["d"], 3],
    ["its own line is not there yet", two, "3", ["a b", "c d"]],
  ] as readonly (readonly [string, readonly string[], string, readonly string[], number?])[]) {
    test(name, () => assert.deepEqual(groups(lines(...all), turn, summarised), gives));
  }

  test("how many are told in full changes only every few turns", () => {
    assert.deepEqual([0, 3, 4, 7, 8, 11, 12, 15, 16].map(detailedFrom), [0, 0, 0, 0, 4, 4, 8, 8, 12]);
  });
});

const scene = (): Scene => ({
  model: "x/y",
  resultMax: 1_000,
  keptAt: () => null,
  files: () => [],
  hears: false,
  ids: new Set(),
});
const journal = (output: string, more: readonly Entry[] = []): readonly Entry[] => [
  { type: "said", text: "", calls: [{ call: "a", tool: "look", input: {} }], final: false },
  ...more,
  { type: "tool-ended", call: "a", result: { type: "ok", output } },
  { type: "said", text: "answer", calls: [], final: true },
];

function told(
  all: readonly Line[],
  journals: Readonly<Record<string, readonly Entry[]>>,
  budget: number,
): readonly string[] {
  const found = groupsBefore(all, turnId("now"), anInbound("x", { key: "now" }), 0);
  const map = new Map(Object.entries(journals)) as unknown as ReadonlyMap<TurnId, readonly Entry[]>;
  return earlierPieces(found, map, budget, scene()).map(({ messages }) =>
    messages
      .flatMap((message): readonly { readonly type: string; readonly text?: string }[] =>
        message.role === "system" ? [] : message.content,
      )
      .map((part) => (part.type === "text" ? (part.text ?? "").replace(/^\[[^\]]* UTC\] /, "") : part.type))
      .join(" | "),
  );
}

describe("what is told of them", () => {
  const all = lines("1 user one", "1 assistant answer", "2 user two", "2 assistant answer");
  const full = (user: string): string => `${user} | tool-call | tool-result | answer`;

  test("what was done, where there is room", () => {
    assert.deepEqual(told(all, { 1: journal("r"), 2: journal("r") }, 10_000), [full("one"), full("two")]);
  });

  test("the newest first, when there is little", () => {
    assert.deepEqual(told(all, { 1: journal("r".repeat(900)), 2: journal("r".repeat(900)) }, 400), [
      "one | answer",
      full("two"),
    ]);
  });

  test("words alone, when there is none", () => {
    assert.deepEqual(told(all, { 1: journal("r"), 2: journal("r") }, 10), ["one | answer", "two | answer"]);
  });

  test("a message that joined is told once", () => {
    const joined: Entry = { type: "joined", message: anInbound("hurry", { key: "k2" }) };
    const three = lines("1 user one", "2 user hurry", "1 assistant answer");
    assert.deepEqual(told(three, { 1: journal("r", [joined]) }, 10_000), [
      "one | tool-call | tool-result | hurry | answer",
    ]);
    assert.deepEqual(told(three, {}, 10_000), ["one | answer", "hurry"]);
    assert.deepEqual(told(three, { 1: journal("r", [joined]) }, 10), ["one | answer", "hurry"], "no room for the rest");
    const short: readonly Entry[] = [joined, { type: "said", text: "answer", calls: [], final: true }];
    assert.deepEqual(told(three, { 1: short }, 10_000), ["one | answer", "hurry"], "nothing was done in it");
  });

  test("so is an answer that came with files, which is a line of its own turn", () => {
    const joined: Entry = { type: "joined", message: anInbound("this", { key: "k2" }) };
    const three = lines("1 user one", "1 user this", "1 assistant answer");
    assert.deepEqual(told(three, { 1: journal("r", [joined]) }, 10_000), [
      "one | tool-call | tool-result | this | answer",
    ]);
    assert.deepEqual(told(three, {}, 10_000), ["one | this | answer"]);
  });

  test("a turn whose beginning is in the summary is told from there", () => {
    const entries: readonly Entry[] = [
      ...journal("r").slice(0, 2),
      { type: "compacted", summary: "s", entries: 2, upTo: 0 },
      ...journal("r").slice(2),
    ];
    const again = lines("1 user one", "1 assistant answer");
    assert.deepEqual(told(again, { 1: entries }, 10_000), ["one | answer"]);
  });
});
