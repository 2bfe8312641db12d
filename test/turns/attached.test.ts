// What comes with the answer to a question: its words are the answer, and its files reach the agent all the same.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { FileRef } from "../../src/core/message.ts";
import type { AgentJob } from "../../src/ports/agent.ts";
import { stage } from "../stop/stage.ts";
import { agentOf, calling, fine, journalOf, tool, untilAsked, untilSeen } from "./agents.ts";

const file: FileRef = { name: "dot.png", mime: "image/png", blob: "b1", bytes: 70 };
const question = async (_input: unknown, { now }: { readonly now: () => number }) =>
  ({ type: "question", text: "Which one?", choices: [], until: now() + 60_000 }) as never;
const filesIn = ({ journal }: AgentJob) =>
  journal.flatMap((entry) =>
    entry.type === "joined" && entry.message.body.kind === "text" ? entry.message.body.files : [],
  );

for (const [name, files, types] of [
  ["with a file", [file], ["said", "call-asked", "answered", "joined", "tool-ended", "said"]],
  ["without one", [], ["said", "call-asked", "answered", "tool-ended", "said"]],
] as const) {
  test(`an answer ${name}`, async (t) => {
    const on = await stage(t);
    const got: (readonly FileRef[])[] = [];
    const ask = tool("ask", "pure", () => fine, { vet: question });
    const last = (job: AgentJob) => {
      got.push(filesIn(job));
      return { type: "said", text: "thanks", calls: [], final: true } as const;
    };
    await on.start({ agent: agentOf([ask], [calling("ask"), last]) });
    await on.say("hello");
    await untilAsked(on);
    await on.say("this one", { body: { kind: "text", text: "this one", files } });
    await untilSeen(on, 2);
    const journal = await journalOf(on);
    assert.deepEqual(
      journal.map(({ type }) => type),
      types,
    );
    assert.deepEqual(got, [files]);
    const ended = journal.find((entry) => entry.type === "tool-ended");
    assert.deepEqual(ended?.result, { type: "ok", output: "this one" });
  });
}
