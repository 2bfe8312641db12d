// Why a turn failed, as a word for programs beside the sentence for people. Stored with the turn, so a released word never
// changes.

export type FailureCode =
  /** The provider refuses our key, or there is none. */
  | "provider-auth"
  | "provider-credit"
  | "provider-rate-limit"
  | "provider-overloaded"
  | "provider-unreachable"
  /** The stream ended early, or nothing was said. */
  | "provider-incomplete"
  | "provider-bad-request"
  /** The address of the provider leads to something else. */
  | "provider-wrong-address"
  | "unknown-model"
  | "no-tools"
  | "context-length"
  | "output-limit"
  | "content-filter"
  /** A call option that the model does not have; `param` names it. */
  | "unsupported-option"
  | "budget"
  /** The agent wants a person to log in. */
  | "agent-login"
  /** The process ended again and again during this turn. */
  | "gateway-crash"
  | "interrupted-too-often";

export type TurnFailure = { readonly code: FailureCode; readonly param?: string };
