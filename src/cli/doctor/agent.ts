// What can be wrong with the agent of a home: its model cannot be reached, its commands run without a sandbox, a program
// that it was told to start is not there. Pure.

import type { AgentLook } from "../context.ts";
import type { Findings } from "./findings.ts";
import { type Verdict, fault, ok, warning } from "./verdict.ts";

const unread: Verdict = ok("not looked at, because the configuration is wrong");

export function judgeModel({ agent }: Findings): Verdict {
  if (agent === null) return unread;
  if (agent.backend === "echo")
    return ok("none is set, so the offline agent answers; `agent.model` in config.yaml chooses one");
  if (agent.backend === "acp") return ok("left to the agent that agent.acp.command starts");
  const bad = agent.models.filter((one) => one.reach.type !== "fine");
  const [first] = bad;
  if (first === undefined) return ok(`${agent.models.map((one) => one.model).join(", ")} can be reached`);
  const what = bad.map(sentenceFor).join("\n");
  // Without the first one nothing is as its owner wants it; a further one is for bad days.
  return agent.models[0] === first ? fault(what, todoFor(first)) : warning(what, todoFor(first));
}

type Asked = AgentLook["models"][number];

function sentenceFor({ model, reach }: Asked): string {
  switch (reach.type) {
    case "fine":
      return model;
    case "unlisted":
      return `${model} is not among the models of its provider${reach.near.length === 0 ? "" : `; near are ${reach.near.join(", ")}`}`;
    case "refused":
      return `the provider of ${model} refuses our key (${reach.why})`;
    case "silent":
      return `the provider of ${model} cannot be asked (${reach.why})`;
  }
}

function todoFor({ reach }: Asked): string {
  if (reach.type === "refused") return "Look at `agent.apiKey` in config.yaml, or at the variable that holds it.";
  if (reach.type === "unlisted") return "Look at `agent.model` in config.yaml.";
  return "Look at the network and at `agent.baseUrl`; a local server must be running.";
}

export function judgeSandbox({ agent }: Findings): Verdict {
  if (agent === null) return unread;
  const { sandbox } = agent;
  if (sandbox === null) return ok("this agent starts no programs");
  if (sandbox.type === "on") return ok(`tools run in a sandbox (${sandbox.kind})`);
  if (sandbox.type === "missing") return fault(`No tool runs. ${sandbox.why}`, "Until then the agent only talks.");
  if (sandbox.isRefused === true)
    return fault(`Commands and file tools are refused. ${sandbox.why}`, "Until then the agent mostly talks.");
  const what = `Tools run without a sandbox, with all rights of this user. ${sandbox.why}`;
  if (sandbox.isAccepted) return ok(`${what} It is accepted in the configuration.`);
  return warning(
    what,
    "Only the owner and admins can use them, and nearly every call asks; `agent.tools.terminal.unsafe: true` accepts this.",
  );
}

export function judgeCommands({ agent }: Findings): Verdict {
  if (agent === null) return unread;
  if (agent.missing.length === 0) return ok("what the agent is told to start is there");
  return warning(
    agent.missing.map(({ key, program }) => `${key} names ${program}, which is not found`).join("\n"),
    "Install it, or write its whole path.",
  );
}
