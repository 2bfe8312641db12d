// A turn that failed, or does not go on, as the error that its caller gets. Pure. It follows from what is stored, so a
// repeat under the same key gets the same error.

import type { FailureCode, TurnFailure } from "../../../core/running/failure.ts";
import type { Trouble } from "../../../core/running/patience.ts";
import type { Turn } from "../../../core/turn.ts";
import { apiLimits } from "../api.ts";
import type { Refusal } from "../faults.ts";

type Shape = { readonly status: number; readonly code: string };

/** The codes are OpenAI's own where it has one. */
const shapes: Readonly<Record<FailureCode, Shape>> = {
  "provider-auth": { status: 502, code: "provider_auth_failed" },
  "provider-credit": { status: 429, code: "insufficient_quota" },
  "provider-rate-limit": { status: 429, code: "rate_limit_exceeded" },
  "provider-overloaded": { status: 503, code: "provider_overloaded" },
  "provider-unreachable": { status: 503, code: "provider_unreachable" },
  "provider-incomplete": { status: 502, code: "provider_incomplete" },
  "provider-bad-request": { status: 400, code: "provider_bad_request" },
  "provider-wrong-address": { status: 502, code: "provider_wrong_address" },
  "unknown-model": { status: 404, code: "model_not_found" },
  "no-tools": { status: 502, code: "model_without_tools" },
  "context-length": { status: 400, code: "context_length_exceeded" },
  "output-limit": { status: 400, code: "output_limit_reached" },
  "content-filter": { status: 400, code: "content_filter" },
  "unsupported-option": { status: 400, code: "unsupported_parameter" },
  budget: { status: 429, code: "insufficient_quota" },
  "agent-login": { status: 502, code: "agent_login_required" },
  "gateway-crash": { status: 500, code: "turn_failed" },
  "interrupted-too-often": { status: 500, code: "turn_failed" },
};

const other: Shape = { status: 500, code: "turn_failed" };

function shapeOf(failure: TurnFailure | undefined): Shape {
  // A newer version may have stored a word that this one does not know.
  return failure !== undefined && Object.hasOwn(shapes, failure.code) ? shapes[failure.code] : other;
}

/** Null where the turn has an answer, or is not over. */
export function failedTurn({ now }: Turn): Refusal | null {
  if (now.state !== "done") return null;
  if (now.outcome === "failed") {
    const { why = "The turn failed.", failure } = now;
    return { ...shapeOf(failure), message: why, isFinal: true, ...paramOf(failure) };
  }
  if (now.outcome !== "cancelled") return null;
  const why = now.why ?? "somebody asked for it";
  return { status: 409, code: "turn_stopped", message: `This turn was stopped: ${why}.`, isFinal: true };
}

function paramOf(failure: TurnFailure | undefined): Pick<Refusal, "param"> {
  return failure?.param === undefined ? {} : { param: failure.param };
}

/** What a request does about a turn whose steps fail: waits so long, or gives its caller the reason. */
export type TroubleWait =
  | { readonly type: "wait"; readonly ms: number }
  | { readonly type: "refuse"; readonly refusal: Refusal };

export function decideTrouble({ why, since, until, failure }: Trouble, now: number): TroubleWait {
  const end = since + apiLimits.troubleMs;
  if (now < end && until < end) return { type: "wait", ms: end - now };
  const seconds = Math.max(1, Math.ceil((until - now) / 1000));
  const { status, code } = shapeOf(failure);
  const rest = "It is still tried: send the request again under the same Idempotency-Key to get the answer.";
  return {
    type: "refuse",
    refusal: {
      // Only these two say that the same request may be repeated.
      status: status === 429 ? 429 : 503,
      code: code === other.code ? "not_available_yet" : code,
      message: `${why.trim().replace(/[^.?!…]$/, "$&.")} ${rest}`,
      retryAfterSeconds: seconds,
      isPending: true,
    },
  };
}
