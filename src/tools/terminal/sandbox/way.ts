// Which way a command is run where there is a sandbox: in it, or past it, because what makes it dangerous is something the
// sandbox does not give, so that an approval would be worth nothing inside. Decided alike when the command is vetted and
// when it is run, from its words and the configuration alone: nothing that the disk holds can lead a command out. Pure.

import type { JobSandbox } from "../../../ports/jobs.ts";
import {
  type CommandPlaces,
  type Judgement,
  type Policy,
  dangerous,
  isInside,
  judgeCommand,
} from "../../danger/index.ts";

export type Confined = {
  /** Whether there is a sandbox. */
  readonly isOn: boolean;
  /** Whether commands in it reach the network. */
  readonly network: boolean;
  readonly policy: Policy;
};

/** Null where there is no sandbox. `places` has the folder as it was typed, links and all. */
export function wayOf(command: string, places: CommandPlaces, { isOn, network, policy }: Confined): JobSandbox | null {
  if (!isOn) return null;
  const inside = network ? "network" : "closed";
  // Where nobody is asked, nobody has allowed it to leave.
  if (policy === "never") return inside;
  const judged = judgeCommand(command, leavingFrom(places, network));
  const needs = judged.level === "dangerous" ? judged.needs : undefined;
  return needs === undefined || (needs === "network" && network) ? inside : "past";
}

const tmp = "/tmp";

/** Inside, /tmp is the conversation's own. A folder of the real one is not there, so nothing in it is free. */
function insideOf(places: CommandPlaces): CommandPlaces {
  const { cwd, workspace } = places;
  const isLost = cwd.startsWith(`${tmp}/`) && !isInside(cwd, workspace);
  return isLost ? places : { ...places, writable: [tmp], tmp };
}

/** As one that is inside, and would be let out for what it lacks there. */
function leavingFrom(places: CommandPlaces, network: boolean): CommandPlaces {
  return { ...insideOf(places), isSandboxed: !network, asksForNetwork: !network };
}

export type Folders = {
  /** Without its folder. */
  readonly places: Omit<CommandPlaces, "cwd">;
  readonly typed: string;
  readonly real: string;
};

/** What is thought of a command that is run that way. Past the sandbox it is told why it leaves and what else it does then. */
export function judgeOn(way: JobSandbox | null, command: string, folders: Folders, network: boolean): Judgement {
  const { places, typed, real } = folders;
  const there: CommandPlaces = { ...places, cwd: real };
  if (way === "closed" || way === "network")
    return judgeCommand(command, { ...insideOf(there), isSandboxed: way === "closed" });
  const judged = judgeCommand(command, there);
  if (way === null || judged.level === "forbidden") return judged;
  // Why it leaves is a reason to ask, wherever its folder leads.
  const leaving = judgeCommand(command, leavingFrom({ ...places, cwd: typed }, network));
  if (leaving.level !== "dangerous" || judged.level === "plain" || judged.why === leaving.why) return leaving;
  return dangerous(`${leaving.why}, and ${judged.why}`, leaving.needs);
}

export function wayWords(way: JobSandbox | null): string | null {
  switch (way) {
    case "closed":
      return "in a sandbox, without network";
    case "network":
      return "in a sandbox, with network";
    case "past":
      return "outside the sandbox";
    case null:
      return null;
  }
}

/** How programs say that the sandbox was in their way. */
const refusals =
  /read-only file system|could not resolve|EAI_AGAIN|EROFS|network is unreachable|ENETUNREACH|temporary failure in name resolution|operation not permitted|EPERM\b/i;

/** A word about the sandbox, where what a command said looks as if it had failed for that; null elsewhere. */
export function refusalNote(way: JobSandbox | null, said: string): string | null {
  if (way === null || way === "past" || !refusals.test(said)) return null;
  return way === "closed"
    ? "(This ran in a sandbox: only the workspace and /tmp can be written, there is no network; agent.tools.terminal.network)"
    : "(This ran in a sandbox: only the workspace and /tmp can be written; agent.tools.terminal.sandbox)";
}
