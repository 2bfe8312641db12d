// A raw value against the schema. What is right is known at once; what may be wrong is looked at again by `wrong/explain.ts`,
// which most starts never load. Pure.

import { safeParse } from "valibot";
import { checkAgent } from "./agent/access.ts";
import { isRefused, notYet } from "./available.ts";
import { type Config, configSchema } from "./schema.ts";
import { type Checked, type Raw, isGroup, valueAt } from "./wrong/raw.ts";

export async function check(raw: Raw): Promise<Checked> {
  const config = raw.faulty.length > 0 || asksTooMuch(raw.value) ? null : parsed(raw.value);
  if (config !== null) return { type: "right", config };
  const { explain } = await import("./wrong/explain.ts");
  return explain(raw);
}

/** Null when anything may be wrong. A list might stand for a group, which the schema alone does not see. */
function parsed(value: unknown): Config | null {
  if (holdsList(value)) return null;
  const { success, output } = safeParse(configSchema, value);
  if (!success) return null;
  let isWrong = false;
  checkAgent(output.agent, () => {
    isWrong = true;
  });
  return isWrong ? null : output;
}

function asksTooMuch(value: unknown): boolean {
  return notYet.some((rule) => {
    const found = valueAt(value, rule.key.split("."));
    return found !== undefined && isRefused(rule, found);
  });
}

function holdsList(value: unknown): boolean {
  return Array.isArray(value) || (isGroup(value) && Object.values(value).some(holdsList));
}
