// `everturn config`: check, show, path. Works without a gateway.

import { environment, loadConfig, systemInput } from "../../config/load.ts";
import { emailWarning } from "../../config/platforms/email.ts";
import type { Config } from "../../config/schema.ts";
import { toPrintable } from "../../config/secret.ts";
import { missingPrograms } from "../doctor/programs.ts";
import { type Context, pathsOf, show as print, textFlag } from "../context.ts";
import { facts } from "../print.ts";
import { wrongConfig } from "../wrong-config.ts";

export async function check(context: Context): Promise<number> {
  // A home that this user may not read, or that is none, says more than the files that cannot be read in it.
  pathsOf(context);
  const loaded = await loadConfig(systemInput(textFlag(context, "home")));
  if (loaded.type === "loaded") {
    const from = loaded.sources.config ?? `no ${loaded.paths.config}, so everything is as delivered`;
    const missing = missingPrograms(loaded.config, loaded.paths, environment()).map(
      ({ key, program }) => `${key} names ${program}, which is not found; install it, or write its whole path`,
    );
    const mail = emailWarning(loaded.config.platforms.email);
    const warnings = [...missing, ...(mail === null ? [] : [mail]), ...wallWarnings(loaded.config)];
    return print(context, { ok: true, sources: loaded.sources, warnings }, () =>
      [`The configuration is fine (${from}).`, ...warnings.map((one) => `Warning: ${one}.`)].join("\n"),
    );
  }
  if (context.flags["json"] === true) context.output.out(JSON.stringify({ ok: false, faults: loaded.faults }));
  throw wrongConfig(loaded.faults);
}

/** An older release accepted it without a word; the gateway still starts and answers, but no tool runs. */
function wallWarnings({ agent: { tools, backend } }: Config): readonly string[] {
  if (backend === "echo" || tools.terminal.sandbox !== "off" || tools.terminal.unsafe) return [];
  return [
    "agent.tools.terminal.sandbox is off, so no tool runs; set it to auto, or accept tools without a sandbox by agent.tools.terminal.unsafe: true",
  ];
}

export async function show(context: Context): Promise<number> {
  pathsOf(context);
  const loaded = await loadConfig(systemInput(textFlag(context, "home")));
  if (loaded.type === "wrong") throw wrongConfig(loaded.faults);
  const shown = toPrintable(asWritten(loaded.config));
  return print(context, shown, () => facts(flatten("", shown), context.output));
}

export async function path(context: Context): Promise<number> {
  context.output.out(pathsOf(context).config);
  return 0;
}

/** Hooks stand under their names, as in config.yaml; who may use them is not configured. */
function asWritten(config: Config): unknown {
  const { hooks } = config.platforms;
  return hooks === false ? config : { ...config, platforms: { ...config.platforms, hooks: hooks.hooks } };
}

/** `control.port  7433` lines, under the names that config.yaml and its faults use. */
function flatten(prefix: string, value: unknown): [string, string][] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [[prefix, JSON.stringify(value)]];
  const entries = Object.entries(value);
  if (entries.length === 0) return [[prefix, "{}"]];
  return entries.flatMap(([key, inner]) => flatten(prefix === "" ? key : `${prefix}.${key}`, inner));
}
