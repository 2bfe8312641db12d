// What the supervisor that started this process is told of its life, in words that it shows to people: ready, how it is,
// stopping. Where nobody wants to know, nothing is loaded.

import type { Environment } from "../config/load.ts";
import { sentenceOf } from "../core/fault.ts";
import type { StopIntent } from "../core/lifecycle.ts";
import type { Notifier } from "../host/notify.ts";
import type { GatewayStatus } from "../ports/gateway.ts";
import type { World } from "../ports/world.ts";

export type Reporter = {
  /** Also when it is degraded or in safe mode: whoever waits for it waits no longer. */
  ready(status: GatewayStatus): void;
  changed(status: GatewayStatus): void;
  stopping(intent: StopIntent): void;
  close(): void;
};

/** One line for people. */
export function statusText({ state, reason, safeMode, running, platforms }: GatewayStatus): string {
  if (safeMode) return `safe mode: ${reason ?? "unknown"}`;
  if (reason !== null) return `${state}: ${reason}`;
  const up = platforms.filter((one) => one.up).map((one) => one.platform);
  return `${state}; ${up.length === 0 ? "no platform" : up.join(", ")} connected, ${running.length} turns running`;
}

export function openReporter({ env, world }: { readonly env: Environment; readonly world: World }): Reporter | null {
  if (!env["NOTIFY_SOCKET"] && !env["EVERTURN_READY_FD"]) return null;
  let notifier: Notifier | null = null;
  let isClosed = false;
  let isReady = false;
  // Loaded beside everything else; by the time there is something to say it is there.
  const loading = import("../host/notify.ts").then(({ openNotifier }) => {
    if (!isClosed) notifier = openNotifier({ env, log: world.log });
  });
  const tell = (words: (to: Notifier) => void) => {
    const say = () => {
      if (notifier !== null) words(notifier);
    };
    loading.then(say, (error: unknown) =>
      world.log("warn", "the supervisor cannot be told how the gateway is", { why: sentenceOf(error) }),
    );
  };
  return {
    ready(status) {
      isReady = true;
      tell((to) => to.ready(statusText(status)));
    },
    changed(status) {
      if (isReady) tell((to) => to.status(statusText(status)));
    },
    stopping: (intent) => tell((to) => to.stopping(`stopping: ${intent.reason}`)),
    close() {
      isClosed = true;
      notifier?.close();
    },
  };
}
