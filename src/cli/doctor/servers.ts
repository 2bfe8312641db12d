// The MCP servers of a running gateway: their state in one line each, and what to do about those that do not work. Pure.

import type { StatusReply } from "../../control/protocol.ts";
import { visibleLine } from "../../core/asked/visible.ts";
import { lasting, many, oneLine } from "../print.ts";
import type { Findings } from "./findings.ts";
import { type Verdict, fault, ok, warning } from "./verdict.ts";

export type ServerFacts = StatusReply["servers"][number];

export function judgeServers({ gateway, now }: Findings): Verdict {
  if (gateway === null || gateway.safeMode) return ok("not checked, because no gateway runs them");
  const judged = gateway.servers.map((one) => ({ name: visibleLine(one.name), verdict: judgeServer(one, now) }));
  const bad = judged.filter(({ verdict }) => verdict.level !== "ok");
  const worst = bad.find(({ verdict }) => verdict.level === "fault") ?? bad[0];
  if (worst === undefined) return ok(judged.map(({ name }) => name).join(", ") || "none");
  const what = bad.map(({ name, verdict }) => `${name} is ${verdict.what}`).join("\n");
  const todos = [...new Set([worst, ...bad].flatMap(({ verdict }) => verdict.todo ?? []))];
  return (worst.verdict.level === "fault" ? fault : warning)(what, todos.join("\n"));
}

export function judgeServer(one: ServerFacts, now: number): Verdict {
  const key = `agent.mcp.${visibleLine(one.name)}`;
  const how = serverText(one, now);
  switch (one.state) {
    case "ready":
      return one.changed.length === 0 ? ok(how) : warning(how, "`everturn mcp list` shows what changed.");
    case "starting":
    case "stopped":
      return ok(how);
    case "degraded":
      return warning(how, `It is tried again by itself. If that does not help, check ${key}.`);
    case "login-needed":
      return fault(how, `Put a valid token into ${key}.headers, then restart the gateway.`);
    case "refused":
      return fault(how, `Check ${key} in the configuration.`);
    default:
      // A gateway of another version may have other states.
      return ok(how);
  }
}

const words: Partial<Readonly<Record<ServerFacts["state"], string>>> = { "login-needed": "waiting for a login" };

/** The state with its reason, and the next attempt where one is planned. */
export function serverText({ state, why, tools, protocol, nextAttemptAt }: ServerFacts, now: number): string {
  const facts = state === "ready" ? `, ${many(tools, "tool")}, protocol ${visibleLine(protocol ?? "unknown")}` : "";
  const reason = why === null ? "" : `: ${oneLine(why)}`;
  const waits = nextAttemptAt === null ? "" : `; next attempt in ${lasting(Math.max(0, nextAttemptAt - now))}`;
  return `${words[state] ?? state}${facts}${reason}${waits}`;
}
