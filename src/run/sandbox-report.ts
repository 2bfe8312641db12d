// What is known about the sandbox of the tools, for status and page; a missing one is also written to the log.

import type { SandboxStatus } from "../control/protocol.ts";
import { sentenceOf } from "../core/fault.ts";
import type { Sandbox } from "../ports/sandbox.ts";
import type { World } from "../ports/world.ts";

export type SandboxReport = {
  status(): SandboxStatus;
  /** Tries it, and keeps what came of it. */
  watch(sandbox: Pick<Sandbox, "state">): void;
};

export function sandboxReport(world: Pick<World, "log">): SandboxReport {
  let known: SandboxStatus = { type: "unknown" };
  async function find(sandbox: Pick<Sandbox, "state">): Promise<void> {
    try {
      known = await sandbox.state();
    } catch (error) {
      return world.log("warn", "Trying the sandbox failed", { error: sentenceOf(error) });
    }
    if (known.type === "missing") world.log("error", "There is no sandbox, so no tool runs", { why: known.why });
    if (known.type === "off" && !known.isAccepted) world.log("warn", "Tools run without a sandbox", { why: known.why });
  }
  return { status: () => known, watch: (sandbox) => void find(sandbox) };
}
