// One pass over everybody who may answer: the model that was wanted with each of its keys, then the fallbacks. Nothing is
// asked twice in a step, and nothing waits here: when all have failed the engine is told when to ask again.

import type { CallOptions } from "../../../core/call-options.ts";
import type { AgentJob } from "../../../ports/agent.ts";
import { mayPass } from "../errors/last.ts";
import { type Failure, type Where, noKey, noModel } from "../errors/translate.ts";
import type { ModelOptions } from "../options.ts";
import { nearModels } from "../providers/list.ts";
import { type ModelName, accessOf, baseUrlOf, isUsable, parseModel } from "../providers/names.ts";
import { usageOf } from "../providers/prices.ts";
import { type Request, attempt } from "./attempt.ts";
import type { Collected } from "./collect.ts";
import type { Keys } from "./keys.ts";
import type { Answered } from "./said.ts";

/** The request as this model gets it; `tooLong` where it is known not to fit. */
export type RequestFor = (model: string) => {
  readonly request: Request;
  /** Options of the caller that are in it; none may be left out. */
  readonly wanted?: CallOptions | undefined;
  readonly estimated: number;
  readonly tooLong: Failure | null;
};

export type Asked =
  | { readonly type: "answered"; readonly answer: Answered }
  /** This model would answer if there were less to read. */
  | { readonly type: "too-long"; readonly model: string; readonly failure: Failure }
  | { readonly type: "failed"; readonly failures: readonly Failure[] };

export type Caller = {
  readonly options: Pick<ModelOptions, "providers" | "prices" | "silenceMs" | "hide" | "fetch" | "connected">;
  readonly keys: Keys;
  /** Models that have said that they cannot use tools, and until when they are believed; they are asked without. */
  readonly toolless: Map<string, number>;
};

/** The models to ask, in order, none twice. */
export function chainOf(options: Pick<ModelOptions, "model" | "fallback">, chosen: string | null): readonly string[] {
  return [...new Set([chosen ?? options.model, ...options.fallback])];
}

export async function askChain(
  caller: Caller,
  models: readonly string[],
  requestFor: RequestFor,
  job: Pick<AgentJob, "draft" | "now">,
  signal: AbortSignal,
): Promise<Asked> {
  const failures: Failure[] = [];
  for (const model of models) {
    const asked = await askModel(caller, model, requestFor, job, signal);
    if (asked.type !== "failed") return asked;
    failures.push(...asked.failures);
  }
  return { type: "failed", failures };
}

async function askModel(
  caller: Caller,
  model: string,
  requestFor: RequestFor,
  job: Pick<AgentJob, "draft" | "now">,
  signal: AbortSignal,
): Promise<Asked> {
  const { options, keys, toolless } = caller;
  const name = parseModel(model);
  if (name === null) return failed(noModel(model));
  const { provider } = name;
  const where: Where = { model, provider, baseUrl: baseUrlOf(options, provider), now: job.now() };
  if (!isUsable(options, provider)) return failed(noKey(where));
  const { request, wanted, estimated, tooLong } = requestFor(model);
  if (tooLong !== null) return { type: "too-long", model, failure: tooLong };

  const pick = keys.pick(name, accessOf(options, provider).keys, job.now());
  const tried: Failure[] = [];
  for (const key of pick.keys) {
    const sent = (toolless.get(model) ?? 0) > job.now() ? withoutTools(request) : request;
    const given = hidden(
      await attempt(options, { name, key, request: sent, wanted, where }, job, signal),
      options.hide,
    );
    if (!isFailure(given)) {
      keys.works(name, key);
      const usage = usageOf(model, given.usage, options.prices, given.metadata);
      return { type: "answered", answer: { collected: given, model, usage, estimated } };
    }
    if (given.next === "compact") return { type: "too-long", model, failure: given };
    if (given.kind === "no-tools" && sent.tools !== undefined) {
      believe(toolless, model, job.now());
      const asked = await askModel(caller, model, requestFor, job, signal);
      return asked.type === "answered" ? { ...asked, answer: { ...asked.answer, toolsRefused: true } } : asked;
    }
    tried.push(given.kind === "unknown-model" ? await suggested(options, name, key, given, signal) : given);
    keys.rest(name, key, given, job.now());
    if (given.next !== "next-key") break;
  }
  // What may pass by itself counts more than what may not: some key will answer then.
  const all = [...tried, ...pick.resting];
  return failed(all.find(mayPass) ?? tried.at(-1) ?? pick.resting[0] ?? noKey(where));
}

/** A server may load the model anew with a template that knows tools; one answer is not the last word. */
const believedMs = 3_600_000;

function believe(toolless: Map<string, number>, model: string, now: number): void {
  for (const [name, until] of toolless) if (until <= now) toolless.delete(name);
  toolless.set(model, now + believedMs);
}

function withoutTools({ tools: _tools, toolChoice: _choice, ...request }: Request): Request {
  return request;
}

function hidden(given: Collected | Failure, hide: (text: string) => string): Collected | Failure {
  return isFailure(given) ? { ...given, why: hide(given.why) } : given;
}

function failed(failure: Failure): Asked {
  return { type: "failed", failures: [failure] };
}

function isFailure(given: Collected | Failure): given is Failure {
  return "kind" in given;
}

async function suggested(
  options: Pick<ModelOptions, "providers" | "connected">,
  name: ModelName,
  key: string | null,
  failure: Failure,
  signal: AbortSignal,
): Promise<Failure> {
  const close = await nearModels(options, name, key, signal);
  return close.length === 0 ? failure : { ...failure, why: `${failure.why} It has ${close.join(", ")}.` };
}
