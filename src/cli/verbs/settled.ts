// How platforms behind a network stand a moment after a gateway is ready: whoever starts it with a wrong token is told by
// that very command. Where there is no such platform, nothing is waited for.

import type { StatusReply } from "../../control/protocol.ts";
import { deniedTodo, ended } from "../../core/links/health.ts";
import type { PlatformStatus } from "../../ports/gateway.ts";
import type { Context } from "../context.ts";
import { oneLine } from "../print.ts";
import { rest, statusNow } from "./gateway.ts";
import type { Ready } from "./ready.ts";

export type Standing = Pick<PlatformStatus, "platform" | "account" | "state" | "why">;

/** Most servers answer much sooner; one that does not is no reason to wait. */
const patienceMs = 3_000;
const lookAgainMs = 50;

/** The same gateway when every platform has answered, or after a few seconds. */
export async function settled(context: Context, first: Ready): Promise<Ready> {
  let ready = first;
  const until = performance.now() + patienceMs;
  while (ready.platforms.some(({ state }) => state === "connecting") && performance.now() < until) {
    await rest(lookAgainMs);
    const status = await statusNow(context);
    if (status === null || status.boot !== ready.boot || status.safeMode) break;
    ready = { ...ready, state: status.state, reason: status.reason, platforms: standingIn(status) };
  }
  return ready;
}

/** In safe mode none of them is opened. */
export function standingIn({ platforms, safeMode }: StatusReply): readonly Standing[] {
  return platforms.flatMap(({ isFar, platform, account, state, why }) =>
    isFar && !safeMode ? [{ platform, account, state, why }] : [],
  );
}

export function standingText({ platform, state, why }: Standing): string {
  const reason = oneLine(why ?? "it did not say why");
  switch (state) {
    case "up":
      return `${platform}: connected`;
    case "connecting":
      return `${platform}: still connecting; \`everturn gateway status\` tells how it goes`;
    case "denied":
      return `${platform}: does not let us in: ${ended(reason)} ${deniedTodo(platform)}`;
    case "down":
      return `${platform}: not connected: ${reason}; it is tried again by itself`;
    case "troubled":
      return `${platform}: not connected: ${reason}; it goes on by itself when that is over`;
    case "closed":
      return `${platform}: not connected: ${reason}`;
  }
}
