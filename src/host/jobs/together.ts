// The subprocesses of tools together with the jobs of a home: what the gateway ends when it stops. Jobs are ended by their
// folders, so those of an earlier life are among them. Nothing of jobs is loaded before it is needed.

import { existsSync } from "node:fs";
import type { Processes } from "../../ports/processes.ts";

export function withJobs(processes: Processes, folder: string): Processes {
  return {
    async killAll(which) {
      const others = processes.killAll(which);
      if (!existsSync(folder)) return others;
      const { stopJobs } = await import("./stopping.ts");
      const [killed, ended] = await Promise.all([others, stopJobs(folder, which)]);
      return killed + ended;
    },
  };
}
