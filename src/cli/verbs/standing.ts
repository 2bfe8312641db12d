// How platforms behind a network stand, as whoever starts a gateway is told. Pure.

import type { StatusReply } from "../../control/protocol.ts";
import { deniedTodo, ended } from "../../core/links/health.ts";
import { oneLine } from "../print.ts";

export type Standing = Pick<StatusReply["platforms"][number], "platform" | "account" | "state" | "why">;

/** In safe mode none of them is opened. */
export function standingIn({ platforms, safeMode }: StatusReply): readonly Standing[] {
  return platforms.flatMap(({ isFar, platform, account, state, why }) =>
    isFar && !safeMode ? [{ platform, account, state, why }] : [],
  );
}

export function standingText({ platform, state, why }: Standing): string {
  const reason = oneLine(why ?? "it did not say why").replace(/\.$/, "");
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
