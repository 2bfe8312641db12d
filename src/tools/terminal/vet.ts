// Whether a command may be run as it is. The judgement is of the words; the approval is bound to everything that decides
// what they do: the folder, the sandbox, and the scripts as they are now.

import { realpath } from "node:fs/promises";
import type { Verdict } from "../../core/approval.ts";
import { type CommandPlaces, type Places, type Policy, boundTo, judgeCommand, verdictOf } from "../danger/index.ts";
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
  const scripts = await scriptDigests(command, places.cwd, places.userHome);
  const isSandboxed = places.isSandboxed === true;
  return verdictOf({
    policy,
    judgement: judgeCommand(command, places),
    effect: "checkable",
    outside,
    what: `${command}\n(in ${places.cwd}${isSandboxed ? ", in a sandbox" : ""}${background ? ", in the background" : ""})`,
    subject: subjectOf(command, places.cwd, scripts),
    bound: boundTo({
      input: { command, background, network },
      cwd: places.cwd,
      sandbox: isSandboxed,
      scripts: Object.fromEntries(scripts),
    }),
  });
}

/** With links followed, and both paths known: a command may name a folder by either. */
export async function placesFor({ workspace, home, userHome }: Places): Promise<Omit<CommandPlaces, "cwd">> {
  const followed = async (typed: string) => [typed, await realpath(typed).catch(() => typed)] as const;
  const [work, own, user] = await Promise.all([followed(workspace), followed(home), followed(userHome ?? home)]);
  return { workspace: work[1], home: own[1], userHome: userHome === null ? null : user[1], links: [work, own, user] };
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
