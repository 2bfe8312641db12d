// The models that a provider has, asked of it when somebody named one that it does not have. Best effort: a list that
// cannot be read is an empty one, because all that hangs on it is a hint.

import { Fault } from "../../../core/fault.ts";
import type { ModelOptions } from "../options.ts";
import { type ModelName, accessOf, baseUrlOf, known, near } from "./names.ts";

const listMs = 3_000;

/** Names like the one that was not found, as provider/name. */
export async function nearModels(
  options: Pick<ModelOptions, "providers" | "connected">,
  { provider, name }: ModelName,
  key: string | null,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const names = await listed(options, { provider, name }, key, signal).catch((error: unknown) => {
    if (signal.aborted) throw error;
    return [];
  });
  return near(name, names).map((one) => `${provider}/${one}`);
}

/** All that it lists. Rejects when it refuses, with its status first, or cannot be reached. */
export async function listed(
  options: Pick<ModelOptions, "providers" | "connected">,
  { provider }: ModelName,
  key: string | null,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { protocol } = known[provider];
  const signs: Record<string, string> =
    key === null
      ? {}
      : protocol === "anthropic"
        ? { "x-api-key": key }
        : protocol === "google"
          ? { "x-goog-api-key": key }
          : { authorization: `Bearer ${key}` };
  const version: Record<string, string> = protocol === "anthropic" ? { "anthropic-version": "2023-06-01" } : {};
  const answer = await (options.connected ?? fetch)(`${baseUrlOf(options, provider)}/models`, {
    headers: { ...signs, ...version, ...accessOf(options, provider).headers },
    signal: AbortSignal.any([signal, AbortSignal.timeout(listMs)]),
  });
  if (!answer.ok) throw new Fault("not-possible", `${answer.status} ${answer.statusText}`.trim());
  const body = (await answer.json()) as { readonly data?: unknown; readonly models?: unknown };
  const rows = Array.isArray(body.data) ? body.data : Array.isArray(body.models) ? body.models : [];
  return rows.flatMap((row: { readonly id?: unknown; readonly name?: unknown } | null) => {
    const id = row?.id ?? row?.name;
    return typeof id === "string" ? [id.replace(/^models\//, "")] : [];
  });
}
