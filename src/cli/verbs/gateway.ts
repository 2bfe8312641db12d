// What start, stop and restart have in common: the gateway of the home and who is in charge of it, what is asked of it,
// and following it while it comes or goes.

import { isAbsolute, resolve } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { environment, loadConfig, systemInput } from "../../config/load.ts";
import type { Paths } from "../../config/paths.ts";
import type { ProbeReply, Probed, StatusReply } from "../../control/protocol.ts";
import { Fault } from "../../core/fault.ts";
import type { ProcessIdentity } from "../../host/identity.ts";
import { runningGateway } from "../../services/announce.ts";
import type { Service } from "../../services/kinds.ts";
import { type Here, findService, here, isAttended, tryCommand } from "../../services/verbs.ts";
import { type Context, pathsOf, reachGateway, textFlag } from "../context.ts";
import { type Display, progressOf } from "./progress.ts";

export type Scene = {
  readonly paths: Paths;
  readonly all: Here;
  /** The process that serves the home, or null. */
  readonly target: ProcessIdentity | null;
  /** The installed service, or null. */
  readonly service: Service | null;
  /** The same when it is the one that runs the target: a gateway started by hand is none of its business. */
  readonly inCharge: Service | null;
  readonly drainSeconds: number;
};

export async function sceneOf(context: Context): Promise<Scene> {
  const paths = pathsOf(context);
  const all = here(paths.home);
  const service = await attended(context, findService(all), all);
  const target = await runningGateway(paths);
  const isIdle = service !== null && target !== null && !(await isRunning(service, all));
  const drainSeconds = (target === null ? null : await statusNow(context))?.drainSeconds ?? (await drainOf(context));
  return { paths, all, target, service, inCharge: isIdle ? null : service, drainSeconds };
}

/** A service whose supervisor does not run here is in charge of nothing. */
async function attended({ output }: Context, service: Service | null, all: Here): Promise<Service | null> {
  if (service === null || (await isAttended(service, all))) return service;
  output.err(`There is ${service.title}, but its supervisor does not run; this goes on without it.`);
  return null;
}

async function isRunning(service: Service, all: Here): Promise<boolean> {
  const tried = await tryCommand(service.status, all);
  if (tried.code === "missing") return false;
  const state = service.stateIn(tried);
  return state === "running" || state === "unknown";
}

/** Of the configuration as it is now, when the gateway itself does not say; a wrong one is no reason not to stop it. */
async function drainOf(context: Context): Promise<number> {
  const loaded = await loadConfig(systemInput(textFlag(context, "home")));
  return loaded.type === "wrong" ? 0 : loaded.config.gateway.drainSeconds;
}

/** Whether this command was started by a tool of the gateway that it is about. */
export function isInside(home: string): boolean {
  const inside = environment()["EVERTURN_INSIDE"] ?? "";
  return inside !== "" && (!isAbsolute(inside) || resolve(inside) === home);
}

/** `link` leads to the page; it lets no browser in. */
export type Answered = StatusReply & { readonly url: string; readonly link: string };

/** Much longer than any answer takes; a gateway that hangs must not make everybody else hang. */
const answerMs = 3_000;

/** What the gateway says of itself; a Fault when none runs or it does not answer. */
export async function askStatus(context: Context): Promise<Answered> {
  const { url, get } = reachGateway(context);
  const over = new AbortController();
  const late = rest(answerMs, over.signal).then(() => null);
  try {
    const status = await Promise.race([get<StatusReply>("/api/status"), late]);
    if (status !== null) return { ...status, url, link: url };
  } finally {
    over.abort();
  }
  throw new Fault(
    "not-possible",
    `The gateway at ${url} does not answer. \`everturn logs\` may tell why; \`everturn gateway stop\` ends it, by force if it must.`,
  );
}

/** Null when it does not answer, or is no gateway any more. */
export async function statusNow(context: Context): Promise<Answered | null> {
  try {
    return await askStatus(context);
  } catch (error) {
    if (error instanceof Fault) return null;
    throw error;
  }
}

/** What each platform says of itself; nothing when the gateway does not ask them. */
export async function probesNow(context: Context): Promise<readonly Probed[]> {
  try {
    return (await reachGateway(context).get<ProbeReply>("/api/probe")).platforms;
  } catch (error) {
    if (error instanceof Fault) return [];
    throw error;
  }
}

const lookAgainMs = 200;

/** Shows what a stopping gateway still does, until the signal aborts. */
export async function follow(context: Context, view: Display, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const status = await statusNow(context);
    if (signal.aborted) return;
    if (status?.state === "draining") view.show(progressOf(status, context.now()));
    await rest(lookAgainMs, signal);
  }
}

/** Resolves after a while, or at once when the signal aborts. */
export async function rest(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await pause(ms, undefined, signal === undefined ? {} : { signal });
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "AbortError") throw error;
  }
}
