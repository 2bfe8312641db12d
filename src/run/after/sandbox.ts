// The notice to the homes about the sandbox of the tools: once for each reason, and nothing where all is well or accepted.

import { createHash } from "node:crypto";
import type { SandboxState } from "../../ports/sandbox.ts";

export function sandboxNotice(state: SandboxState | null): { readonly text: string; readonly key: string } | null {
  const isRefused = state?.type === "off" && state.isRefused === true;
  if (state === null || state.type === "on" || (state.type === "off" && state.isAccepted && !isRefused)) return null;
  const text = isRefused
    ? `There is no sandbox on this machine, so commands and file tools are refused. ${state.why}`
    : state.type === "missing"
      ? `No tool runs. ${state.why}`
      : `There is no sandbox on this machine, so tools run with all rights of the gateway's user. Only the owner and admins can use them, and nearly every call asks. ${state.why}`;
  const reason = createHash("sha256").update(text).digest("hex").slice(0, 16);
  return { text, key: `sandbox:${reason}` };
}
