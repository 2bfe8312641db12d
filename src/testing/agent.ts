// The contract of an agent backend, as tests: it goes on from a journal instead of starting over, keeps nothing that
// matters between two steps, and is honest when it is told to stop. The caller names messages its agent can answer.

import assert from "node:assert/strict";
import { type TestContext, describe, test } from "node:test";
import type { Instant } from "../core/ids.ts";
import { type Entry, decideNext } from "../core/journal.ts";
import { noteFor } from "../core/resume.ts";
import type { Agent, AgentJob, Step } from "../ports/agent.ts";
import { toolFaults } from "./tool.ts";
import { aToolContext, anAddress, anInbound, at, sessionId, turnId } from "./samples.ts";

export type OpenedAgent = {
  readonly agent: Agent;
  /** Closes what the agent was opened with. */
  readonly close: () => Promise<void>;
};
export type AgentTrial = {
  /** A fresh agent, as after a restart: same settings, same outside world. */
  open(): Promise<OpenedAgent>;
  /** Messages that together use everything the agent can do: plain answers, tools, questions. */
  readonly messages: readonly string[];
  /** Whether the same journal always gives the same step. Models do not; rules do. */
  readonly repeatable: boolean;
};

/** A turn that takes longer than this never ends. */
const stepsMax = 200;

export function agentSuite(name: string, trial: AgentTrial): void {
  describe(`agent ${name}`, () => {
    toolListTests(trial);
    for (const message of trial.messages) {
      describe(JSON.stringify(message.slice(0, 60)), () => {
        if (trial.repeatable) relayTests(trial, message);
        turnTests(trial, message);
        abortTests(trial, message);
      });
    }
    inputTests(trial);
    closeTests(trial);
  });
}

async function opened(t: TestContext, trial: AgentTrial): Promise<Agent> {
  const { agent, close } = await trial.open();
  t.after(close);
  return agent;
}

type Told = { readonly drafts: string[]; readonly pauses: number[] };

function jobFor(text: string, journal: readonly Entry[], told?: Told, session = "s1"): AgentJob {
  return {
    session: sessionId(session),
    address: anAddress(session),
    turn: turnId(`turn of ${session}`),
    attempt: 1,
    input: anInbound(text, { from: anAddress(session) }),
    journal,
    note: noteFor(journal),
    history: async () => [],
    journalOf: async () => [],
    summary: async () => null,
    memories: async () => [],
    model: null,
    now: () => at(0),
    pause: async (ms) => void told?.pauses.push(ms),
    draft: (words) => void told?.drafts.push(words),
  };
}

const goOn = new AbortController().signal;

/** What the engine would store of a step. */
function toEntry(step: Step, n: number): Entry {
  switch (step.type) {
    case "said": {
      const { data, ...rest } = step;
      return data === undefined ? rest : { ...rest, data };
    }
    case "asked": {
      const { until: _, ...asked } = step;
      return { ...asked, question: `q${n}` };
    }
    case "compacted":
    case "heard":
      return step;
    case "failed":
      throw new Error(`the agent failed: ${step.why}`);
  }
}

type Ways = {
  /** How a question is answered; null when its time is over. */
  readonly answer: (choices: readonly string[]) => string | null;
  /** What every tool call gives; absent, the tools really run. */
  readonly result?: Extract<Entry, { type: "tool-ended" }>["result"];
};
const firstChoice: Ways = { answer: (choices) => choices[0] ?? "yes" };

/** Plays the engine without a store: asks for steps, runs tools, answers questions, until the turn ends. */
async function play(agent: Agent, text: string, past: readonly Entry[] = [], ways: Ways = firstChoice, session = "s1") {
  const journal: Entry[] = [...past];
  const effectOf = (tool: string) => agent.tools.find((one) => one.name === tool)?.effect ?? "once";
  for (let steps = 0; steps < stepsMax; steps++) {
    const next = decideNext(journal, effectOf, new Set());
    switch (next.type) {
      case "step":
        journal.push(toEntry(await agent.step(jobFor(text, [...journal], undefined, session), goOn), journal.length));
        break;
      case "call":
        for (const { call } of next.calls) {
          const tool = agent.tools.find((one) => one.name === call.tool);
          assert.ok(tool, `the agent called ${call.tool}, which is not among its tools`);
          const context = aToolContext(`${session}:${call.call}`, { session: sessionId(session) });
          const result = ways.result ?? (await tool.run(call.input, context));
          journal.push({ type: "tool-ended", call: call.call, result });
        }
        break;
      case "wait": {
        const asked = journal.findLast((entry) => entry.type === "asked");
        const choice = ways.answer(asked?.type === "asked" ? asked.choices : []);
        journal.push({ type: "answered", question: next.question, choice });
        break;
      }
      case "give-up":
        journal.push({ type: "tool-ended", call: next.call.call, result: { type: "unknown", why: "cut short" } });
        break;
      case "finish":
        return { text: next.text, journal: journal as readonly Entry[] };
    }
  }
  throw new Error(`the turn did not end within ${stepsMax} steps`);
}

function toolListTests(trial: AgentTrial): void {
  test("its tools have names of their own, descriptions, inputs and declared effects", async (t) => {
    const { tools } = await opened(t, trial);
    const names = tools.map((tool) => tool.name);
    assert.equal(new Set(names).size, names.length, `names are used twice: ${names.join(", ")}`);
    assert.deepEqual(tools.flatMap(toolFaults), []);
  });
}

function turnTests(trial: AgentTrial, message: string): void {
  test("a turn ends, and every step can be stored and read back", async (t) => {
    const { journal } = await play(await opened(t, trial), message);
    assert.deepEqual(JSON.parse(JSON.stringify(journal)), journal);
    for (const entry of journal) {
      if (entry.type !== "said") continue;
      const calls = entry.calls.map((call) => call.call);
      assert.equal(new Set(calls).size, calls.length, "the calls of one step have ids of their own");
    }
  });

  test("a fresh agent goes on from any point of the journal instead of starting over", async (t) => {
    const { journal: whole } = await play(await opened(t, trial), message);
    for (let cut = 1; cut < whole.length; cut++) {
      const resumed: Entry = { type: "resumed", attempt: 2, reason: "crash" };
      const past = [...whole.slice(0, cut), resumed];
      const { journal } = await play(await opened(t, trial), message, past);
      assert.ok(journal.length - past.length < whole.length, `after ${cut} of ${whole.length} entries it began again`);
      if (trial.repeatable) assert.deepEqual(shape(journal), shape(whole), `cut after ${cut} entries`);
      const said = journal.slice(past.length).flatMap((entry) => (entry.type === "said" ? [entry.text] : []));
      assert.ok(!said.join().includes("[System note:"), "what it is told of the interruption is not for its user");
    }
  });

  test("two sessions at once do not disturb each other", async (t) => {
    const agent = await opened(t, trial);
    const both = await Promise.all([
      play(agent, message, [], firstChoice, "s1"),
      play(agent, message, [], firstChoice, "s2"),
    ]);
    if (trial.repeatable) assert.deepEqual(shape(both[0].journal), shape(both[1].journal));
  });

  test("it comes to an end when tools fail, when nobody knows what they did, and when nobody answers", async (t) => {
    const answer = () => null;
    for (const result of [
      { type: "failed", why: "no luck" },
      { type: "unknown", why: "cut short" },
    ] as const) {
      await play(await opened(t, trial), message, [], { answer, result });
    }
  });

  test("it takes an answer in the user's own words, and messages that join", async (t) => {
    const joined: Entry = { type: "joined", message: anInbound("and hurry") };
    await play(await opened(t, trial), message, [joined], { answer: () => "none of these 👋" });
  });
}

function relayTests(trial: AgentTrial, message: string): void {
  test("the same message always takes the same steps, whatever was done before", async (t) => {
    const first = await play(await opened(t, trial), message);
    const agent = await opened(t, trial);
    for (const session of ["s1", "s2", "s3"]) {
      assert.deepEqual(shape((await play(agent, message, [], firstChoice, session)).journal), shape(first.journal));
    }
  });

  test("it keeps nothing between two steps: many agents do what one does", async (t) => {
    const alone = await play(await opened(t, trial), message);
    const relay: Agent = {
      tools: (await opened(t, trial)).tools,
      step: async (job, signal) => (await opened(t, trial)).step(job, signal),
      close: async () => undefined,
    };
    assert.deepEqual(shape((await play(relay, message)).journal), shape(alone.journal));
  });
}

/** What must be the same in two runs: who spoke, which tools, which questions; not what tools found outside. */
function shape(journal: readonly Entry[]): readonly string[] {
  return journal.flatMap((entry) => {
    switch (entry.type) {
      case "said":
        return [`said${entry.final ? ", final" : ""}: ${entry.calls.map((call) => call.tool).join(", ")}`];
      case "asked":
        return [`asked: ${entry.text} ${entry.choices.join(", ")}`];
      case "tool-ended":
        return [`tool ended: ${entry.result.type}`];
      default:
        return [];
    }
  });
}

function abortTests(trial: AgentTrial, message: string): void {
  test("a step that is aborted ends, and when it fails it says that it was aborted", async (t) => {
    const { journal: whole } = await play(await opened(t, trial), message);
    const steps = whole.flatMap((entry, n) => (entry.type === "said" || entry.type === "asked" ? [n] : []));
    for (const n of steps) {
      for (const when of ["before", "while it waits"] as const) {
        await abortedStep(await opened(t, trial), message, whole.slice(0, n), when);
      }
    }
  });
}

async function abortedStep(agent: Agent, message: string, past: readonly Entry[], when: "before" | "while it waits") {
  const stop = new AbortController();
  const reason = new Error("the gateway stops");
  if (when === "before") stop.abort(reason);
  const job: AgentJob = {
    ...jobFor(message, past),
    // As the engine's: the sleep ends early when the step is aborted.
    pause: async () => stop.abort(reason),
    draft: () => stop.abort(reason),
  };
  const step = await agent.step(job, stop.signal).catch((error: unknown) => error);
  if (!(step instanceof Error)) return;
  assert.ok(stop.signal.aborted, `failed without being aborted: ${String(step)}`);
  assert.ok(step === reason || step.cause === reason || step.name === "AbortError", `not about the abort: ${step}`);
}

function inputTests(trial: AgentTrial): void {
  const inputs = ["", " ", "👋 שלום", "x".repeat(1_000_000), "a\u0001b\r\n\t", "<script>alert(1)</script>", "{}", "%s"];
  test("no text makes a step throw", async (t) => {
    const agent = await opened(t, trial);
    for (const text of inputs) {
      const step = await agent.step(jobFor(text, []), goOn);
      assert.ok(["said", "asked", "failed"].includes(step.type));
    }
  });

  test("every kind of message is answered: a button, a command, a timer", async (t) => {
    const agent = await opened(t, trial);
    for (const body of [
      { kind: "answer", question: "q", choice: "a" },
      { kind: "command", name: "x", rest: "" },
      { kind: "timer", timer: "r", text: "tea is ready" },
    ] as const) {
      const step = await agent.step({ ...jobFor("", []), input: anInbound("", { body }) }, goOn);
      assert.ok(["said", "asked", "failed"].includes(step.type));
    }
  });

  test("a question has a time at which it is over", async (t) => {
    const agent = await opened(t, trial);
    for (const message of trial.messages) {
      const step = await agent.step(jobFor(message, []), goOn);
      if (step.type === "asked") assert.ok((step.until satisfies Instant) > at(0));
    }
  });
}

function closeTests(trial: AgentTrial): void {
  test("closing a session or all of them may be done again, and the next step still works", async (t) => {
    const agent = await opened(t, trial);
    const [message = "hello"] = trial.messages;
    await agent.close(sessionId("never seen"));
    await play(agent, message);
    for (const what of [sessionId("s1"), sessionId("s1"), "all", "all"] as const) await agent.close(what);
    await play(agent, message);
  });
}
