// Ends the gateway of a home the way its supervisor wants it: systemd, launchd and s6 are asked to stop it and do so at
// once, a scheduled task is told afterwards, and without any of them the process itself is asked. The marker comes first
// everywhere, and so does the patience before force.

import type { Run } from "../host/command.ts";
import { type EndRequest, type Ended, type Lookout, endGateway, meansFor, patienceFor } from "../host/ending.ts";
import type { ProcessIdentity } from "../host/identity.ts";
import type { Service } from "./kinds.ts";
import { stopTask } from "./windows.ts";

export type Ending = Pick<EndRequest, "writeMarker" | "isStill" | "onTick" | "onTrouble"> & {
  /** Null when no gateway runs; a supervisor is told all the same, because it may be about to start one. */
  readonly target: ProcessIdentity | null;
  readonly drainSeconds: number;
};

export type Tools = {
  readonly system: NodeJS.Platform;
  /** Carries the commands of a service out; rejects when they fail. */
  carryOut(commands: Service["stop"]): Promise<void>;
  readonly run?: Run;
  readonly lookout?: Lookout;
};

export async function endServed(service: Service | null, ending: Ending, tools: Tools): Promise<Ended> {
  const { target, drainSeconds } = ending;
  if (service?.kind === "windows") return stopTask({ ...ending, label: service.label }, tools.run, tools.lookout);
  if (target === null) {
    if (service !== null) await tools.carryOut(service.stop);
    return { type: "absent" };
  }
  const means = meansFor(tools.system, target, tools.run);
  const ask = service === null ? means.ask : () => tools.carryOut(service.stop);
  const request = { ...ending, target, ask, force: means.force, patienceMs: patienceFor(drainSeconds) };
  return endGateway(request, tools.lookout);
}
