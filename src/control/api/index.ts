// Every route of the control protocol, as data: method, path, who may call it, how much body it takes, and what it does.
// Who calls and what the body holds is checked before a route runs.

import { Fault } from "../../core/fault.ts";
import { BadRequest, refusalOf, refuse } from "../faults.ts";
import { agentRoutes } from "./agent.ts";
import { deviceRoutes } from "./devices.ts";
import { orders } from "./orders.ts";
import { pairingRoutes } from "./pairing.ts";
import { reads } from "./reads.ts";
import { serverRoutes } from "./servers.ts";
import type { ApiCall, ApiParts, ApiRoute } from "./route.ts";

export const apiRoutes: readonly ApiRoute[] = [
  ...reads,
  ...orders,
  ...agentRoutes,
  ...pairingRoutes,
  ...deviceRoutes,
  ...serverRoutes,
];

export async function runRoute(route: ApiRoute, call: ApiCall, parts: ApiParts): Promise<Response> {
  try {
    return await route.handle(call, parts);
  } catch (error) {
    if (error instanceof Fault) return refuse(refusalOf(error, parts.redact));
    if (error instanceof BadRequest) return refuse({ status: 400, code: "bad-request", message: error.message });
    throw error;
  }
}
