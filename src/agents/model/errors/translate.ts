// What a failed model call means: may it be tried again, when, by whom, and what the user is told. This is the only place
// that decides it. Pure; its table of cases is the test.

import type { TurnFailure } from "../../../core/running/failure.ts";
import { type ErrorFacts, readError } from "./read.ts";

export type FailureKind =
  | "wrong-key"
  | "no-credit"
  | "rate"
  | "unknown-model"
  | "too-long"
  | "overloaded"
  | "refused"
  | "offline"
  | "half"
  | "cut"
  | "no-address"
  | "no-tools"
  | "unsupported"
  | "bad-request";

export type Failure = {
  readonly kind: FailureKind;
  /**
   * `next-key`: another key of the same provider may do. `next-model`: no key helps, another model may. `later`: it may be
   * tried again as it is. `compact`: the request was too long. `never`: only a change by a person helps.
   */
  readonly next: "next-key" | "next-model" | "later" | "compact" | "never";
  /** Not sooner than that; null where nobody said. */
  readonly afterMs: number | null;
  /** How long the key is left alone. */
  readonly restMs: number;
  /** For the user: what happened, with which model, and what to do. */
  readonly why: string;
  /** The option of the request that it is about. */
  readonly param?: string;
};

/** Which model was asked, and where. */
export type Where = {
  /** As provider/name. */
  readonly model: string;
  readonly provider: string;
  readonly baseUrl: string;
  readonly now: number;
};

const minute = 60_000;
/** A key that is wrong or out of credit does not heal by itself; it is tried again now and then all the same. */
const longRest = 10 * minute;
const rateRest = 20_000;

type Case = {
  readonly kind: FailureKind;
  readonly fits: (facts: ErrorFacts) => boolean;
};

const says = (facts: ErrorFacts, pattern: RegExp): boolean =>
  pattern.test(facts.message) || facts.codes.some((code) => pattern.test(code));
const is = (facts: ErrorFacts, ...statuses: readonly number[]): boolean =>
  facts.status !== null && statuses.includes(facts.status);

/** The first that fits: what a body says counts more than its status, because providers disagree about statuses. */
const cases: readonly Case[] = [
  {
    kind: "no-credit",
    fits: (facts) =>
      is(facts, 402) ||
      says(
        facts,
        /insufficient[_ ](?:quota|credits?|funds|balance)|credit balance|out of credits?|billing_?(?:hard|not|error)/i,
      ),
  },
  {
    kind: "too-long",
    fits: (facts) =>
      (!is(facts, 429) &&
        says(
          facts,
          /context[_ ](?:length|window)|maximum context|prompt is too long|(?:input|prompt)[^.]{0,40}(?:too long|too large|exceeds)|input token count|too many (?:input )?tokens|request_too_large|reduce the length/i,
        )) ||
      is(facts, 413) ||
      // A request that is larger than what a minute allows never gets through as it is.
      (is(facts, 429) && says(facts, /request too large/i)),
  },
  {
    kind: "refused",
    fits: (facts) => says(facts, /content[_ ](?:policy|filter)|moderation|flagged|safety system|responsible ?ai/i),
  },
  {
    kind: "wrong-key",
    fits: (facts) =>
      is(facts, 401, 403) ||
      says(
        facts,
        /api[_ ]key (?:not valid|is invalid|expired)|invalid[_ ]api[_ ]key|authentication_error|permission_error|unauthenticated/i,
      ),
  },
  { kind: "rate", fits: (facts) => is(facts, 429) || says(facts, /rate[_ ]limit|resource_exhausted/i) },
  {
    kind: "no-tools",
    fits: (facts) =>
      says(facts, /(?:does not|doesn't|not) support (?:tool|function)|no endpoints found that support tool/i),
  },
  {
    kind: "unknown-model",
    fits: (facts) =>
      says(
        facts,
        /model_not_found|not a valid model|no such model|unknown model|model[^.]{0,80}(?:not found|does not exist|not supported for)/i,
      ) ||
      (is(facts, 404) && !facts.page && says(facts, /not_found|\bmodels?\b/i)),
  },
  { kind: "no-address", fits: (facts) => is(facts, 404, 405) },
  {
    kind: "overloaded",
    fits: (facts) =>
      (facts.status !== null && facts.status >= 500) ||
      is(facts, 408, 409, 425) ||
      says(facts, /overloaded|server_error|api_error|unavailable|internal error|timeout_error/i),
  },
  { kind: "offline", fits: (facts) => facts.line !== null },
  { kind: "bad-request", fits: (facts) => facts.status !== null && facts.status >= 400 },
  // Whatever else broke while we were reading: the answer is not whole.
  { kind: "half", fits: () => true },
];

export function translate(error: unknown, where: Where): Failure {
  const facts = readError(error, where.now);
  const kind = cases.find((one) => one.fits(facts))?.kind ?? "half";
  return failure(kind, facts, where);
}

type Manner = Pick<Failure, "next"> & {
  readonly restMs?: number;
  readonly words: (facts: ErrorFacts, where: Where) => string;
};

const manners: Readonly<Record<FailureKind, Manner>> = {
  "wrong-key": {
    next: "next-key",
    restMs: longRest,
    words: ({ message }, { provider, model }) =>
      `${provider} does not accept the key for ${model} (${message}). Set a valid one as agent.apiKey or agent.providers.${provider}.apiKey, then send the message again.`,
  },
  "no-credit": {
    next: "next-key",
    restMs: longRest,
    words: ({ message }, { provider, model }) =>
      `The account at ${provider} has no credit left for ${model} (${message}). Add credit there, or choose another model with /model, then send the message again.`,
  },
  rate: {
    next: "next-key",
    restMs: rateRest,
    words: ({ message }, { provider, model }) =>
      `${provider} allows no more requests to ${model} for now (${message}).`,
  },
  "unknown-model": {
    next: "next-model",
    words: ({ message }, { provider, model }) =>
      `${provider} has no model for ${model} (${message}). Choose another with /model, or set agent.model.`,
  },
  "too-long": {
    next: "compact",
    words: ({ message }, { model }) => `The conversation is too long for ${model} (${message}).`,
  },
  overloaded: {
    next: "later",
    words: ({ message, status }, { provider, model }) =>
      `${provider} could not answer for ${model}${status === null ? "" : ` (status ${status})`}: ${message}`,
  },
  refused: {
    next: "next-model",
    words: ({ message }, { provider, model }) =>
      `${provider} refused this request to ${model} because of its content (${message}). Say it in other words, or choose another model with /model.`,
  },
  offline: {
    next: "later",
    words: ({ line, message }, { provider, model, baseUrl }) =>
      `${provider} cannot be reached at ${baseUrl} for ${model} (${line === "the connection broke" ? message : line}). ${
        provider === "ollama" || provider === "openai-compatible"
          ? "Is the server running there?"
          : "Is this machine online?"
      }`,
  },
  half: {
    next: "later",
    words: ({ message }, { model }) => `The answer of ${model} broke off (${message}).`,
  },
  cut: {
    next: "next-model",
    words: (_, { model, provider }) =>
      `${model} had used up all it may write before it said anything. ${
        provider === "ollama"
          ? "Start Ollama with a larger OLLAMA_CONTEXT_LENGTH and set agent.contextTokens to the same"
          : "Raise agent.maxOutputTokens"
      }, or choose another model with /model.`,
  },
  "no-address": {
    next: "next-model",
    words: ({ message }, { provider, model, baseUrl }) =>
      `There is no such thing as ${model} at ${baseUrl} (${message}). Check agent.baseUrl or agent.providers.${provider}.baseUrl.`,
  },
  "no-tools": {
    next: "next-model",
    words: ({ message }, { provider, model }) =>
      `${provider} says that ${model} cannot use tools (${message}). Choose another model with /model.`,
  },
  unsupported: {
    next: "next-model",
    words: ({ message }, { model }) => `${model} does not take ${message}. Leave it out, or name another model.`,
  },
  "bad-request": {
    next: "next-model",
    words: ({ message, status }, { provider, model }) =>
      `${provider} did not accept the request to ${model} (status ${status}: ${message}). Choose another model with /model, or see the log.`,
  },
};

const codes: Readonly<Record<FailureKind, TurnFailure["code"]>> = {
  "wrong-key": "provider-auth",
  "no-credit": "provider-credit",
  rate: "provider-rate-limit",
  "unknown-model": "unknown-model",
  "too-long": "context-length",
  overloaded: "provider-overloaded",
  refused: "content-filter",
  offline: "provider-unreachable",
  half: "provider-incomplete",
  cut: "output-limit",
  "no-address": "provider-wrong-address",
  "no-tools": "no-tools",
  unsupported: "unsupported-option",
  "bad-request": "provider-bad-request",
};

/** The same for programs, as it is stored. */
export function turnFailureOf({ kind, param }: Failure): TurnFailure {
  return { code: codes[kind], ...(param === undefined ? {} : { param }) };
}

function failure(kind: FailureKind, facts: ErrorFacts, where: Where): Failure {
  const { next, restMs = 0, words } = manners[kind];
  const rest = kind === "rate" ? (facts.afterMs ?? restMs) : restMs;
  const afterMs = facts.afterMs ?? (kind === "rate" ? restMs : null);
  return { kind, next, afterMs, restMs: rest, why: withoutKeys(words(facts, where)) };
}

/** Providers like to say part of the key that was wrong. */
export function withoutKeys(text: string): string {
  return text.replace(/\b(?:sk|pk|rk|key|AIza)[-_][\w*.-]{6,}|\bAIza[\w-]{10,}/g, "(key)");
}

/** Failures that no provider told us of. */
export function ourFailure(kind: "half" | "cut" | "refused", message: string, where: Where): Failure {
  return failure(kind, { status: null, codes: [], message, afterMs: null, line: null, page: false }, where);
}

export function unsupportedOption(param: string, details: string | undefined, where: Where): Failure {
  const message = details === undefined ? `\`${param}\`` : `\`${param}\` (${details})`;
  const facts = { status: null, codes: [], message, afterMs: null, line: null, page: false };
  return { ...failure("unsupported", facts, where), param };
}

export function noKey({ model, provider }: Where): Failure {
  const words = `There is no key for ${provider}, which ${model} needs. Set agent.apiKey or agent.providers.${provider}.apiKey, or choose another model with /model.`;
  return { kind: "wrong-key", next: "next-model", afterMs: null, restMs: 0, why: words };
}

export function noModel(model: string): Failure {
  const words = `${JSON.stringify(model)} is no model: it is written as provider/name. Set agent.model, or choose another with /model.`;
  return { kind: "unknown-model", next: "next-model", afterMs: null, restMs: 0, why: words };
}

export function tooLongFor({ model }: Pick<Where, "model">, tokens: number, window: number): Failure {
  const words = `The conversation is too long for ${model} (about ${tokens} tokens, it takes ${window}).`;
  return { kind: "too-long", next: "compact", afterMs: null, restMs: 0, why: words };
}
