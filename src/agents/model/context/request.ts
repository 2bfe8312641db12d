// Lays a request out: what is fixed, what stands for the past, the turns before, this turn. From the same facts always the
// same request, so that a provider's cache finds its beginning again. Pure.

import type { LanguageModelV4FunctionTool, LanguageModelV4Prompt } from "@ai-sdk/provider";
import { noteAlone } from "../../../core/resume.ts";
import type { AgentJob } from "../../../ports/agent.ts";
import type { Blobs } from "../../../ports/blobs.ts";
import type { Tool } from "../../../ports/tool.ts";
import type { ModelOptions } from "../options.ts";
import { abilitiesOf } from "../providers/abilities.ts";
import { parseModel } from "../providers/names.ts";
import { type EarlierPiece, earlierPieces } from "./earlier.ts";
import { fileParts } from "./files.ts";
import { type Gathered, resultMax } from "./gather.ts";
import { systemText } from "./system.ts";
import { correction, promptTokens, textTokens } from "./tokens.ts";
import { type Message, type Piece, type Scene, inboundMessage, joinedUp, journalPieces, userMessage } from "./turn.ts";

export type Layout = {
  readonly system: string;
  readonly tools: readonly LanguageModelV4FunctionTool[];
  /** The summary, where there is one. */
  readonly lead: readonly Message[];
  readonly earlier: readonly EarlierPiece[];
  readonly input: Message;
  readonly steps: readonly (Piece & { readonly tokens: number })[];
  /** Of everything that stays whatever is summarised. */
  readonly fixedTokens: number;
  /** Of the whole request, as the provider would count it. */
  readonly tokens: number;
  /** What our estimates are multiplied with. */
  readonly ratio: number;
};

export type LayoutOptions = Pick<
  ModelOptions,
  "instructions" | "facts" | "contextTokens" | "vision" | "model" | "speech"
> & {
  readonly blobs: Pick<Blobs, "path"> | null;
};

/** At most this part of the window is what was done in earlier turns. */
const earlierShare = 0.3;

export function layOut(
  job: Pick<AgentJob, "journal" | "input" | "note" | "address" | "now">,
  gathered: Gathered,
  model: string,
  options: LayoutOptions,
  tools: readonly Tool[],
): Layout {
  const abilities = abilitiesOf(model, options);
  const { blobs } = options;
  const scene: Scene = {
    model,
    // Where the window is small, results are too.
    resultMax: Math.min(resultMax, Math.floor(abilities.window / 2)),
    keptAt: (text) => gathered.kept.get(text) ?? null,
    files: (file) => fileParts(file, abilities, gathered.contents, blobs),
    hears: options.speech !== undefined && blobs !== null,
    ids: new Set(),
  };
  const { instructions, facts } = options;
  const system = systemText({
    instructions,
    facts,
    platform: job.address.platform,
    now: job.now(),
    memories: gathered.memories,
  });
  const shown = shownTools(tools);
  const lead = gathered.summary === null ? [] : [summaryMessage(gathered.summary.text, scene)];
  const pieces = earlierPieces(gathered.groups, gathered.journals, Math.floor(abilities.window * earlierShare), scene);
  const earlier = gathered.gap ? behindGap(pieces, scene) : pieces;
  const input = inboundMessage(
    { ...job.input, sentAt: gathered.cameAt as typeof job.input.sentAt },
    job.journal,
    scene,
  );
  const steps = journalPieces(job.journal, gathered.summary?.entries ?? 0, noteAlone(job), scene).map((piece) => ({
    ...piece,
    tokens: promptTokens(piece.messages),
  }));
  const fixedTokens = textTokens(system) + textTokens(JSON.stringify(shown)) + promptTokens([...lead, input]);
  const sum = fixedTokens + total(earlier) + total(steps);
  const ratio = correction([...gathered.journals.values(), job.journal], model);
  return { system, tools: shown, lead, earlier, input, steps, fixedTokens, tokens: Math.ceil(sum * ratio), ratio };
}

function total(pieces: readonly { readonly tokens: number }[]): number {
  return pieces.reduce((sum, { tokens }) => sum + tokens, 0);
}

function summaryMessage(text: string, scene: Scene): Message {
  return userMessage(
    `(A summary of everything before, which you made because it had grown too long:)\n${text}`,
    null,
    [],
    scene,
  );
}

/** Told with the oldest piece, so that a summary which takes it up tells it too. */
function behindGap([first, ...rest]: readonly EarlierPiece[], scene: Scene): readonly EarlierPiece[] {
  if (first === undefined) return [];
  const told = userMessage("(Messages before these are not shown here.)", null, [], scene);
  return [{ ...first, messages: [told, ...first.messages], tokens: first.tokens + promptTokens([told]) }, ...rest];
}

function shownTools(tools: readonly Tool[]): readonly LanguageModelV4FunctionTool[] {
  const seen = new Set<string>();
  return tools.flatMap(({ name, description, input }) => {
    if (seen.has(name) || !/^[a-zA-Z0-9_-]{1,64}$/.test(name)) return [];
    seen.add(name);
    return [{ type: "function", name, description, inputSchema: { ...input } }];
  });
}

/** The request itself; `last` are words of ours at its very end. */
export function promptOf(
  { system, lead, earlier, input, steps }: Layout,
  last: readonly string[],
  model: string,
): LanguageModelV4Prompt {
  const words = last.map((text): Message => ({ role: "user", content: [{ type: "text", text }] }));
  const past = [...lead, ...earlier.flatMap(({ messages }) => messages)];
  const now = [input, ...steps.flatMap(({ messages }) => messages), ...words];
  if (parseModel(model)?.provider !== "anthropic")
    return [{ role: "system", content: system }, ...joinedUp([...past, ...now])];
  // The end of what stays the same for the turn, and the end of what the next step begins with.
  const all = joinedUp([...past.slice(0, -1), ...past.slice(-1).map(cached), ...now]);
  return [cached({ role: "system", content: system }), ...all.slice(0, -1), ...all.slice(-1).map(cached)];
}

function cached(message: Message): Message {
  return {
    ...message,
    providerOptions: { ...message.providerOptions, anthropic: { cacheControl: { type: "ephemeral" } } },
  };
}

/** The tools change least of all: they come first in what is cached. */
export function toolsFor(layout: Pick<Layout, "tools">, model: string): LanguageModelV4FunctionTool[] {
  if (parseModel(model)?.provider !== "anthropic") return [...layout.tools];
  const marked = { providerOptions: { anthropic: { cacheControl: { type: "ephemeral" } } } };
  return layout.tools.map((tool, at) => (at === layout.tools.length - 1 ? { ...tool, ...marked } : tool));
}
