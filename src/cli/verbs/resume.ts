// `everturn gateway resume`: leaves safe mode, when whoever looked at it thinks that another try is worth it.

import { type Context, reachGateway, show } from "../context.ts";
import { askStatus } from "./gateway.ts";

export async function resume(context: Context): Promise<number> {
  const { safeMode } = await askStatus(context);
  if (safeMode) await reachGateway(context).post("/api/resume");
  return show(context, { resumed: safeMode }, ({ resumed }) =>
    resumed
      ? "The gateway leaves safe mode and takes its work up. `everturn gateway status` shows how it goes."
      : "The gateway is not in safe mode; there was nothing to leave.",
  );
}
