import assert from "node:assert/strict";
import type { Instant, SessionId, TurnId } from "../../../core/ids.ts";
import type { FailureCode } from "../../../core/running/failure.ts";
import { type Turn, type TurnEvent, advanceTurn, newTurn } from "../../../core/turn.ts";
import { table } from "../../../testing/table.ts";
import { addressOf, toInbound } from "../inbound.ts";
import { decideTrouble, failedTurn } from "./failures.ts";

const at = (n: number) => n as Instant;
const inbound = toInbound("app", "id", addressOf("app", "s"), { text: "hi", files: [], print: "p" }, at(1));
const turn: Turn = newTurn("t" as TurnId, "s" as SessionId, inbound, at(1));
const ended = (event: Omit<Extract<TurnEvent, { type: "ended" }>, "type" | "at">): Turn =>
  advanceTurn(turn, { type: "ended", at: at(2), ...event });

table(
  "a turn that failed, as an error",
  [
    { name: "wrong key", code: "provider-auth", status: 502, word: "provider_auth_failed" },
    { name: "no credit", code: "provider-credit", status: 429, word: "insufficient_quota" },
    { name: "rate limit", code: "provider-rate-limit", status: 429, word: "rate_limit_exceeded" },
    { name: "unreachable", code: "provider-unreachable", status: 503, word: "provider_unreachable" },
    { name: "unknown model", code: "unknown-model", status: 404, word: "model_not_found" },
    { name: "too long", code: "context-length", status: 400, word: "context_length_exceeded" },
    { name: "refused", code: "provider-bad-request", status: 400, word: "provider_bad_request" },
    { name: "budget", code: "budget", status: 429, word: "insufficient_quota" },
    { name: "login", code: "agent-login", status: 502, word: "agent_login_required" },
    { name: "crashes", code: "gateway-crash", status: 500, word: "turn_failed" },
    { name: "a word of a newer version", code: "from-the-future" as FailureCode, status: 500, word: "turn_failed" },
  ] as const,
  ({ code, status, word }) => {
    const found = failedTurn(ended({ outcome: "failed", why: "Because.", failure: { code } }));
    assert.deepEqual(found, { status, code: word, message: "Because.", isFinal: true });
  },
);

table(
  "what is an error and what is not",
  [
    { name: "runs", one: turn, status: null },
    { name: "replied", one: ended({ outcome: "replied" }), status: null },
    { name: "silent", one: ended({ outcome: "silent" }), status: null },
    { name: "stopped", one: ended({ outcome: "cancelled", why: "stopped" }), status: 409 },
    { name: "failed before there were codes", one: ended({ outcome: "failed", why: "Because." }), status: 500 },
  ],
  ({ one, status }) => assert.equal(failedTurn(one)?.status ?? null, status),
);

table(
  "how long a turn in trouble is waited for",
  [
    { name: "just begun", trouble: { since: 0, until: 1_000 }, now: 100, wait: 19_900 },
    { name: "tried at this moment", trouble: { since: 0, until: 1_000 }, now: 5_000, wait: 15_000 },
    { name: "for too long", trouble: { since: 0, until: 21_000 }, now: 20_000, after: 1 },
    { name: "asked again later", trouble: { since: 0, until: 90_000 }, now: 70_000, after: 20 },
    { name: "not before minutes", trouble: { since: 0, until: 300_000 }, now: 10, after: 300 },
  ],
  ({ trouble, now, ...expected }) => {
    const why = "it cannot be reached";
    const failure = { code: "provider-unreachable" } as const;
    const found = decideTrouble({ why, failure, since: at(trouble.since), until: at(trouble.until) }, now);
    if ("wait" in expected) return assert.deepEqual(found, { type: "wait", ms: expected.wait });
    assert.ok(found.type === "refuse");
    const { status, code, retryAfterSeconds, message, isPending } = found.refusal;
    assert.deepEqual([status, code, retryAfterSeconds, isPending], [503, "provider_unreachable", expected.after, true]);
    assert.match(message, /^it cannot be reached\. It is still tried/);
  },
);
