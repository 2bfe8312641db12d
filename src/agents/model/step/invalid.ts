// A call whose arguments are not what a tool can take: kept as it is, so that the model is told what was wrong with it and
// the record shows it. The tool itself never sees it.

import type { Verdict } from "../../../core/approval.ts";
import type { ToolResult } from "../../../core/journal.ts";
import type { Tool } from "../../../ports/tool.ts";

const mark = "invalid_arguments";
const rawMax = 2_000;

/** The arguments as a tool takes them, or marked. */
export function readArguments(raw: string): unknown {
  const text = raw.trim();
  if (text === "") return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
    return { [mark]: text.slice(0, rawMax), why: "they are not a JSON object" };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { [mark]: text.slice(0, rawMax), why: error.message.slice(0, 200) };
  }
}

/** Why the arguments of a call cannot be used; null when they can. */
export function invalidWhy(input: unknown): string | null {
  if (typeof input !== "object" || input === null || !(mark in input)) return null;
  const { why } = input as { readonly why?: unknown };
  return `the arguments are not valid: ${String(why)}. Make the call again with arguments that are one JSON object.`;
}

/** The tool, spared of calls that were marked. */
export function spared(tool: Tool): Tool {
  const refused = (why: string): ToolResult => ({ type: "failed", why });
  return {
    name: tool.name,
    description: tool.description,
    effect: tool.effect,
    input: tool.input,
    ...(tool.timeoutMs === undefined ? {} : { timeoutMs: tool.timeoutMs }),
    async vet(input, context): Promise<Verdict> {
      const why = invalidWhy(input);
      if (why !== null) return { type: "refuse", why };
      return (await tool.vet?.(input, context)) ?? { type: "run" };
    },
    async run(input, context) {
      const why = invalidWhy(input);
      return why === null ? tool.run(input, context) : refused(why);
    },
    ...(tool.check === undefined
      ? {}
      : {
          check: async (input, context) => {
            const why = invalidWhy(input);
            return why === null ? ((await tool.check?.(input, context)) ?? null) : refused(why);
          },
        }),
    ...(tool.drop === undefined ? {} : { drop: async (input, context) => tool.drop?.(input, context) }),
  };
}
