// The subprocesses of tools together with the jobs of a home: what the gateway ends when it stops. Jobs are ended by their
// folders, so those of an earlier life are among them. Nothing of jobs is loaded before it is needed.

import { existsSync } from "node:fs";
import type { Processes } from "../../ports/processes.ts";

export function withJobs(processes: Processes, folder: string): Processes {
  return {
    async killAll(which) {
      const others = processes.killAll(which);
      if (which !== "all" || !existsSync(folder)) return others;
      const [killed, ended] = await Promise.all([others, endUnlessBack(folder)]);
      return killed + ended;
    },
  };
}

/** systemd says whether the service comes back; it is asked only when there is something to spare. */
async function endUnlessBack(folder: string): Promise<number> {
  const { endJobs, runningIn } = await import("./end.ts");
  if ((await runningIn(folder)) > 0) {
    const { comesBack } = await import("./returning.ts");
    if (await comesBack()) return 0;
  }
  return endJobs(folder, "the gateway was stopped");
}
