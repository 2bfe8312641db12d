// Waiting until a gateway is ready, or until it is certain that none will be.

import type { Paths } from "../../config/paths.ts";
import { Fault } from "../../core/fault.ts";
import type { StatusReply } from "../../control/protocol.ts";
import { readStateFile } from "../../host/identity.ts";
import { isServed, runningGateway } from "../../services/announce.ts";
import type { Service } from "../../services/kinds.ts";
import { type Here, tryCommand } from "../../services/verbs.ts";
import type { Context } from "../context.ts";
import { type Scene, rest, statusNow } from "./gateway.ts";
import { type Standing, standingIn, standingText } from "./standing.ts";

/** A large store may have to be brought up to date; after this the answer is that it still starts. */
const patienceMs = 120_000;
const lookAgainMs = 25;

export type Ready = {
  readonly pid: number;
  readonly link: string;
  readonly boot: string;
  readonly state: string;
  readonly reason: string | null;
  /** Those behind a network. */
  readonly platforms: readonly Standing[];
};

/** Tells why there will be no gateway, as soon as that is certain; null as long as it is not. */
export type Hopeless = { why(): string | null | Promise<string | null>; readonly everyMs: number };

/** `not` is the boot that is on its way out. */
export async function untilReady(context: Context, signs: readonly Hopeless[], not?: string): Promise<Ready> {
  const begun = performance.now();
  const asked = new Map<Hopeless, number>();
  for (const until = begun + patienceMs; performance.now() < until; await rest(lookAgainMs)) {
    const status = await statusNow(context);
    if (status !== null && status.boot !== not && isUp(status)) return readyOf(status);
    for (const sign of signs) {
      if (performance.now() - (asked.get(sign) ?? begun) < sign.everyMs) continue;
      asked.set(sign, performance.now());
      const why = await sign.why();
      if (why !== null) throw new Fault("not-possible", `The gateway did not start.\n${why}`);
    }
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

function readyOf(status: StatusReply & { readonly link: string }): Ready {
  const { pid, link, boot, state, reason, safeMode } = status;
  return { pid, link, boot, state: safeMode ? "in safe mode" : state, reason, platforms: standingIn(status) };
}

/** Most servers answer much sooner; one that does not is no reason to wait. */
const answerMs = 3_000;

/**
 * The same gateway when every platform behind a network has answered, or after a few seconds, so that a wrong token is told
 * by the command that starts it. Where there is no such platform, nothing is waited for.
 */
export async function settled(context: Context, first: Ready): Promise<Ready> {
  let ready = first;
  const until = performance.now() + answerMs;
  while (ready.platforms.some(({ state }) => state === "connecting") && performance.now() < until) {
    await rest(lookAgainMs);
    const status = await statusNow(context);
    if (status === null || status.boot !== ready.boot || status.safeMode) break;
    ready = { ...ready, state: status.state, reason: status.reason, platforms: standingIn(status) };
  }
  return ready;
}

export function readyText({ pid, link, state, reason, platforms }: Ready): string {
  const well = state === "running" ? "" : `\nIt is ${state}${reason === null ? "" : `: ${reason}`}.`;
  return [
    `pid ${pid}\nWeb chat: ${link} (\`everturn link\` prints a link that lets a browser in)${well}`,
    ...platforms.map(standingText),
  ].join("\n");
}

/** Between two looks at a supervisor, which is a program to start each time. */
const askAgainMs = 1_000;

/** What a gateway that could not start has left in the file since then; an earlier one counts for nothing. */
async function failureIn(paths: Paths, since: number): Promise<string | null> {
  const state = await readStateFile(paths.state);
  if (state?.gateway_state !== "startup_failed" || !(Date.parse(state.updated_at ?? "") >= since)) return null;
  return state.exit_reason ?? "It did not say why.";
}

/** Where one served already: the next one could not start, or there has been nobody for a while. */
export function noneFollows({ paths, inCharge, all }: Scene): readonly Hopeless[] {
  const since = Date.now();
  let goneAt: number | null = null;
  const failed: Hopeless = { everyMs: fileAgainMs, why: () => failureIn(paths, since) };
  const gone: Hopeless = {
    everyMs: fileAgainMs,
    async why() {
      const isThere = (await runningGateway(paths)) !== null || isServed(paths.lock);
      goneAt = isThere ? null : (goneAt ?? performance.now());
      if (goneAt === null || performance.now() - goneAt < goneMs) return null;
      const reason = (await readStateFile(paths.state))?.exit_reason ?? "nobody knows why";
      return `Nobody serves ${paths.home} any more (the last one ended because ${reason}). \`everturn logs\` and \`everturn why\` tell more.`;
    },
  };
  // Between two lives a supervisor may well say that it is down; it is believed only when nothing comes for long.
  return [failed, inCharge === null ? gone : { ...downUnder(inCharge, all, paths), everyMs: 10_000 }];
}

/** Between two looks at files. */
const fileAgainMs = 200;
/** Much longer than any hand-over. */
const goneMs = 3_000;

/** A supervisor that has given up, or leaves it down because a new start would not help, is not waited for. */
export function downUnder(service: Service, all: Here, paths: Paths): Hopeless {
  const since = Date.now();
  return {
    everyMs: askAgainMs,
    async why() {
      const tried = await tryCommand(service.status, all);
      const state = tried.code === "missing" ? "unknown" : service.stateIn(tried);
      if (state === "running" || state === "unknown") return null;
      const title = `${service.title[0]?.toUpperCase()}${service.title.slice(1)}`;
      const failure = await failureIn(paths, since);
      return `${title} is ${state}. ${failure === null ? "" : `${failure}\n`}\`everturn logs\` and \`everturn doctor\` tell more.`;
    },
  };
}
