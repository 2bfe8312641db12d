// A foreign tool as one of ours. What its author says about it decides its effect only where the server is trusted;
// otherwise it runs once, and a call that is cut short is told as unknown instead of being made again.

import { createHash } from "node:crypto";
import type { Verdict } from "../../core/approval.ts";
import { sentenceOf } from "../../core/fault.ts";
import type { ToolEffect, ToolResult } from "../../core/journal.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { Tool, ToolContext, VetContext } from "../../ports/tool.ts";
import { judgeForeign, verdictOf } from "../policy/index.ts";
import type { Called, Listed } from "./connection.ts";
import type { McpOptions, McpPace } from "./options.ts";
import { complaint, from, resultOf } from "./results.ts";
import { shortSchema, shortText } from "./schema.ts";
import { type ServerLife, hideSecrets } from "./server.ts";

export type Made = Pick<McpOptions, "policy" | "blobs"> & { readonly pace: McpPace };

/** On top of all our own limits, so that ours come first and say more. */
const slackMs = 10_000;

export function effectOf(listed: Pick<Listed, "readOnly" | "idempotent">, trusted: boolean): ToolEffect {
  if (!trusted) return "once";
  if (listed.readOnly) return "pure";
  return listed.idempotent ? "keyed" : "once";
}

export function foreignTool(life: ServerLife, name: string, listed: Listed, made: Made): Tool {
  const trusted = life.settings.trusted === true;
  const effect = effectOf(listed, trusted);
  return {
    name,
    description: shortText(listed.description === "" ? `The tool ${listed.name} of ${life.name}.` : listed.description),
    effect,
    input: shortSchema(listed.input),
    timeoutMs: longestMs(life, made),
    vet: async (input, context) =>
      judged({ life, name, readOnly: listed.readOnly, destructive: listed.destructive, effect, made }, input, context),
    run: (input, context) => run(life, listed.name, effect, input, context, made),
  };
}

/** One of which only the name is known. Its run finds out the rest; `find` looks it up once the server has listed. */
export function lazyTool(life: ServerLife, name: string, find: () => Tool | string, made: Made): Tool {
  const unknown = { readOnly: false, destructive: true };
  const looked = async (signal: AbortSignal): Promise<Tool | ToolResult> => {
    try {
      await life.connected(signal);
    } catch (error) {
      signal.throwIfAborted();
      return unreachable(life, error);
    }
    const found = find();
    return typeof found === "string" ? { type: "failed", why: found } : found;
  };
  return {
    name,
    description: shortText(`A tool of ${life.name}, which has not answered yet.`),
    effect: "once",
    input: { type: "object" },
    timeoutMs: longestMs(life, made),
    async vet(input, context) {
      const found = await looked(AbortSignal.timeout(made.pace.readyMs)).catch((error: unknown) => sentenceOf(error));
      if (typeof found === "object" && "vet" in found && found.vet !== undefined) return found.vet(input, context);
      return judged({ life, name, ...unknown, effect: "once", made }, input, context);
    },
    async run(input, context) {
      const found = await looked(context.signal);
      return "run" in found ? found.run(input, context) : found;
    },
  };
}

function longestMs(life: ServerLife, { pace }: Made): number {
  return pace.connectMs + Math.max(pace.callMaxMs, patienceOf(life, pace)) + slackMs;
}

function patienceOf({ settings }: ServerLife, pace: McpPace): number {
  return settings.timeoutSeconds === undefined ? pace.callMs : settings.timeoutSeconds * 1_000;
}

/** The reason may be a server's last words. */
function unreachable(life: ServerLife, error: unknown): ToolResult {
  const why = `the MCP server ${life.name} cannot be reached: ${sentenceOf(error)}. Nothing was done. Its settings are under agent.mcp.${life.name}`;
  return { type: "failed", why, ...from(life.settings.trusted === true) };
}

type Judged = Pick<Listed, "readOnly" | "destructive"> & {
  readonly life: ServerLife;
  /** As the model calls it: the only one that is known in every state of the server. */
  readonly name: string;
  readonly effect: ToolEffect;
  readonly made: Made;
};

function judged({ life, name, effect, made, ...hints }: Judged, input: unknown, { outside }: VetContext): Verdict {
  const shown = JSON.stringify(input, null, 2) ?? "";
  return verdictOf({
    policy: made.policy,
    judgment: judgeForeign({ ...hints, trusted: life.settings.trusted === true }),
    effect,
    outside,
    what: `${name} of the MCP server ${life.name}, with ${shown}`,
    subject: `any call of ${name}`,
    bound: createHash("sha256")
      .update(JSON.stringify([life.name, name, shown]))
      .digest("hex"),
  });
}

/** A call that did not reach the server is made again over a new connection; one that did, only where that is harmless. */
async function run(
  life: ServerLife,
  tool: string,
  effect: ToolEffect,
  input: unknown,
  context: ToolContext,
  made: Made,
): Promise<ToolResult> {
  const trusted = life.settings.trusted === true;
  const { blobs } = made;
  const put: Blobs["put"] | undefined = blobs && ((bytes, as) => blobs.put(bytes, { ...as, turn: context.turn }));
  const keeping = { trusted, ...(put === undefined ? {} : { blobs: { put } }) };
  const patienceMs = patienceOf(life, made.pace);
  for (let attempt = 1; ; attempt++) {
    let called: Called;
    try {
      const connection = await life.connected(context.signal);
      const { key, signal } = context;
      called = await connection.call({ tool, input, key, patienceMs, signal, progress: context.tell });
    } catch (error) {
      context.signal.throwIfAborted();
      return unreachable(life, error);
    }
    if (called.type === "answered") return resultOf(called.answer, keeping);
    const why = hideSecrets(life.settings, called.why);
    if (called.type === "refused") return complaint(why, trusted);
    const isHarmless = called.type === "unheard" || effect === "pure" || effect === "keyed";
    if (attempt === 1 && isHarmless) continue;
    const what = `the MCP server ${life.name} gave no result: ${why}`;
    if (called.type === "unheard" || effect === "pure") return { type: "failed", why: what, ...from(trusted) };
    return { type: "unknown", why: `${what}. Whether ${tool} was done is not known`, ...from(trusted) };
  }
}
