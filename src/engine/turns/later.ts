// The runner of turns, whose code is loaded with the first turn or when there is time: most lives become ready before anybody
// says a word. From then on a turn is begun at once.

import type { Outlet } from "../outbox/pump.ts";
import type { Parts } from "../parts.ts";
import type { Wakeable } from "../timers.ts";
import type { Runner } from "./run.ts";

export function runnerLater(parts: Parts, outlet: Outlet, timers: Wakeable): Runner {
  let run: Runner | null = null;
  return async (running, journal) => {
    if (run !== null) return run(running, journal);
    const { runner } = await import("./run.ts");
    run ??= runner(parts, outlet, timers);
    return run(running, journal);
  };
}
