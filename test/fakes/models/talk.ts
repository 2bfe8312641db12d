// A conversation with an agent without a gateway: turns one after another, journals, transcript and summary kept as the
// store keeps them. Each step may be made by another agent, as after a death.

import type { Entry, ToolResult } from "../../../src/core/journal.ts";
import type { FileRef, Message } from "../../../src/core/message.ts";
import type { Agent, AgentJob, Summary } from "../../../src/ports/agent.ts";
import { aToolContext, anInbound, at, sessionId, turnId } from "../../../src/testing/samples.ts";
import { aJob } from "./stage.ts";

export type Talk = {
  readonly lines: Message[];
  readonly journals: Map<string, readonly Entry[]>;
  readonly summaries: Summary[];
  /** Says something and waits for the answer; a turn that fails gives its reason. */
  readonly say: (text: string, more?: Partial<AgentJob> & { readonly files?: readonly FileRef[] }) => Promise<string>;
};

export function talk(agentFor: () => Agent, stepsMax = 200): Talk {
  const lines: Message[] = [];
  const journals = new Map<string, readonly Entry[]>();
  const summaries: Summary[] = [];
  const note = (turn: string, role: Message["role"], text: string, files?: readonly FileRef[]): void => {
    const n = lines.length + 1;
    const line = { key: `m${n}`, session: sessionId("s1"), turn: turnId(turn), role, text, at: at(n * 60_000), n };
    lines.push(files === undefined ? line : { ...line, files });
  };
  return {
    lines,
    journals,
    summaries,
    async say(text, { files, ...more } = {}) {
      const turn = `t${journals.size + 1}`;
      note(turn, "user", text, files);
      const journal: Entry[] = [];
      const input = anInbound(text, { key: lines.at(-1)?.key ?? "", body: { kind: "text", text, files: files ?? [] } });
      for (let steps = 0; steps < stepsMax; steps++) {
        journals.set(turn, [...journal]);
        const agent = agentFor();
        const step = await agent.step(
          {
            ...aJob([...journal]),
            turn: turnId(turn),
            input,
            history: async (limit) => lines.slice(-limit),
            journalOf: async (id) => journals.get(id) ?? [],
            summary: async () => summaries.at(-1) ?? null,
            now: () => at(lines.length * 60_000),
            ...more,
          },
          new AbortController().signal,
        );
        if (step.type === "failed") return `failed: ${step.why}`;
        if (step.type === "asked") return `asked: ${step.text}`;
        journal.push(step);
        if (step.type === "compacted") {
          summaries.push({ upTo: step.upTo, text: step.summary });
          continue;
        }
        if (step.type === "heard") continue;
        for (const { call, tool, input: given } of step.calls) {
          const found = agent.tools.find(({ name }) => name === tool);
          const result: ToolResult =
            found === undefined ? { type: "failed", why: "no such tool" } : await found.run(given, aToolContext(call));
          journal.push({ type: "tool-ended", call, result });
        }
        journals.set(turn, [...journal]);
        if (!step.final) continue;
        note(turn, "assistant", step.text);
        return step.text;
      }
      throw new Error(`the turn did not end within ${stepsMax} steps`);
    },
  };
}
