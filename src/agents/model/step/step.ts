// One step of the model backend: everything on record is read, laid out as a request, and one model is asked once. Before
// that come voice messages that nobody has written down yet, each in a step of its own, and the ends: a circle, a full
// window, the last of the steps a turn may have.

import type { CallOptions } from "../../../core/call-options.ts";
import type { SessionId } from "../../../core/ids.ts";
import { requesterOf } from "../../../core/requester.ts";
import { unheardIn } from "../../../core/running/spoken.ts";
import type { AgentJob, Step } from "../../../ports/agent.ts";
import { compact, planFor } from "../compact/compact.ts";
import { brimShare, fullShare } from "../compact/plan.ts";
import { type Keep, gather, keeper } from "../context/gather.ts";
import { hidePrompt, hideTools } from "../context/hide.ts";
import { type Layout, layOut, promptOf, toolsFor } from "../context/request.ts";
import { outcome } from "../errors/last.ts";
import { tooLongFor } from "../errors/translate.ts";
import type { ModelOptions } from "../options.ts";
import { abilitiesOf, answerTokens } from "../providers/abilities.ts";
import { hear } from "../speech/hear.ts";
import { requestOptions } from "./call-options.ts";
import { type Caller, type RequestFor, askChain, chainOf } from "./chain.ts";
import { restingKeys } from "./keys.ts";
import { circleIn } from "./loops.ts";
import { saidOf } from "./said.ts";

export interface Stepper {
  step(job: AgentJob, signal: AbortSignal): Promise<Step>;
  /** Drops what is kept in memory for a session. */
  forget(session: SessionId): void;
}

const closingWords =
  "(This was the last step of this turn: no more tools can be used. Answer now with what you have, and say what is left to do.)";

/** Conversations whose kept results are known; after that many all are looked for again. */
const keepersMax = 200;

export function stepper(options: ModelOptions): Stepper {
  const caller = { options, keys: restingKeys(), toolless: new Map<string, number>() };
  const keepers = new Map<SessionId, Map<string, Keep>>();
  /** What is kept for one person is kept for no other, also in a conversation that they share. */
  const keepFor = (session: SessionId, person: string, blobs: ModelOptions["blobs"]): Keep => {
    if (keepers.size >= keepersMax && !keepers.has(session)) keepers.clear();
    const people = keepers.get(session) ?? new Map<string, Keep>();
    const keep = people.get(person) ?? keeper(blobs);
    keepers.set(session, people.set(person, keep));
    return keep;
  };
  return {
    async step(job, signal) {
      const workspace = await options.workspaceFor?.(requesterOf(job.input, job.journal));
      if (workspace === undefined) return step(caller, keepFor(job.session, "", options.blobs), job, signal);
      const { person, folder, blobs } = workspace;
      const own = { ...options, blobs, facts: { ...options.facts, workspace: folder } };
      return step({ ...caller, options: own }, keepFor(job.session, person, blobs), job, signal);
    },
    forget: (session) => void keepers.delete(session),
  };
}

async function step(
  caller: Caller & { readonly options: ModelOptions },
  keep: Keep,
  job: AgentJob,
  signal: AbortSignal,
): Promise<Step> {
  const { options } = caller;
  const { speech, blobs } = options;
  const voice = speech === undefined || blobs === null ? null : unheardIn(job.input, job.journal);
  if (speech !== undefined && blobs !== null && voice !== null)
    return hear({ ...options, speech }, blobs, voice, job, signal);
  const circle = circleIn(job.journal);
  if (circle.type === "stop") return { type: "failed", retry: "never", why: circle.why };
  const models = chainOf(options, job.model);
  const [first = options.model] = models;
  const gathered = await gather(job, bestAbilities(models, options), keep, blobs);
  signal.throwIfAborted();
  const layouts = new Map<string, Layout>();
  const layoutFor = (model: string): Layout => {
    const found =
      layouts.get(model) ?? layOut(job, gathered, model, options, options.tools(requesterOf(job.input, job.journal)));
    layouts.set(model, found);
    return found;
  };
  const own = layoutFor(first);
  const { window } = abilitiesOf(first, options);
  if (own.tokens > window * fullShare || gathered.stays < 1) {
    const { why } = tooLongFor({ model: first }, own.tokens, window);
    const full = { model: first, gathered, layout: own, why, refused: false };
    const plan = planFor(full, options, job.journal);
    // What cannot be made smaller is sent as it is, as long as there is room for an answer.
    if (plan !== null || own.tokens > window * brimShare) return compact(caller, models, full, plan, job, signal);
  }
  const closing = job.journal.filter(({ type }) => type === "said").length >= options.maxSteps - 1;
  const last = [...(circle.type === "tell" ? [circle.text] : []), ...(closing ? [closingWords] : [])];
  const wanted = job.input.options;
  const requestFor = requests(options, { layoutFor, last, closing, first, wanted });
  const asked = await askChain(caller, models, requestFor, job, signal);
  switch (asked.type) {
    case "answered":
      return saidOf(asked.answer, job.journal, { closing, isForProgram: wanted !== undefined });
    case "too-long": {
      const { model, failure } = asked;
      const full = { model, gathered, layout: layoutFor(model), why: failure.why, refused: true };
      return compact(caller, models, full, planFor(full, options, job.journal), job, signal);
    }
    case "failed":
      return outcome(asked.failures);
  }
}

type Laid = {
  readonly layoutFor: (model: string) => Layout;
  readonly last: readonly string[];
  readonly closing: boolean;
  readonly first: string;
  readonly wanted: CallOptions | undefined;
};

function requests(options: ModelOptions, { layoutFor, last, closing, first, wanted }: Laid): RequestFor {
  return (model) => {
    const layout = layoutFor(model);
    const { window } = abilitiesOf(model, options);
    const tools = hideTools(toolsFor(layout, model), options.hide);
    return {
      request: {
        prompt: hidePrompt(promptOf(layout, last, model), options.hide),
        ...(tools.length === 0 ? {} : { tools, toolChoice: { type: closing ? "none" : "auto" } }),
        ...(wanted === undefined ? {} : requestOptions(wanted, model)),
        ...outputLimit(options, model, window, wanted?.maxOutputTokens),
      },
      wanted,
      estimated: Math.ceil(layout.tokens / layout.ratio),
      // The first was looked at before; a fallback may have a smaller window.
      tooLong:
        model !== first && layout.tokens > window * brimShare ? tooLongFor({ model }, layout.tokens, window) : null,
    };
  };
}

/**
 * A caller may lower the limit of the configuration, never raise it. Anthropic wants a limit in every request; the others
 * know their own.
 */
function outputLimit(
  { maxOutputTokens: configured }: ModelOptions,
  model: string,
  window: number,
  requested: number | undefined,
): { readonly maxOutputTokens?: number } {
  const limit = Math.min(configured ?? Infinity, requested ?? Infinity);
  if (limit !== Infinity) return { maxOutputTokens: limit };
  return model.startsWith("anthropic/") ? { maxOutputTokens: answerTokens(window, undefined) } : {};
}

/** What any of them can take is read. */
function bestAbilities(models: readonly string[], options: ModelOptions) {
  const all = models.map((model) => abilitiesOf(model, options));
  return {
    window: Math.max(...all.map(({ window }) => window)),
    images: all.some(({ images }) => images),
    pdf: all.some(({ pdf }) => pdf),
  };
}
