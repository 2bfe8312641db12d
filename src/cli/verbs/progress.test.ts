// What is shown while a gateway stops: the words, and how they reach a terminal, a pipe and a program.

import assert from "node:assert/strict";
import { test } from "node:test";
import { table } from "../../testing/table.ts";
import type { Output } from "../print.ts";
import { type Progress, display, progressLines } from "./progress.ts";

const turn = (n: number) => ({ turn: `t${n}`, session: `s${n}`, steps: n, forMs: 1_500 });
const calm: Progress = { state: "draining", reason: "asked", running: [], toSend: 0, leftMs: 5_000 };

table(
  "the words of a drain",
  [
    { name: "nothing runs", progress: calm, lines: ["Nothing runs any more; closing."] },
    {
      name: "something is on its way out",
      progress: { ...calm, toSend: 2 },
      lines: ["Nothing runs any more; closing; 2 messages on the way out."],
    },
    {
      name: "one turn with time left",
      progress: { ...calm, running: [turn(3)], leftMs: 4_001 },
      lines: [
        "1 turn runs, at most 5 s more; then interrupted, to go on at the next start.",
        "  turn t3 of session s3: step 4, for 1 s",
      ],
    },
    {
      name: "two turns whose time is over, one message on its way",
      progress: { ...calm, running: [turn(0), turn(1)], leftMs: 0, toSend: 1 },
      lines: [
        "2 turns run; being interrupted; 1 message on the way out.",
        "  turn t0 of session s0: step 1, for 1 s",
        "  turn t1 of session s1: step 2, for 1 s",
      ],
    },
    {
      name: "a long drain",
      progress: { ...calm, running: [turn(0)], leftMs: 600_000 },
      lines: [
        "1 turn runs, at most 10 min more; then interrupted, to go on at the next start.",
        "  turn t0 of session s0: step 1, for 1 s",
      ],
    },
    {
      name: "when it was asked is not known",
      progress: { ...calm, running: [turn(0)], leftMs: null },
      lines: ["1 turn runs.", "  turn t0 of session s0: step 1, for 1 s"],
    },
  ],
  ({ progress, lines }) => assert.deepEqual(progressLines(progress), lines),
);

function output(tty: boolean): Output & { readonly said: string[]; readonly remarks: string[] } {
  const said: string[] = [];
  const remarks: string[] = [];
  return {
    said,
    remarks,
    out: (text) => void said.push(text),
    err: (text) => void remarks.push(text),
    columns: tty ? 40 : Number.POSITIVE_INFINITY,
    tty,
    colour: false,
  };
}

test("a terminal sees one block, drawn again in its place, and the result there in the end", () => {
  const to = output(true);
  const view = display(to, false);
  view.show({ ...calm, running: [turn(0), turn(1)] });
  view.show({ ...calm, running: [turn(1)] });
  view.finish({ event: "stopped" }, "Done.");
  assert.deepEqual(
    to.said.map((one) => one.split("\n").length),
    [3, 2, 1],
  );
  assert.ok(to.said[1]?.startsWith("\u001B[3A\u001B[J1 turn runs"));
  assert.equal(to.said[2], "\u001B[2A\u001B[JDone.");
  for (const line of to.said.flatMap((one) => one.split("\n"))) assert.ok(line.length <= 40 + 7, line);
});

test("a block is never longer than a small screen, and words of others cannot steer it", () => {
  const to = output(true);
  const many = Array.from({ length: 30 }, (_, n) => ({ ...turn(n), session: "s\u001B[2J" }));
  display(to, false).show({ ...calm, running: many });
  const lines = to.said[0]?.split("\n") ?? [];
  assert.equal(lines.length, 12);
  assert.equal(lines.at(-1), "  … and 20 more");
  assert.ok(!to.said[0]?.includes("\u001B"));
});

test("a pipe sees each change once, not each second", () => {
  const to = output(false);
  const view = display(to, false);
  view.show({ ...calm, running: [turn(0)], leftMs: 5_000 });
  view.show({ ...calm, running: [turn(0)], leftMs: 4_000 });
  view.show({ ...calm, running: [{ ...turn(0), steps: 1 }], leftMs: 3_000 });
  view.show(calm);
  view.say("The marker could not be written.");
  view.finish({ event: "stopped" }, "Done.");
  assert.equal(to.said.length, 4);
  assert.match(to.said[1] ?? "", /step 2/);
  assert.deepEqual(to.remarks, ["The marker could not be written."]);
  assert.ok(!to.said.join("").includes("\u001B"));
});

test("an end at which nothing was done has nothing to show", () => {
  const to = output(false);
  const view = display(to, false);
  view.show(calm);
  view.finish({ event: "restarted" }, "Done.");
  assert.deepEqual(to.said, ["Done."]);
});

test("a program sees JSON lines", () => {
  const to = output(false);
  const view = display(to, true);
  view.show({ ...calm, running: [turn(0)] });
  view.say("Odd.");
  view.finish({ event: "stopped", pid: 1 }, "Done.");
  assert.deepEqual(
    to.said.map((one) => JSON.parse(one) as unknown),
    [
      { event: "progress", ...calm, running: [turn(0)] },
      { event: "stopped", pid: 1 },
    ],
  );
  assert.deepEqual(JSON.parse(to.remarks[0] ?? ""), { event: "remark", text: "Odd." });
});
