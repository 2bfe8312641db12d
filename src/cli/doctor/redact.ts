// Takes secrets out of what checks found: programs and platforms quote addresses and headers in their errors.

import { loadConfig, systemInput } from "../../config/load.ts";
import { redactor } from "../../log/redact.ts";
import { type Context, textFlag } from "../context.ts";
import type { Told } from "./checks.ts";

export async function redactChecks(context: Context, checks: readonly Told[]): Promise<readonly Told[]> {
  const loaded = await loadConfig(systemInput(textFlag(context, "home")));
  return redactTold(loaded.type === "loaded" ? loaded.secrets : [], checks);
}

export function redactTold(secrets: readonly string[], checks: readonly Told[]): readonly Told[] {
  const { text } = redactor(secrets);
  return checks.map((one) => ({ ...one, what: text(one.what), todo: one.todo === null ? null : text(one.todo) }));
}
