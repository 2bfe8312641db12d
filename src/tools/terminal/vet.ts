// Whether a command may be run as it is. The judgement is of the words; the approval is bound to everything that decides
// what they do: the folder, the sandbox, and the scripts as they are now.

import { createHash } from "node:crypto";
import type { Verdict } from "../../core/approval.ts";
import { type CommandPlaces, judgeCommand } from "../danger/index.ts";
import { type Policy, verdictOf } from "../danger/verdict.ts";
import { scriptDigests } from "./scripts.ts";

export type CommandCall = {
  readonly command: string;
  readonly places: CommandPlaces;
  readonly background: boolean;
  readonly network: boolean;
  readonly policy: Policy;
  readonly outside: boolean;
};

/** A rule must be short enough to be read in a list. */
const subjectMax = 500;

export async function vetCommand(call: CommandCall): Promise<Verdict> {
  const { command, places, background, network, policy, outside } = call;
  const scripts = await scriptDigests(command, places.cwd);
  const isSandboxed = places.isSandboxed === true;
  return verdictOf({
    policy,
    judgement: judgeCommand(command, places),
    effect: "checkable",
    outside,
    what: `${command}\n(in ${places.cwd}${isSandboxed ? ", in a sandbox" : ""}${background ? ", in the background" : ""})`,
    subject: subjectOf(command, places.cwd, scripts),
    bound: digest([command, places.cwd, isSandboxed, network, background, scripts]),
  });
}

/** The command with its folder, and the scripts it runs as they are now: another script is another thing. */
export function subjectOf(
  command: string,
  cwd: string,
  scripts: readonly (readonly [string, string])[],
): string | null {
  const marks = scripts.map(([name, hash]) => `${name}@${hash.slice(0, 12)}`).join(" ");
  const subject = `${command} (in ${cwd}${marks === "" ? "" : `, ${marks}`})`;
  return subject.length > subjectMax || command.includes("\n") ? null : subject;
}

function digest(of: unknown): string {
  return createHash("sha256").update(JSON.stringify(of)).digest("hex");
}
