// Whether a command may be run as it is. The judgement is of the words; the approval is bound to everything that decides
// what they do: the folder, the sandbox, and the scripts as they are now.

import { realpath } from "node:fs/promises";
import type { Verdict } from "../../core/approval.ts";
import type { JobSandbox } from "../../ports/jobs.ts";
import { type CommandPlaces, type Judgement, type Places, type Policy, boundTo, verdictOf } from "../danger/index.ts";
import { wayWords } from "./sandbox/way.ts";
import { scriptDigests } from "./scripts.ts";

export type CommandCall = {
  readonly command: string;
  readonly judgement: Judgement;
  readonly way: JobSandbox | null;
  readonly cwd: string;
  readonly userHome: string | null;
  readonly background: boolean;
  readonly policy: Policy;
  readonly outside: boolean;
};

/** A rule must be short enough to be read in a list. */
const subjectMax = 500;

export async function vetCommand(call: CommandCall): Promise<Verdict> {
  const { command, judgement, way, cwd, userHome, background, policy, outside } = call;
  const scripts = await scriptDigests(command, cwd, userHome);
  const how = [`in ${cwd}`, wayWords(way), background ? "in the background" : null].filter((one) => one !== null);
  return verdictOf({
    policy,
    judgement,
    effect: "checkable",
    outside,
    what: `${command}\n(${how.join(", ")})`,
    subject: subjectOf(command, cwd, scripts, way === "past"),
    bound: boundTo({
      input: { command, background },
      cwd,
      sandbox: way,
      scripts: Object.fromEntries(scripts),
    }),
  });
}

/** With links followed, and both paths known: a command may name a folder by either. */
export async function placesFor({ workspace, home, userHome, files }: Places): Promise<Omit<CommandPlaces, "cwd">> {
  const followed = async (typed: string) => [typed, await realpath(typed).catch(() => typed)] as const;
  const [work, own, user] = await Promise.all([followed(workspace), followed(home), followed(userHome ?? home)]);
  const readable = files === undefined ? {} : { files: (await followed(files))[1] };
  const places = { workspace: work[1], home: own[1], userHome: userHome === null ? null : user[1], ...readable };
  return { ...places, links: [work, own, user] };
}

/** The command with its folder, and the scripts it runs as they are now: another script is another thing, another way too. */
export function subjectOf(
  command: string,
  cwd: string,
  scripts: readonly (readonly [string, string])[],
  isPast = false,
): string | null {
  const marks = scripts.map(([name, hash]) => `${name}@${hash.slice(0, 12)}`).join(" ");
  const way = isPast ? ", outside the sandbox" : "";
  const subject = `${command} (in ${cwd}${way}${marks === "" ? "" : `, ${marks}`})`;
  return subject.length > subjectMax || command.includes("\n") ? null : subject;
}
