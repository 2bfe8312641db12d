// What becomes of the jobs of a home when its gateway goes. A stop ends them; where somebody goes on with the work they
// are spared, but for those that systemd would end with our service anyway.

import type { Processes } from "../../ports/processes.ts";
import { endJobs, runningIn } from "./end.ts";
import { comesBack, endDoomed } from "./returning.ts";

/** How many were ended. systemd is asked whether the service comes back only when there is something to spare. */
export async function stopJobs(folder: string, which: Parameters<Processes["killAll"]>[0]): Promise<number> {
  const isSpared = which === "all-but-jobs";
  if ((await runningIn(folder)) > 0 && (isSpared || (await comesBack()))) return endDoomed(folder);
  return isSpared ? 0 : endJobs(folder, "the gateway was stopped");
}
