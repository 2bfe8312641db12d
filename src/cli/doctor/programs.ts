// The programs that the configuration wants started, and which of them this machine does not have.

import type { Paths } from "../../config/paths.ts";
import type { Config } from "../../config/schema.ts";
import { isProgram } from "../../host/command.ts";

export type Missing = { readonly key: string; readonly program: string };

export function missingPrograms(
  { agent }: Config,
  paths: Pick<Paths, "home">,
  env: Readonly<Record<string, string | undefined>>,
): readonly Missing[] {
  const wanted = [
    ...(agent.backend === "acp" ? [{ key: "agent.acp.command", program: agent.acp?.command[0] }] : []),
    ...Object.entries(agent.mcp).map(([name, { command }]) => ({
      key: `agent.mcp.${name}.command`,
      program: command?.[0],
    })),
  ];
  return wanted.flatMap(({ key, program }) =>
    program === undefined || isProgram(program, paths.home, env) ? [] : [{ key, program }],
  );
}
