// What can be wrong with a platform of a running gateway: it does not let us in, it goes on by itself but does not stand, it
// is being tried again, or it says that something is wrong with it. Pure.

import type { Instant } from "../../core/ids.ts";
import { deniedTodo, healthText } from "../../core/links/health.ts";
import { oneLine } from "../print.ts";
import type { Findings, PlatformFacts } from "./findings.ts";
import { type Verdict, fault, ok, warning } from "./verdict.ts";

export function judgePlatforms({ gateway, now }: Findings): Verdict {
  if (gateway === null || gateway.safeMode) return ok("not looked at, because no gateway has them open");
  const told = gateway.platforms.map((one) => ({ one, verdict: judgePlatform(one, now) }));
  const bad = told.filter(({ verdict }) => verdict.level !== "ok");
  const worst = bad.find(({ verdict }) => verdict.level === "fault") ?? bad[0];
  if (worst === undefined) return ok(told.map(({ one }) => one.name).join(", ") || "none");
  const what = bad.map(({ one, verdict }) => `${one.name} is ${verdict.what}`).join("\n");
  const todos = [...new Set([worst, ...bad].flatMap(({ verdict }) => verdict.todo ?? []))];
  return (worst.verdict.level === "fault" ? fault : warning)(what, todos.join("\n"));
}

export function judgePlatform({ platform, health, probe }: PlatformFacts, now: number): Verdict {
  const how = oneLine(healthText(health, now as Instant));
  switch (health.state) {
    case "denied":
      return fault(how, deniedTodo(platform));
    case "troubled":
      return warning(how, `It goes on by itself when that is over. ${aloneTodo}`);
    case "down":
    case "closed":
      return warning(how, "It is tried again by itself for ever; look at the network, and at `everturn logs`.");
    case "connecting":
      return ok(how);
    case "up":
      if (probe === null || probe.fine === null) return ok(how);
      if (probe.fine) return ok(`${how}; ${oneLine(probe.said)}`);
      return warning(
        `${how}, but asked how it is: ${oneLine(probe.said)}`,
        "Look again in a moment; `everturn logs` tells more.",
      );
  }
}

const aloneTodo =
  "An account serves one gateway at a time: if another program uses it, stop that one or give it an account of its own.";
