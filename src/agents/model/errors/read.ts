// Whatever a provider's package throws or puts into a stream, as plain facts. It knows the shapes of errors and judges
// nothing; nothing of the packages is loaded for it.

import { sentenceOf } from "../../../core/fault.ts";

export type ErrorFacts = {
  /** Of the answer; null where none came. */
  readonly status: number | null;
  /** The provider's own words for the kind of error: types, codes and states, in small letters. */
  readonly codes: readonly string[];
  /** Its sentence; never longer than a paragraph. */
  readonly message: string;
  /** When it asked to be left alone until; null where it did not say. */
  readonly afterMs: number | null;
  /** How the line broke, as ECONNREFUSED; null where it did not. */
  readonly line: string | null;
  /** The answer was a page for people: something between us and the provider spoke. */
  readonly page: boolean;
};

type Shape = {
  readonly statusCode?: unknown;
  readonly code?: unknown;
  readonly type?: unknown;
  readonly status?: unknown;
  readonly message?: unknown;
  readonly responseBody?: unknown;
  readonly responseHeaders?: Readonly<Record<string, string>>;
  readonly error?: unknown;
  readonly details?: unknown;
  readonly metadata?: unknown;
  readonly cause?: unknown;
};

const messageMax = 400;

export function readError(error: unknown, now: number): ErrorFacts {
  const outer = shapeOf(error);
  const body = bodyOf(outer);
  const inner = shapeOf(body?.error ?? body ?? outer?.error);
  const code = numberOf(inner?.code) ?? numberOf(outer?.code);
  const status = numberOf(outer?.statusCode) ?? (code !== null && code >= 400 && code < 600 ? code : null);
  const page = typeof outer?.responseBody === "string" && /^\s*<(?:!doctype|html)/i.test(outer.responseBody);
  const text =
    textOf(inner?.message) ??
    textOf(body?.message) ??
    textOf(body?.error) ??
    textOf(outer?.message) ??
    sentenceOf(error);
  return {
    status,
    codes: [inner?.code, inner?.type, inner?.status, body?.type, outer?.code, outer?.type].flatMap((one) =>
      typeof one === "string" ? [one.toLowerCase()] : [],
    ),
    message: shortened(page ? `an HTML page (${titleOf(String(outer?.responseBody))})` : text),
    afterMs: afterOf(outer?.responseHeaders ?? {}, inner, now),
    line: status === null ? lineOf(error) : null,
    page,
  };
}

function shapeOf(value: unknown): Shape | null {
  return typeof value === "object" && value !== null ? (value as Shape) : null;
}

/** Some providers answer with a list of one error. */
function bodyOf(outer: Shape | null): Shape | null {
  if (typeof outer?.responseBody !== "string") return null;
  try {
    const found: unknown = JSON.parse(outer.responseBody);
    return shapeOf(Array.isArray(found) ? found[0] : found);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : null;
}

function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function shortened(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return line.length > messageMax ? `${line.slice(0, messageMax)}…` : line;
}

function titleOf(page: string): string {
  const title = /<title>([^<]*)<\/title>/i.exec(page)?.[1];
  return (
    title ??
    page
      .replace(/<[^>]*>/g, " ")
      .trim()
      .slice(0, 80)
  );
}

function lineOf(error: unknown): string | null {
  for (let one = shapeOf(error), deep = 0; one !== null && deep < 6; one = shapeOf(one.cause), deep++) {
    if (typeof one.code === "string" && /^(?:E[A-Z]+|UND_ERR_\w+|CERT_\w+|\w*CERT\w*)$/.test(one.code)) return one.code;
  }
  const text = sentenceOf(error);
  return /cannot connect|fetch failed|socket|terminated|network|failed to process successful response/i.test(text)
    ? "the connection broke"
    : null;
}

function afterOf(headers: Readonly<Record<string, string>>, inner: Shape | null, now: number): number | null {
  const ms = Number(headers["retry-after-ms"] ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return ms;
  const after = headers["retry-after"];
  if (after !== undefined) {
    const seconds = Number(after);
    if (Number.isFinite(seconds) && seconds >= 0) return seconds * 1000;
    const date = Date.parse(after);
    if (Number.isFinite(date)) return Math.max(0, date - now);
  }
  // Google tells it in the details of the error.
  const delay = /"retryDelay":\s*"([\d.]+)s"/.exec(JSON.stringify(inner?.details ?? null))?.[1];
  return delay === undefined ? null : Number(delay) * 1000;
}
