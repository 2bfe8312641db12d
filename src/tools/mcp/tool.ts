// A foreign tool as one of ours. What its author says about it decides its effect only where the server is trusted;
// otherwise it runs once, and a call that is cut short has an unknown outcome instead of being made again. A tool whose
// definition is not the approved one is asked about before it is called.

import { createHash } from "node:crypto";
import type { Verdict } from "../../core/approval.ts";
import { sentenceOf } from "../../core/fault.ts";
import type { ToolEffect, ToolResult } from "../../core/journal.ts";
import type { Requester } from "../../core/requester.ts";
import { refusalFor } from "../../peers/program.ts";
import type { Blobs } from "../../ports/blobs.ts";
import type { Sandbox } from "../../ports/sandbox.ts";
import type { Tool, ToolContext, VetContext } from "../../ports/tool.ts";
import { judgeForeign, verdictOf } from "../policy/index.ts";
import type { Called, Connection, Listed } from "./connection.ts";
import { type ToolDefinition, changeText, digestOf } from "./definitions.ts";
import type { McpOptions, McpPace } from "./options.ts";
import type { ServerProcesses } from "./processes.ts";
import { type FailedAttempt, afterAttempts, unreachable } from "./outcome.ts";
import { resultOf } from "./results.ts";
import { shortText } from "./schema.ts";
import { type ServerLife, hideSecrets, loginText } from "./server.ts";

export type ToolParts = Pick<McpOptions, "policy" | "blobs"> & {
  readonly pace: McpPace;
  readonly sandbox: Pick<Sandbox, "state">;
};

/** On top of all our own limits, so that ours come first and say more. */
const slackMs = 10_000;
/** Calls of changed tools that wait for an answer; one that is forgotten is asked about again. */
const vettedMax = 1_000;

export function effectOf(listed: Pick<Listed, "readOnly" | "idempotent">, trusted: boolean): ToolEffect {
  if (!trusted) return "once";
  if (listed.readOnly) return "pure";
  return listed.idempotent ? "keyed" : "once";
}

export function foreignTool(server: ServerProcesses, name: string, definition: ToolDefinition, parts: ToolParts): Tool {
  const { readOnly, destructive, description } = definition;
  const effect = effectOf(definition, server.settings.trusted === true);
  return {
    name,
    description: description === "" ? `The tool ${definition.name} of ${server.name}.` : description,
    effect,
    input: definition.input,
    timeoutMs: longestMs(server, parts),
    async vet(input, context) {
      const refused = await refusal(server, context.requester, parts);
      if (refused !== null) return { type: "refuse", why: refused };
      const seen = await seenBy(server, definition.name, context.requester);
      if (seen !== null && !server.catalog.isApproved(seen)) {
        if (server.vetted.size > vettedMax) server.vetted.clear();
        server.vetted.set(callDigest(seen.name, input), digestOf(seen));
        return askAboutChange(server, name, seen, input);
      }
      return judged({ server, name, readOnly, destructive, effect, parts }, input, context);
    },
    run: (input, context) => run({ server, tool: definition.name, effect, parts }, input, context),
  };
}

/** One of which only the name is known. Its run finds out the rest; `find` looks it up once the server has listed. */
export function lazyTool(server: ServerProcesses, name: string, find: () => Tool | string, parts: ToolParts): Tool {
  const unknown = { readOnly: false, destructive: true };
  const looked = async (signal: AbortSignal): Promise<Tool | ToolResult> => {
    try {
      await server.main.use(signal, async () => undefined);
    } catch (error) {
      signal.throwIfAborted();
      return unreachable(server.name, sentenceOf(error));
    }
    const found = find();
    return typeof found === "string" ? { type: "failed", why: found } : found;
  };
  return {
    name,
    description: shortText(`A tool of ${server.name}, which has not answered yet.`),
    effect: "once",
    input: { type: "object" },
    timeoutMs: longestMs(server, parts),
    async vet(input, context) {
      const refused = await refusal(server, context.requester, parts);
      if (refused !== null) return { type: "refuse", why: refused };
      const found = await looked(AbortSignal.timeout(parts.pace.readyMs)).catch((error: unknown) => sentenceOf(error));
      if (typeof found === "object" && "vet" in found && found.vet !== undefined) return found.vet(input, context);
      return judged({ server, name, ...unknown, effect: "once", parts }, input, context);
    },
    async run(input, context) {
      const refused = await refusal(server, context.requester, parts);
      if (refused !== null) return { type: "failed", why: refused };
      const found = await looked(context.signal);
      return "run" in found ? found.run(input, context) : found;
    },
  };
}

function longestMs({ settings }: ServerProcesses, { pace }: ToolParts): number {
  return pace.connectMs + Math.max(pace.callMaxMs, patienceOf(settings, pace)) + slackMs;
}

function patienceOf({ timeoutSeconds }: ServerProcesses["settings"], pace: McpPace): number {
  return timeoutSeconds === undefined ? pace.callMs : timeoutSeconds * 1_000;
}

/** Remote servers run nothing here. */
async function refusal(
  { name, settings }: ServerProcesses,
  { party }: Requester,
  { sandbox }: ToolParts,
): Promise<string | null> {
  return "url" in settings ? null : refusalFor(await sandbox.state(), party, settings, `the MCP server ${name}`);
}

/** The tool as the process of this person lists it, or as another did where that one does not answer in time. */
async function seenBy(server: ServerProcesses, tool: string, requester: Requester): Promise<Listed | null> {
  const life = await server.of(requester);
  if (life?.tools() === null) await life.settled();
  const listed = life?.tools() ?? server.catalog.latest() ?? [];
  return listed.find((one) => one.name === tool) ?? null;
}

/** A yes accepts the new definition with this call; "always" is not offered. */
function askAboutChange(server: ServerProcesses, name: string, seen: Listed, input: unknown): Verdict {
  const change = server.catalog.changeOf(seen);
  const shown = shownInput(input);
  const why =
    change.before === null
      ? `the server ${server.name} added this tool after its tools were approved`
      : `the server ${server.name} changed this tool since it was approved`;
  return {
    type: "approve",
    why,
    what: `Accepts the new definition of ${seen.name}, and calls it with ${shown}\n\n${changeText(change)}`,
    subject: null,
    bound: createHash("sha256")
      .update(JSON.stringify([server.name, name, digestOf(seen), shown]))
      .digest("hex"),
  };
}

type Judged = Pick<Listed, "readOnly" | "destructive"> & {
  readonly server: ServerProcesses;
  /** As the model calls it: the only one that is known in every state of the server. */
  readonly name: string;
  readonly effect: ToolEffect;
  readonly parts: ToolParts;
};

function judged({ server, name, effect, parts, ...hints }: Judged, input: unknown, { outside }: VetContext): Verdict {
  const shown = shownInput(input);
  return verdictOf({
    policy: parts.policy,
    judgment: judgeForeign({ ...hints, trusted: server.settings.trusted === true }),
    effect,
    outside,
    what: `Calls ${name} of the MCP server ${server.name} with ${shown}`,
    subject: `any call of ${name}`,
    bound: createHash("sha256")
      .update(JSON.stringify([server.name, name, shown]))
      .digest("hex"),
  });
}

function shownInput(input: unknown): string {
  return JSON.stringify(input, null, 2) ?? "";
}

function callDigest(tool: string, input: unknown): string {
  return createHash("sha256")
    .update(JSON.stringify([tool, shownInput(input)]))
    .digest("hex");
}

type Run = {
  readonly server: ServerProcesses;
  readonly tool: string;
  readonly effect: ToolEffect;
  readonly parts: ToolParts;
};

async function run(how: Run, input: unknown, context: ToolContext): Promise<ToolResult> {
  const { server, tool, effect, parts } = how;
  const refused = await refusal(server, context.requester, parts);
  if (refused !== null) return { type: "failed", why: refused };
  const life = await server.of(context.requester);
  if (life === null) {
    return { type: "failed", why: `all processes of the MCP server ${server.name} are busy. Try again later` };
  }
  const { blobs } = parts;
  const put: Blobs["put"] | undefined = blobs && ((bytes, as) => blobs.put(bytes, { ...as, turn: context.turn }));
  const keeping = put === undefined ? {} : { blobs: { put } };
  const facts = { server: server.name, tool, effect };
  const attempts: FailedAttempt[] = [];
  for (;;) {
    const called = await attempt(how, life, input, context);
    if (called.type === "answered") return resultOf(called.answer, keeping);
    attempts.push(
      called.type === "login"
        ? { type: "refused", why: loginText(server.name, called.why) }
        : { type: called.type, why: hideSecrets(server.settings, called.why) },
    );
    const next = afterAttempts(facts, attempts);
    if (next !== "again") return next;
  }
}

async function attempt(
  how: Run,
  life: ServerLife,
  input: unknown,
  context: ToolContext,
): Promise<Called | FailedAttempt> {
  try {
    return await life.use(context.signal, (connection) => callOnce(how, life, connection, input, context));
  } catch (error) {
    context.signal.throwIfAborted();
    return { type: "unreachable", why: sentenceOf(error) };
  }
}

/** Only what is approved is called, as this very process lists it. */
async function callOnce(
  { server, tool, parts }: Run,
  life: ServerLife,
  connection: Connection,
  input: unknown,
  { key, signal, tell }: ToolContext,
): Promise<Called> {
  const listed = life.tools()?.find((one) => one.name === tool);
  if (listed === undefined) {
    return { type: "refused", why: `it has no tool ${tool} any more` };
  }
  if (!server.catalog.isApproved(listed)) {
    if (server.vetted.get(callDigest(tool, input)) !== digestOf(listed)) {
      return { type: "refused", why: `it changed ${tool} since it was approved. Call it again to ask about it` };
    }
    await server.catalog.approve([listed]);
  }
  return connection.call({
    tool,
    input,
    key,
    patienceMs: patienceOf(server.settings, parts.pace),
    signal,
    progress: tell,
  });
}
