// One request to one model with one key. It ends with a whole answer or with a failure that is already understood; only
// an abort from outside is thrown, and at once, whatever the line does.

import type { LanguageModelV4CallOptions, SharedV4Warning } from "@ai-sdk/provider";
import type { CallOptions } from "../../../core/call-options.ts";
import { limits } from "../../../core/limits.ts";
import type { AgentJob } from "../../../ports/agent.ts";
import { type Failure, type Where, ourFailure, translate } from "../errors/translate.ts";
import type { ModelOptions } from "../options.ts";
import type { ModelName } from "../providers/names.ts";
import { openModel } from "../providers/open.ts";
import { leftOut } from "./call-options.ts";
import { BrokeOff, type Collected, collect, isFiltered, textOf } from "./collect.ts";

export type Request = Omit<LanguageModelV4CallOptions, "abortSignal">;

/** Some think for minutes before their first word, and say nothing meanwhile; a little less than the engine waits. */
const silenceMs = limits.stepSilenceMs - 30_000;
const silent = new Error("it sent nothing for too long");

export type ModelCall = {
  readonly name: ModelName;
  readonly key: string | null;
  readonly request: Request;
  readonly wanted: CallOptions | undefined;
  readonly where: Where;
};

/** The package did not pass on what the caller asked for. */
class LeftOut extends Error {
  override name = "LeftOut";
  readonly failure: Failure;
  constructor(failure: Failure) {
    super(failure.why);
    this.failure = failure;
  }
}

export async function attempt(
  options: Pick<ModelOptions, "providers" | "silenceMs" | "fetch" | "connected">,
  { name, key, request, wanted, where }: ModelCall,
  job: Pick<AgentJob, "draft" | "now">,
  signal: AbortSignal,
): Promise<Collected | Failure> {
  const own = new AbortController();
  const watch = silenceWatch(options.silenceMs ?? silenceMs, () => own.abort(silent));
  const both = AbortSignal.any([signal, own.signal]);
  // A package that does not listen is left behind: what it still does is nobody's concern.
  const broken = Promise.withResolvers<never>();
  const leave = (): void => broken.reject(both.reason);
  both.addEventListener("abort", leave, { once: true });
  if (both.aborted) leave();
  try {
    const work = (async () => {
      const model = await openModel(options, name, key);
      const { stream } = await model.doStream({ ...request, abortSignal: both });
      const sign = signs(job);
      const alive = (): void => {
        watch.alive();
        sign.alive();
      };
      const warned = (warnings: readonly SharedV4Warning[]): void => {
        const unsupported = leftOut(warnings, wanted, where);
        if (unsupported !== null) throw new LeftOut(unsupported);
      };
      return collect(stream, { alive, show: sign.show, warned });
    })();
    work.catch((error: unknown) => broken.reject(error));
    return judged(await Promise.race([work, broken.promise]), where);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    if (error instanceof LeftOut) return error.failure;
    if (own.signal.aborted) return ourFailure("half", silent.message, where);
    return error instanceof BrokeOff ? ourFailure("half", error.message, where) : translate(error, where);
  } finally {
    watch.end();
    both.removeEventListener("abort", leave);
    own.abort(silent);
  }
}

/**
 * An answer that says nothing is none. Of one that a filter broke off only the words count: nobody knows what the model
 * would have said about its calls or called next, and its provider has disowned them.
 */
function judged(given: Collected, where: Where): Collected | Failure {
  const collected = isFiltered(given) ? { ...given, parts: given.parts.filter(({ type }) => type !== "call") } : given;
  const { parts, finish } = collected;
  if (parts.some(({ type }) => type === "call") || textOf(parts).trim() !== "") return collected;
  if (finish.unified === "content-filter") return ourFailure("refused", finish.raw ?? "its content filter", where);
  return finish.unified === "length" ? ourFailure("cut", "", where) : ourFailure("half", "it was empty", where);
}

function silenceWatch(ms: number, over: () => void) {
  const timer = setTimeout(over, ms);
  return { alive: () => void timer.refresh(), end: () => clearTimeout(timer) };
}

const signMs = 30_000;

/** A model that thinks for long before its first word is alive: now and then a sign of it is shown. */
function signs(job: Pick<AgentJob, "draft" | "now">) {
  let last = job.now();
  const show = (text: string): void => {
    last = job.now();
    job.draft(text);
  };
  let shown = "…";
  return {
    show: (text: string): void => {
      shown = text;
      show(text);
    },
    alive: (): void => {
      if (job.now() - last >= signMs) show(shown);
    },
  };
}
