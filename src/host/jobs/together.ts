// The subprocesses of tools together with the jobs of a home: what the gateway ends when it stops. Jobs are ended by their
// folders, so those of an earlier life are among them. Nothing of jobs is loaded before it is needed.

import { existsSync } from "node:fs";
import type { Processes } from "../../ports/processes.ts";

export function withJobs(processes: Processes, folder: string): Processes {
  return {
    async killAll(which) {
      const others = processes.killAll(which);
      if (!existsSync(folder)) return others;
      const [killed, ended] = await Promise.all([others, endOf(folder, which === "all-but-jobs")]);
      return killed + ended;
    },
  };
}

/** systemd is asked whether the service comes back only when there is something to spare. */
async function endOf(folder: string, isSpared: boolean): Promise<number> {
  const { endJobs, runningIn } = await import("./end.ts");
  if ((await runningIn(folder)) > 0) {
    const { comesBack, endDoomed } = await import("./returning.ts");
    if (isSpared || (await comesBack())) return endDoomed(folder);
  }
  return isSpared ? 0 : endJobs(folder, "the gateway was stopped");
}
