// What the tests of the ACP backend stand on: a folder, an agent of our own as a real process, and the engine's part
// played without a store: a journal that can be cut anywhere and given to another life.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { acp } from "../../src/agents/acp/index.ts";
import type { AcpOptions } from "../../src/agents/acp/options.ts";
import { type Entry, decideNext } from "../../src/core/journal.ts";
import type { Message } from "../../src/core/message.ts";
import { noteFor } from "../../src/core/resume.ts";
import { openProcesses } from "../../src/host/processes.ts";
import type { Agent, AgentJob, Step } from "../../src/ports/agent.ts";
import { anAddress, anInbound, at, sessionId, turnId } from "../../src/testing/samples.ts";
import { linesIn } from "../lines.ts";
import { peerHost } from "./peer-host.ts";

const program = join(import.meta.dirname, "..", "fakes", "acp", "agent.ts");

export type Life = {
  readonly agent: Agent;
  /** Ends the agent's program as a power cut would. */
  kill(): Promise<void>;
  alive(): number;
};

export type AcpStage = {
  readonly folder: string;
  readonly log: string[];
  /** A new life of the gateway with the same outside world. */
  open(more?: Partial<AcpOptions>): Life;
  /** Lines that the agent left. */
  left(file: string): readonly string[];
  /** What the agent was told, in order. */
  prompts(): readonly { readonly session: string; readonly text: string; readonly blocks: readonly string[] }[];
};

export function acpStage(t: TestContext, flags: readonly string[] = ["load"], work = "."): AcpStage {
  const folder = mkdtempSync(join(tmpdir(), "everturn-acp-"));
  const log: string[] = [];
  const closing: (() => Promise<unknown>)[] = [];
  t.after(async () => {
    await Promise.all(closing.map((one) => one()));
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  });
  const left = (file: string): readonly string[] => linesIn(join(folder, file));
  return {
    folder,
    log,
    left,
    open(more = {}) {
      const processes = openProcesses({ graceMs: 0 });
      const agent = acp({
        program: { command: [process.execPath, program, folder, ...flags], unsafe: true },
        host: peerHost(join(folder, work), (named, words, options) =>
          processes.spawn({ program: named, words, options }),
        ),
        log: (level, what, facts) => void log.push(`${level} ${what} ${JSON.stringify(facts ?? {})}`),
        ...more,
        pace: { retryMinMs: 20, retryMaxMs: 100, ...more.pace },
      });
      closing.push(async () => {
        await agent.close("all");
        await processes.killAll("all");
      });
      return {
        agent,
        kill: async () => void (await processes.killAll("all")),
        alive: () => processes.count,
      };
    },
    prompts: () =>
      left("prompts").map(
        (line) => JSON.parse(line) as { readonly session: string; readonly text: string; readonly blocks: string[] },
      ),
  };
}

export type Turn = {
  readonly text: string;
  readonly turn?: string;
  readonly session?: string;
  readonly past?: readonly Entry[];
  readonly history?: readonly Message[];
  readonly journals?: Readonly<Record<string, readonly Entry[]>>;
  readonly signal?: AbortSignal;
  readonly draft?: (text: string) => void;
  readonly input?: AgentJob["input"];
};

export function jobOf(turn: Turn, journal: readonly Entry[]): AgentJob {
  const session = turn.session ?? "s1";
  return {
    session: sessionId(session),
    address: anAddress(session),
    turn: turnId(turn.turn ?? "t1"),
    attempt: 1,
    input: turn.input ?? anInbound(turn.text, { from: anAddress(session), party: "owner" }),
    journal,
    note: noteFor(journal),
    history: async () => turn.history ?? [],
    journalOf: async (id) => turn.journals?.[id] ?? [],
    summary: async () => null,
    memories: async () => [],
    model: null,
    now: () => at(0),
    pause: (ms) => sleep(ms),
    draft: turn.draft ?? (() => undefined),
  };
}

export const never = new AbortController().signal;

/** One step, as the engine would store it; null when it failed, with the reason in `failures`. */
export async function stepOf(agent: Agent, turn: Turn, journal: Entry[], failures: Step[] = []): Promise<Entry | null> {
  const step = await agent.step(jobOf(turn, [...journal]), turn.signal ?? never);
  if (step.type === "failed") {
    failures.push(step);
    return null;
  }
  const entry = toEntry(step, journal.length);
  journal.push(JSON.parse(JSON.stringify(entry)) as Entry);
  return entry;
}

function toEntry(step: Exclude<Step, { type: "failed" }>, n: number): Entry {
  if (step.type !== "asked") return step;
  const { until: _, ...asked } = step;
  return { ...asked, question: `q${n}` };
}

export type Played = { readonly text: string; readonly journal: readonly Entry[]; readonly failures: readonly Step[] };

/** The whole turn; questions are answered by `answer`, or end the play when there is none. */
export async function playTurn(
  agent: Agent,
  turn: Turn,
  answer: ((choices: readonly string[]) => string | null) | null = (choices) => choices[0] ?? null,
): Promise<Played> {
  const given = { history: heard(agent, turn), ...turn };
  const journal: Entry[] = [...(turn.past ?? [])];
  const failures: Step[] = [];
  for (let steps = 0; steps < 200; steps++) {
    const next = decideNext(journal, () => "once", new Set());
    if (next.type === "finish") return { text: next.text, journal, failures };
    if (next.type === "wait") {
      const asked = journal.findLast((entry) => entry.type === "asked");
      if (answer === null || asked?.type !== "asked") return { text: "", journal, failures };
      journal.push({ type: "answered", question: next.question, choice: answer(asked.choices) });
      continue;
    }
    assert.equal(next.type, "step");
    if ((await stepOf(agent, given, journal, failures)) !== null) continue;
    const failure = failures.at(-1);
    if (failures.length > 5 || (failure?.type === "failed" && failure.retry === "never")) {
      return { text: "", journal, failures };
    }
    if (failure?.type === "failed") await sleep(failure.afterMs ?? 0);
  }
  throw new Error("the turn did not end");
}

const conversations = new WeakMap<Agent, Message[]>();

/** What was said in the conversation so far, as the transcript has it: a line for each turn's message. */
function heard(agent: Agent, { text, turn = "t1", session = "s1" }: Turn): readonly Message[] {
  const all = conversations.get(agent) ?? [];
  conversations.set(agent, all);
  all.push(aLine(all.length + 1, turn, "user", text, session));
  return all.filter((line) => line.session === session);
}

export function aLine(n: number, turn: string, role: Message["role"], text: string, session = "s1"): Message {
  return { n, key: `k${n}`, session: sessionId(session), turn: turnId(turn), role, text, at: at(0) };
}

export const resumed: Entry = { type: "resumed", attempt: 2, reason: "crash" };
