// What the outside is shown of the gateway's life: one word, and why it is not running. Pure.

import type { Lifecycle } from "../../core/lifecycle.ts";
import type { GatewayState, PlatformStatus } from "../../ports/gateway.ts";

export type Shown = { readonly state: GatewayState; readonly reason: string | null };

export type Seen = {
  readonly isReady: boolean;
  /** Why commits fail at present. */
  readonly trouble: string | null;
  readonly platforms: readonly PlatformStatus[];
};

export function shownOf(life: Lifecycle, seen: Seen): Shown {
  switch (life.phase) {
    case "booting":
      return { state: "starting", reason: "it is starting" };
    case "safe":
      return { state: "degraded", reason: life.reason };
    case "draining":
    case "parking":
    case "closing":
      return { state: "draining", reason: life.intent.reason };
    case "closed":
      return { state: "stopped", reason: life.intent.reason };
    case "serving":
      return seen.isReady ? serving(seen) : { state: "starting", reason: "its platforms are connecting" };
  }
}

function serving({ trouble, platforms }: Seen): Shown {
  if (trouble !== null) return { state: "degraded", reason: trouble };
  const down = platforms.filter((one) => !one.up);
  if (down.length < platforms.length || platforms.length === 0) return { state: "running", reason: null };
  const whys = down.map((one) => `${one.platform}: ${one.why}`).join("; ");
  return { state: "degraded", reason: `no platform is connected (${whys})` };
}
