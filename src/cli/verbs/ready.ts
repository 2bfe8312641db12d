// Waiting until a gateway is ready, or until it is certain that none will be.

import { Fault } from "../../core/fault.ts";
import type { StatusReply } from "../../control/protocol.ts";
import type { Service } from "../../services/kinds.ts";
import { type Here, tryCommand } from "../../services/verbs.ts";
import type { Context } from "../context.ts";
import { rest, statusNow } from "./gateway.ts";

/** A large store may have to be brought up to date; after this the answer is that it still starts. */
const patienceMs = 120_000;
const lookAgainMs = 25;

export type Ready = {
  readonly pid: number;
  readonly link: string;
  readonly boot: string;
  readonly state: string;
  readonly reason: string | null;
};

/** Tells why there will be no gateway, as soon as that is certain; null as long as it is not. */
export type Hopeless = { why(): string | null | Promise<string | null>; readonly everyMs: number };

/** `not` is the boot that is on its way out. */
export async function untilReady(context: Context, hopeless: Hopeless | null, not?: string): Promise<Ready> {
  let askedAt = performance.now();
  for (const until = askedAt + patienceMs; performance.now() < until; await rest(lookAgainMs)) {
    const status = await statusNow(context);
    if (status !== null && status.boot !== not && isUp(status)) return readyOf(status);
    if (hopeless === null || performance.now() - askedAt < hopeless.everyMs) continue;
    askedAt = performance.now();
    const why = await hopeless.why();
    if (why !== null) throw new Fault("not-possible", `The gateway did not start.\n${why}`);
  }
  throw new Fault(
    "not-possible",
    `The gateway is not ready after ${patienceMs / 1000} s. It may still be starting: \`everturn gateway status\` and \`everturn logs\` tell more.`,
  );
}

/** In safe mode as well: it does what it can until somebody has looked at it. */
function isUp({ state, safeMode }: StatusReply): boolean {
  return state === "running" || state === "degraded" || safeMode;
}

function readyOf({ pid, link, boot, state, reason, safeMode }: StatusReply & { readonly link: string }): Ready {
  return { pid, link, boot, state: safeMode ? "in safe mode" : state, reason };
}

export function readyText({ pid, link, state, reason }: Ready): string {
  const well = state === "running" ? "" : `\nIt is ${state}${reason === null ? "" : `: ${reason}`}.`;
  return `pid ${pid}\nWeb chat: ${link}${well}`;
}

/** Between two looks at a supervisor, which is a program to start each time. */
const askAgainMs = 1_000;

/** A supervisor that has given up, or leaves it down because a new start would not help, is not waited for. */
export function downUnder(service: Service, all: Here): Hopeless {
  return {
    everyMs: askAgainMs,
    async why() {
      const tried = await tryCommand(service.status, all);
      const state = tried.code === "missing" ? "unknown" : service.stateIn(tried);
      if (state === "running" || state === "unknown") return null;
      const title = `${service.title[0]?.toUpperCase()}${service.title.slice(1)}`;
      return `${title} is ${state}. \`everturn logs\` and \`everturn doctor\` tell more.`;
    },
  };
}
