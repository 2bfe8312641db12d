// What an agent heard in a voice message is stored before anything else is done, stands in the transcript, and is never
// asked for again: not by a message that joins, and not by the next life.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entry } from "../../src/core/journal.ts";
import type { FileRef } from "../../src/core/message.ts";
import { hearingsIn, unheardIn } from "../../src/core/running/spoken.ts";
import type { Agent, AgentJob, Step } from "../../src/ports/agent.ts";
import { stage } from "../stop/stage.ts";
import { journalOf, texts, tool, turnsOf, untilSeen } from "./agents.ts";

const voice = (blob: string): FileRef => ({ name: `${blob}.ogg`, mime: "audio/ogg", blob, bytes: 3 });
const body = (text: string, ...files: readonly FileRef[]) => ({ body: { kind: "text", text, files } }) as const;

/** Hears first, as the model backend does; then `answer` is asked. */
function listener(heard: string[], answer: (job: AgentJob) => Step | Promise<Step>, tools: Agent["tools"] = []): Agent {
  return {
    tools,
    async step(job) {
      const file = unheardIn(job.input, job.journal);
      if (file === null) return answer(job);
      heard.push(file.blob);
      if (file.blob === "noise") return { type: "heard", blob: file.blob, text: "", why: "planted-key is wrong" };
      return { type: "heard", blob: file.blob, text: `words of ${file.blob}, planted-key` };
    },
    close: async () => undefined,
  };
}

const words = ({ journal }: AgentJob): string => [...hearingsIn(journal).values()].map(({ text }) => text).join("; ");
const say = (text: string): Step => ({ type: "said", text, calls: [], final: true });
const hide = (text: string): string => text.replaceAll("planted-key", "(hidden)");

test("it is stored with its words in the transcript, and nothing secret of it", async (t) => {
  const on = await stage(t);
  const heard: string[] = [];
  await on.start({ agent: listener(heard, (job) => say(`heard ${words(job)}`)), hide });
  await on.say("", body("two of them:", voice("v1"), voice("noise"), voice("v2")));
  await untilSeen(on, 1);
  assert.deepEqual(heard, ["v1", "noise", "v2"]);
  const journal = await journalOf(on);
  assert.deepEqual(journal.slice(0, 3), [
    { type: "heard", blob: "v1", text: "words of v1, (hidden)" },
    { type: "heard", blob: "noise", text: "", why: "(hidden) is wrong" },
    { type: "heard", blob: "v2", text: "words of v2, (hidden)" },
  ] satisfies Entry[]);
  const [turn] = await turnsOf(on);
  const [line] = await on.store.history(turn?.session ?? assert.fail("there is no turn"), 10);
  assert.equal(
    line?.text,
    "two of them:\n\n[voice message, transcribed: words of v1, (hidden)]\n\n[voice message, transcribed: words of v2, (hidden)]",
  );
  assert.equal(line?.files?.length, 3);
});

test("one that joins a running turn is heard in it, once", async (t) => {
  const on = await stage(t);
  const heard: string[] = [];
  const look = tool("look", "pure", async () => {
    await on.write("", { key: "joins", ...body("", voice("v1")) });
    return { type: "ok", output: "seen" };
  });
  const answer = (job: AgentJob): Step =>
    job.journal.some(({ type }) => type === "said")
      ? say(`heard ${words(job)}`)
      : { type: "said", text: "", calls: [{ call: "1", tool: "look", input: {} }], final: false };
  await on.start({ agent: listener(heard, answer, [look]), settings: { chat: { busy: "steer" } } });
  await on.say("look");
  await untilSeen(on, 1);
  assert.deepEqual(texts(on), ["heard words of v1, planted-key"]);
  assert.deepEqual(heard, ["v1"]);
  assert.deepEqual(
    (await journalOf(on)).map(({ type }) => type),
    ["said", "tool-ended", "joined", "heard", "said"],
  );
  const [turn] = await turnsOf(on);
  const lines = await on.store.history(turn?.session ?? assert.fail("there is no turn"), 10);
  assert.equal(
    lines.find(({ key }) => key === "joins")?.text,
    "[voice message, transcribed: words of v1, planted-key]",
  );
});

test("a life that ends behind it leaves it to the next", async (t) => {
  const on = await stage(t);
  const heard: string[] = [];
  let asked = 0;
  const hanging = listener(heard, () => {
    asked++;
    return new Promise<never>(() => undefined);
  });
  const first = await on.start({ agent: hanging });
  await on.say("", body("", voice("v1")));
  await on.until(() => asked > 0, "the answer is asked for");
  first.life.kill();
  await on.start({ agent: listener(heard, (job) => say(`heard ${words(job)}`)) });
  await untilSeen(on, 1);
  assert.deepEqual(heard, ["v1"]);
  assert.deepEqual(texts(on).slice(-1), ["heard words of v1, planted-key"]);
});

test("what is no whole hearing is refused as a step that cannot be used", async (t) => {
  const on = await stage(t);
  const broken = { type: "heard", blob: "v1" } as unknown as Step;
  await on.start({ agent: { tools: [], step: async () => broken, close: async () => undefined } });
  await on.say("hello");
  await untilSeen(on, 1);
  assert.match(texts(on)[0] ?? "", /what it heard is not complete/);
});
