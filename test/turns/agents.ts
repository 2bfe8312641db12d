// An agent for tests of turns: its steps are a list, and how far it is follows from the journal. Tools are made of what
// they do; what people answer goes through the platform as in life.

import type { Entry, ToolEffect, ToolResult } from "../../src/core/journal.ts";
import type { Inbound } from "../../src/core/message.ts";
import type { OutboxItem } from "../../src/core/outbox.ts";
import type { Turn } from "../../src/core/turn.ts";
import type { Agent, AgentJob, Step } from "../../src/ports/agent.ts";
import type { Tool, ToolContext } from "../../src/ports/tool.ts";
import type { Stage } from "../stop/stage.ts";

export type Next = Step | ((job: AgentJob, signal: AbortSignal) => Step | Promise<Step>);

/** Every turn goes through the same list; then it says "done". */
export function agentOf(tools: readonly Tool[], list: readonly Next[], more: Partial<Agent> = {}): Agent {
  return {
    tools,
    async step(job, signal) {
      const done = job.journal.filter(({ type }) => type === "said" || type === "asked" || type === "compacted").length;
      const next = list[done];
      if (next === undefined) return { type: "said", text: "done", calls: [], final: true };
      return typeof next === "function" ? next(job, signal) : next;
    },
    close: async () => undefined,
    ...more,
  };
}

/** A step that calls these tools, the first as call 1 and so on. */
export function calling(...wanted: (string | readonly [tool: string, input: unknown])[]): Step {
  const calls = wanted.map((one, i) => {
    const [tool, input] = typeof one === "string" ? [one, {}] : one;
    return { call: String(i + 1), tool, input };
  });
  return { type: "said", text: "let me see", calls, final: false };
}

export function tool(
  name: string,
  effect: ToolEffect,
  run: (context: ToolContext) => ToolResult | Promise<ToolResult>,
  more: Partial<Tool> = {},
): Tool {
  return { name, description: name, effect, input: {}, run: async (_input, context) => run(context), ...more };
}

export const fine: ToolResult = { type: "ok", output: "fine" };

/** What people see in the chat, oldest first. */
export function seen(on: Stage): readonly OutboxItem[] {
  return on.servers.get("chat")?.sent ?? [];
}

export function texts(on: Stage): readonly string[] {
  return seen(on).map(({ text }) => text);
}

/** Waits until so many items were seen. */
export async function untilSeen(on: Stage, count: number): Promise<readonly OutboxItem[]> {
  await on.until(() => seen(on).length >= count, `item ${count}`);
  return seen(on);
}

/** The question that was asked last, once it is there. */
export async function untilAsked(on: Stage, count = 1): Promise<OutboxItem & { readonly question: { id: string } }> {
  const asked = () => seen(on).filter(({ question }) => question !== undefined);
  await on.until(() => asked().length >= count, `question ${count}`);
  return asked()[count - 1] as OutboxItem & { readonly question: { id: string } };
}

export function press(on: Stage, question: string, choice: string, more: Partial<Inbound> = {}) {
  return on.say(choice, { body: { kind: "answer", question, choice }, ...more });
}

export async function turnsOf(on: Stage): Promise<readonly Turn[]> {
  return (await on.store.turns({ limit: 1_000 })).toReversed();
}

export async function journalOf(on: Stage, which = 0): Promise<readonly Entry[]> {
  const turn = (await turnsOf(on))[which];
  return turn === undefined ? [] : on.store.journalOf(turn.id);
}

/** What became of the calls of a turn, in order. */
export async function resultsOf(on: Stage, which = 0): Promise<readonly ToolResult[]> {
  return (await journalOf(on, which)).flatMap((entry) => (entry.type === "tool-ended" ? [entry.result] : []));
}
