// What becomes of a call after an attempt without a result: made again, or told to the model as refused, failed or
// unknown. Nothing is claimed that is not known: an attempt that may have run makes the outcome of a changing tool unknown,
// whatever later attempts bring. Pure.

import type { ToolEffect, ToolResult } from "../../core/journal.ts";
import { complaint } from "./results.ts";

export type FailedAttempt = {
  readonly type:
    | "refused" // the server declined it
    | "unheard" // it did not reach the server
    | "lost" // the server may have run it
    | "unreachable"; // there was no connection to make it on
  readonly why: string;
};

export type CallFacts = {
  readonly server: string;
  readonly tool: string;
  readonly effect: ToolEffect;
};

/** All attempts of this call, the newest last. */
export function afterAttempts(call: CallFacts, attempts: readonly FailedAttempt[]): "again" | ToolResult {
  const last = attempts.at(-1);
  if (last === undefined) return "again";
  const isRepeatable = call.effect === "pure" || call.effect === "keyed";
  const lost = attempts.find((one) => one.type === "lost");
  if (lost !== undefined && !isRepeatable) return unknown(call, lost, last);
  // Each kind of failure is tried again once: the first repeat may still have met the old connection.
  const isFirst = attempts.filter((one) => one.type === last.type).length === 1;
  if (isFirst && (last.type === "unheard" || last.type === "lost")) return "again";
  if (lost !== undefined && call.effect !== "pure") return unknown(call, lost, last);
  if (last.type === "refused") return complaint(`the MCP server ${call.server} refused the call: ${last.why}`);
  if (last.type === "unreachable") return unreachable(call.server, last.why);
  const delivered = last.type === "unheard" ? ". The call was not delivered" : "";
  const why = `the MCP server ${call.server} gave no result: ${sentence(last.why)}${delivered}`;
  return { type: "failed", why, outside: true };
}

export function unreachable(server: string, why: string): ToolResult {
  const text = `the MCP server ${server} cannot be reached: ${sentence(why)}. The call was not delivered. Its settings are under agent.mcp.${server}`;
  return { type: "failed", why: text, outside: true };
}

function unknown({ server, tool }: CallFacts, lost: FailedAttempt, last: FailedAttempt): ToolResult {
  const later = last === lost ? "" : `; a later attempt failed: ${sentence(last.why)}`;
  const why = `the MCP server ${server} gave no result: ${sentence(lost.why)}${later}. Whether ${tool} was done is not known`;
  return { type: "unknown", why, outside: true };
}

/** The reason may be the last output of a server. */
function sentence(why: string): string {
  return why.replace(/\.$/, "");
}
