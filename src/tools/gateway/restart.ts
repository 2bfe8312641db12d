// restart_gateway: the agent may have the gateway restarted, with its user's word. That somebody asks afterwards whether it
// happened proves that it did: the question is only asked by another life of the gateway.

import * as v from "valibot";
import type { Tool } from "../../ports/tool.ts";
import { type Policy, dangerous, verdictOf } from "../policy/index.ts";
import { define, ok } from "../define.ts";

export type RestartOptions = {
  readonly approvals: Policy;
  readonly restart: () => Promise<"restarting" | { readonly refused: string }>;
};

export function restartTool({ approvals, restart }: RestartOptions): Tool {
  return define({
    name: "restart_gateway",
    description: "Restarts the gateway you run in; this turn goes on afterwards. Only when the user wants it.",
    effect: "checkable",
    face: { properties: {}, required: [] },
    schema: v.strictObject({}),
    vet: async (_input, { outside }) =>
      verdictOf({
        policy: approvals,
        judgment: dangerous("it interrupts everything that runs"),
        effect: "checkable",
        outside,
        what: "restart the gateway",
        subject: "restarting the gateway",
        bound: "restart",
      }),
    async run(_input, { signal }) {
      const answer = await restart();
      if (answer !== "restarting") return { type: "failed", why: answer.refused };
      await aborted(signal);
      throw signal.reason;
    },
    check: async () => ok("the gateway has restarted"),
  });
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
