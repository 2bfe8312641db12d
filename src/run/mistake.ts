// The last line of defence of a living gateway.

import { sentenceOf } from "../core/fault.ts";
import { exitCodes } from "../core/lifecycle.ts";
import type { World } from "../ports/world.ts";

/** What nobody caught is a mistake of ours: it is told and ends the process, and the next start takes the work up. */
export function exitOnMistake(world: World, flush: () => Promise<void>): void {
  for (const name of ["uncaughtException", "unhandledRejection"]) {
    process.removeAllListeners(name);
    process.on(name, (error: unknown) => {
      const stack = error instanceof Error ? error.stack : undefined;
      world.log("error", "a mistake of ours ends the gateway", { why: sentenceOf(error), stack });
      const leave = () => process.exit(exitCodes.bug);
      setTimeout(leave, 500);
      flush().then(leave, leave);
    });
  }
}
