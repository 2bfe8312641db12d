// Whether tools run behind a wall, as the gateway says it: shown only while they do not.

import { type ReadonlySignal, signal } from "@preact/signals";
import type { Client } from "./net/client.ts";

/** One line for people; empty where there is nothing to say. */
export type SandboxNotice = { readonly words: ReadonlySignal<string>; look(): Promise<void> };

const lookEveryMs = 60_000;

export function sandboxNotice(client: Pick<Client, "sandbox">, now: () => number = Date.now): SandboxNotice {
  const words = signal("");
  let lookedAt = Number.NEGATIVE_INFINITY;
  return {
    words,
    async look() {
      // Once it is known it hardly changes; asking seldom is enough.
      if (now() - lookedAt < lookEveryMs) return;
      lookedAt = now();
      const answer = await client.sandbox();
      if (answer.type === "got") words.value = answer.value;
      else lookedAt = Number.NEGATIVE_INFINITY;
    },
  };
}

/** What the status of the gateway means for the notice; null while the gateway does not know it. */
export function readSandbox(value: unknown): string | null {
  const { sandbox } = (value ?? {}) as { readonly sandbox?: unknown };
  type Fields = { readonly [name in "type" | "why" | "isAccepted" | "isRefused"]?: unknown };
  const { type, why, isAccepted, isRefused } = (sandbox ?? {}) as Fields;
  const reason = typeof why === "string" ? ` ${why}` : "";
  if (type === "missing") return `No tool runs, because the sandbox is missing.${reason}`;
  if (type === "off" && isRefused === true) return `There is no sandbox: commands and file tools are refused.${reason}`;
  if (type === "off" && isAccepted !== true) return `There is no sandbox: tools have all your rights.${reason}`;
  return type === "on" || type === "off" ? "" : null;
}
