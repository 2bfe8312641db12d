// What the outside is shown of the gateway's life: one word, and why it is not running. Pure.

import type { Instant } from "../../core/ids.ts";
import type { Lifecycle } from "../../core/lifecycle.ts";
import { linksTrouble } from "../../core/links/health.ts";
import type { GatewayState, PlatformStatus } from "../../ports/gateway.ts";

export type Shown = { readonly state: GatewayState; readonly reason: string | null };

export type Seen = {
  readonly isReady: boolean;
  /** Why commits fail at present. */
  readonly trouble: string | null;
  readonly platforms: readonly PlatformStatus[];
  readonly now: Instant;
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

function serving({ trouble, platforms, now }: Seen): Shown {
  const reason = trouble ?? linksTrouble(platforms, now);
  return { state: reason === null ? "running" : "degraded", reason };
}
