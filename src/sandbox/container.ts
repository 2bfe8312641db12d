// The command line of Docker and Podman: the same table as for bubblewrap, with programs and settings from an image
// instead of this machine. Pure. It is tested as text; no machine of the project runs it.

import { Fault } from "../core/fault.ts";
import type { Mount } from "./mounts.ts";

export type ContainerPlan = {
  readonly program: "docker" | "podman";
  readonly image: string;
  /** By which it can be ended. */
  readonly name: string;
  /** Binds only; the image has the rest. */
  readonly mounts: readonly Extract<Mount, { type: "bind" }>[];
  readonly cwd: string;
  /** `NAME=value`, or a name whose value comes from the environment of the command, where no list of processes shows it. */
  readonly variables: readonly string[];
  readonly user: string;
  readonly memoryKb: number;
  readonly processes: number;
  readonly command: readonly string[];
};

export const defaultImage = "docker.io/library/node:26";

export function containerWords(plan: ContainerPlan): readonly string[] {
  const { program, image, name, mounts, cwd, variables, user, memoryKb, processes, command } = plan;
  return [
    [program, "run", "--rm", "--init", "--interactive", "--name", name, "--hostname", "sandbox"],
    ["--network", "none", "--ipc", "private", "--read-only", "--cap-drop", "ALL"],
    ["--security-opt", "no-new-privileges", "--pids-limit", String(processes), "--memory", `${memoryKb}k`],
    ["--user", user, ...(program === "podman" ? ["--userns", "keep-id"] : [])],
    mounts.flatMap((mount) => ["--mount", mountWord(mount)]),
    variables.flatMap((variable) => ["--env", variable]),
    ["--workdir", cwd, image, ...command],
  ].flat();
}

function mountWord({ from, at, access }: Extract<Mount, { type: "bind" }>): string {
  const odd = [from, at].find((path) => /[,"\n]/.test(path));
  if (odd !== undefined)
    throw new Fault(
      "not-possible",
      `${odd} cannot be shown in a container: its name has a comma or a quote. Rename it.`,
    );
  return `type=bind,source=${from},target=${at}${access === "read" ? ",readonly" : ""}`;
}
