import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { outcome } from "./last.ts";
import { type Failure, type FailureKind, type Where, translate } from "./translate.ts";

const where: Where = {
  model: "openai/gpt-x",
  provider: "openai",
  baseUrl: "https://api.example.org/v1",
  now: Date.parse("2026-11-15T12:00:00Z"),
};

/** As the packages make them of an answer that is an error. */
function answered(statusCode: number, body: unknown, responseHeaders: Record<string, string> = {}): Error {
  const responseBody = typeof body === "string" ? body : JSON.stringify(body);
  const inner = typeof body === "object" ? (body as { error?: { message?: string } }).error?.message : undefined;
  return Object.assign(new Error(inner ?? "Bad Request"), { statusCode, responseBody, responseHeaders });
}
const openai = (message: string, type: string, code: string | null = null) => ({
  error: { message, type, param: null, code },
});
const anthropic = (type: string, message: string) => ({ type: "error", error: { type, message } });
const google = (code: number, message: string, status: string, details: unknown[] = []) => ({
  error: { code, message, status, details },
});
const line = (code: string) =>
  Object.assign(new Error(`Cannot connect to API: ${code}`), { cause: Object.assign(new Error(code), { code }) });

type Row = readonly [name: string, error: unknown, kind: FailureKind, more?: Partial<Failure>];
const rows: readonly Row[] = [
  [
    "OpenAI: wrong key",
    answered(
      401,
      openai("Incorrect API key provided: sk-abcd1234*****wxyz.", "invalid_request_error", "invalid_api_key"),
    ),
    "wrong-key",
    { next: "next-key" },
  ],
  [
    "OpenAI: no credit",
    answered(
      429,
      openai(
        "You exceeded your current quota, please check your plan and billing details.",
        "insufficient_quota",
        "insufficient_quota",
      ),
    ),
    "no-credit",
    { next: "next-key" },
  ],
  [
    "OpenAI: too many requests",
    answered(429, openai("Rate limit reached for gpt-x on requests per min (RPM)", "requests", "rate_limit_exceeded"), {
      "retry-after": "7",
    }),
    "rate",
    { afterMs: 7_000, restMs: 7_000 },
  ],
  [
    "OpenAI: too many requests, in milliseconds",
    answered(429, openai("Rate limit reached", "tokens", "rate_limit_exceeded"), {
      "retry-after-ms": "1500",
      "retry-after": "2",
    }),
    "rate",
    { afterMs: 1_500 },
  ],
  [
    "OpenAI: larger than a minute allows",
    answered(
      429,
      openai(
        "Request too large for gpt-x on tokens per min (TPM): Limit 30000, Requested 40000.",
        "tokens",
        "rate_limit_exceeded",
      ),
    ),
    "too-long",
    { next: "compact" },
  ],
  [
    "OpenAI: unknown model",
    answered(
      404,
      openai(
        "The model `gpt-y` does not exist or you do not have access to it.",
        "invalid_request_error",
        "model_not_found",
      ),
    ),
    "unknown-model",
    { next: "next-model" },
  ],
  [
    "OpenAI: too long",
    answered(
      400,
      openai(
        "This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens. Please reduce the length of the messages.",
        "invalid_request_error",
        "context_length_exceeded",
      ),
    ),
    "too-long",
    { next: "compact" },
  ],
  [
    "OpenAI: refused",
    answered(
      400,
      openai(
        "The response was filtered due to the prompt triggering our content management policy.",
        "invalid_request_error",
        "content_filter",
      ),
    ),
    "refused",
    { next: "next-model" },
  ],
  [
    "OpenAI: broken inside",
    answered(500, openai("The server had an error while processing your request.", "server_error")),
    "overloaded",
    { next: "later" },
  ],
  [
    "OpenAI: bad request",
    answered(400, openai("Invalid schema for function 'x'", "invalid_request_error", "invalid_function_parameters")),
    "bad-request",
    { next: "next-model" },
  ],
  [
    "OpenAI: an error inside the stream",
    { message: "The server had an error", type: "server_error", code: null, param: null },
    "overloaded",
  ],
  ["Anthropic: wrong key", answered(401, anthropic("authentication_error", "invalid x-api-key")), "wrong-key"],
  [
    "Anthropic: no credit",
    answered(400, anthropic("invalid_request_error", "Your credit balance is too low to access the Anthropic API.")),
    "no-credit",
  ],
  [
    "Anthropic: too many requests",
    answered(
      429,
      anthropic(
        "rate_limit_error",
        "This request would exceed your organization's rate limit of 50,000 input tokens per minute.",
      ),
      { "retry-after": "12" },
    ),
    "rate",
    { afterMs: 12_000 },
  ],
  ["Anthropic: unknown model", answered(404, anthropic("not_found_error", "model: claude-y")), "unknown-model"],
  [
    "Anthropic: too long",
    answered(400, anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")),
    "too-long",
  ],
  [
    "Anthropic: larger than a request may be",
    answered(413, anthropic("request_too_large", "Request exceeds the maximum size")),
    "too-long",
  ],
  [
    "Anthropic: overloaded",
    answered(529, anthropic("overloaded_error", "Overloaded")),
    "overloaded",
    { next: "later" },
  ],
  ["Anthropic: overloaded inside the stream", { type: "overloaded_error", message: "Overloaded" }, "overloaded"],
  [
    "Anthropic: no permission",
    answered(
      403,
      anthropic("permission_error", "Your API key does not have permission to use the specified resource."),
    ),
    "wrong-key",
  ],
  [
    "Google: wrong key",
    answered(400, google(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT")),
    "wrong-key",
  ],
  [
    "Google: too many requests",
    answered(
      429,
      google(429, "Resource has been exhausted (e.g. check quota).", "RESOURCE_EXHAUSTED", [
        { "@type": "RetryInfo", retryDelay: "34s" },
      ]),
    ),
    "rate",
    { afterMs: 34_000 },
  ],
  [
    "Google: unknown model",
    answered(
      404,
      google(
        404,
        "models/gemini-y is not found for API version v1beta, or is not supported for generateContent.",
        "NOT_FOUND",
      ),
    ),
    "unknown-model",
  ],
  [
    "Google: too long",
    answered(
      400,
      google(
        400,
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "INVALID_ARGUMENT",
      ),
    ),
    "too-long",
  ],
  [
    "Google: overloaded",
    answered(503, google(503, "The model is overloaded. Please try again later.", "UNAVAILABLE")),
    "overloaded",
  ],
  [
    "Google: as a list of one",
    answered(429, [google(429, "Quota exceeded", "RESOURCE_EXHAUSTED")]),
    "rate",
    { afterMs: 20_000 },
  ],
  ["OpenRouter: no credit", answered(402, { error: { message: "Insufficient credits", code: 402 } }), "no-credit"],
  [
    "OpenRouter: unknown model",
    answered(400, { error: { message: "foo/bar is not a valid model ID", code: 400 } }),
    "unknown-model",
  ],
  [
    "OpenRouter: flagged",
    answered(403, {
      error: { message: "Your chosen model requires moderation and your input was flagged", code: 403 },
    }),
    "refused",
  ],
  ["OpenRouter: provider down, inside the stream", { message: "Provider returned error", code: 502 }, "overloaded"],
  [
    "Ollama: unknown model",
    answered(404, { error: { message: 'model "llama9" not found, try pulling it first', type: "api_error" } }),
    "unknown-model",
  ],
  ["Ollama: not running", line("ECONNREFUSED"), "offline", { next: "later" }],
  [
    "Ollama: no tools",
    answered(400, {
      error: { message: "registry.example/library/tiny:latest does not support tools", type: "api_error" },
    }),
    "no-tools",
  ],
  [
    "OpenRouter: no tools",
    answered(404, { error: { message: "No endpoints found that support tool use.", code: 404 } }),
    "no-tools",
  ],
  ["no such host", line("ENOTFOUND"), "offline"],
  [
    "the line broke in the middle",
    Object.assign(new Error("Failed to process successful response"), { cause: new Error("terminated") }),
    "offline",
  ],
  ["a certificate that is not known", line("DEPTH_ZERO_SELF_SIGNED_CERT"), "offline"],
  [
    "a page of a proxy, broken",
    answered(502, "<html><head><title>502 Bad Gateway</title></head></html>"),
    "overloaded",
  ],
  [
    "a page at a wrong address",
    answered(404, "<!DOCTYPE html><html><title>Not Found</title></html>"),
    "no-address",
    { next: "next-model" },
  ],
  ["a page that wants a login", answered(403, "<html><title>Sign in</title></html>"), "wrong-key"],
  [
    "a date to come back at",
    answered(429, openai("slow down", "requests"), { "retry-after": "Sun, 15 Nov 2026 12:01:30 GMT" }),
    "rate",
    { afterMs: 90_000 },
  ],
  [
    "a date that is over",
    answered(429, openai("slow down", "requests"), { "retry-after": "Sun, 15 Nov 2026 11:00:00 GMT" }),
    "rate",
    { afterMs: 0 },
  ],
  [
    "a frame that is no JSON",
    Object.assign(new Error('JSON parsing failed: Text: {"x.'), { name: "AI_JSONParseError" }),
    "half",
    { next: "later" },
  ],
  ["something that is no error", "oops", "half"],
  ["nothing at all", null, "half"],
];

describe("what a failed call means", () => {
  for (const [name, error, kind, more = {}] of rows) {
    test(name, () => {
      const failure = translate(error, where);
      assert.equal(failure.kind, kind, failure.why);
      for (const [key, value] of Object.entries(more)) assert.deepEqual(failure[key as keyof Failure], value, key);
      assert.match(failure.why, /openai\/gpt-x/, "it names the model");
      assert.doesNotMatch(failure.why, /sk-abcd/);
    });
  }

  test("what the provider said is in the words, but never more than a paragraph", () => {
    const { why } = translate(answered(400, openai("y".repeat(10_000), "x")), where);
    assert.ok(why.includes("yyyy") && why.length < 800, String(why.length));
  });
});

const failed = (more: Partial<Failure>): Failure => ({
  kind: "overloaded",
  next: "later",
  afterMs: null,
  restMs: 0,
  why: "It was busy.",
  ...more,
});
const wrongKey = failed({ kind: "wrong-key", next: "next-key", why: "The key is wrong." });
const rate = (afterMs: number) => failed({ kind: "rate", next: "next-key", afterMs, why: "Too many." });

describe("what a step ends with when all have failed", () => {
  for (const [name, failures, retry, afterMs, words] of [
    ["nobody was asked", [], "never", undefined, /agent\.model/],
    ["a wrong key alone", [wrongKey], "never", undefined, /^The key is wrong\.$/],
    ["busy", [failed({})], "later", undefined, /busy/],
    ["busy, with a time", [failed({ afterMs: 5_000 })], "later", 5_000, /busy/],
    [
      "a wrong key, and a fallback that is busy",
      [wrongKey, failed({})],
      "later",
      undefined,
      /The key is wrong\. The fallbacks failed too: It was busy\./,
    ],
    ["the soonest counts", [rate(60_000), rate(10_000)], "later", 10_000, /Too many/],
    ["nobody waits for hours", [rate(3 * 3_600_000)], "never", undefined, /Try again in 3 hours/],
  ] as const) {
    test(name, () => {
      const step = outcome(failures);
      assert.equal(step.retry, retry);
      assert.equal(step.afterMs, afterMs);
      assert.match(step.why, words);
    });
  }
});
