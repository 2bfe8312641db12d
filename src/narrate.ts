// What happens in the gateway, told to the log: what somebody may want to know as info, trouble as a warning, the rest
// for those who look closely. Never what people said.

import { deniedTodo } from "./core/links/health.ts";
import { formatAddress } from "./core/message.ts";
import type { GatewayEvent } from "./ports/gateway.ts";
import type { Facts, LogLevel } from "./ports/world.ts";

export type Line = { readonly level: LogLevel; readonly what: string; readonly facts: Facts };

export function narrate(event: GatewayEvent): Line {
  switch (event.type) {
    case "state": {
      const level = event.state === "degraded" ? "warn" : "info";
      return { level, what: `the gateway is ${event.state}`, facts: withReason(event.reason) };
    }
    case "draining": {
      const { class: kind, running, until, over } = event;
      return debug("the gateway is stopping", { class: kind, running, until: new Date(until).toISOString(), over });
    }
    case "accepted":
      return info("message stored", { from: formatAddress(event.from), session: event.session, turn: event.turn });
    case "turn-started":
      return debug("turn started", { session: event.session, turn: event.turn, attempt: event.attempt });
    case "turn-waiting": {
      const { turn, kind, until } = event;
      return info("turn waits for an answer", { turn, kind, until: new Date(until).toISOString() });
    }
    case "turn-parked":
      return info("turn parked; it goes on after the next start", { session: event.session, turn: event.turn });
    case "turn-ended": {
      const { turn, outcome, why } = event;
      const facts = { session: event.session, turn, outcome, ...(why === undefined ? {} : { why }) };
      return { level: outcome === "failed" ? "warn" : "info", what: "turn ended", facts };
    }
    case "tool-ended":
      return debug("tool ended", { turn: event.turn, tool: event.tool, result: event.result });
    case "item": {
      const { item, state, why } = event;
      const facts = { item, state, ...(why === undefined ? {} : { why }) };
      if (state === "dead") return { level: "warn", what: "a message could not be delivered and is given up", facts };
      if (state === "in-doubt") return { level: "warn", what: "a message may or may not have arrived", facts };
      if (why !== undefined) return { level: "warn", what: "a message is sent again later", facts };
      return debug("message sent", facts);
    }
    case "platform": {
      const { platform, account, up, state, why } = event;
      const facts = { platform, account, ...(why === undefined ? {} : { why }) };
      if (state === "denied")
        return { level: "error", what: "platform does not let us in", facts: { ...facts, todo: deniedTodo(platform) } };
      return up ? info("platform connected", facts) : { level: "warn", what: "platform lost", facts };
    }
  }
}

function withReason(reason: string | null): Facts {
  return reason === null ? {} : { reason };
}

function info(what: string, facts: Facts): Line {
  return { level: "info", what, facts };
}

function debug(what: string, facts: Facts): Line {
  return { level: "debug", what, facts };
}
