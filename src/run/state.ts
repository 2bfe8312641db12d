// Keeps gateway_state.json up to date: what others look at to find the gateway and to know whether it should run. Writes
// follow one another, the newest wins, and none of them holds anything up but the last, which is waited for.
// That it cannot be written is no reason not to run.

import { sentenceOf } from "../core/fault.ts";
import type { StopIntent } from "../core/lifecycle.ts";
import {
  type ProcessIdentity,
  type StateFile,
  readStateFile,
  writeStateFile,
  writeStateFileNow,
} from "../host/identity.ts";
import type { GatewayStatus } from "../ports/gateway.ts";
import type { World } from "../ports/world.ts";

type Told = Omit<StateFile, "desired_state" | "updated_at" | keyof Who>;
/** What its owner wants stays as it is in the file, unless this says otherwise. */
type Shown = Told & { readonly desired_state?: "stopped" };
type Who = Pick<StateFile, "pid" | "start_time" | "version" | "started_at">;

/** What it says while the gateway lives. */
export function stateWhile(status: GatewayStatus, url: string | null, stop: StopIntent | null): Shown {
  const { state, platforms, running } = status;
  return {
    // Whoever asked has written it too, but perhaps at the very moment we wrote: from now on it is ours to say.
    ...(stop?.class === "planned" ? { desired_state: "stopped" } : {}),
    gateway_state: state,
    active_agents: running.length,
    restart_requested: stop?.class === "restart",
    exit_reason: stop?.reason ?? null,
    platforms: Object.fromEntries(
      platforms.map(({ platform, account, state: link, why }) => [
        `${platform}/${account}`,
        { state: link === "up" ? "connected" : link === "denied" ? "denied" : "connecting", why },
      ]),
    ),
    url,
  };
}

type Last = Pick<StateFile, "gateway_state" | "desired_state">;

/**
 * What it says when the gateway is gone. A signal that nobody announced leaves `running`: whatever sent it did not say
 * that the gateway should stay down, and a container that comes back must start it again. What its owner wants is
 * decided by a planned stop alone; whatever the owner has said in the file otherwise (`wanted`) stays.
 */
export function stateAfter(stop: StopIntent, wanted: StateFile["desired_state"] = "running"): Last {
  switch (stop.class) {
    case "planned":
      return { gateway_state: "stopped", desired_state: "stopped" };
    case "restart":
    case "take-over":
      return { gateway_state: "stopped", desired_state: wanted };
    case "unexpected":
    case "fault":
      return { gateway_state: "running", desired_state: wanted };
  }
}

const nothing: Told = {
  gateway_state: "starting",
  active_agents: 0,
  restart_requested: false,
  exit_reason: null,
  platforms: {},
  url: null,
};

export type Board = {
  /** Returns at once. */
  show(told: Shown): void;
  /** What was shown is in the file, or could not be written. */
  settled(): Promise<void>;
  /** The last word, whatever was shown before; resolves when it is written. */
  last(state: Pick<Last, "gateway_state"> & { readonly desired_state: Desired }, told: Partial<Told>): Promise<void>;
};

type Desired = StateFile["desired_state"] | "as it is";

/** Says `starting` at once, and that it should run. */
export function openBoard(
  file: string,
  who: ProcessIdentity & { readonly version: string; readonly startedAt: number },
  world: Pick<World, "now" | "log">,
): Board {
  const own: Who = {
    pid: who.pid,
    start_time: who.startTime,
    version: who.version,
    started_at: new Date(who.startedAt).toISOString(),
  };
  let told = nothing;
  let wanted: Desired | null = null;
  let writing: Promise<void> | null = null;
  let isOver = false;

  function stateFile(desired_state: StateFile["desired_state"]): StateFile {
    const { gateway_state, ...rest } = told;
    return { gateway_state, desired_state, ...own, ...rest, updated_at: new Date(world.now()).toISOString() };
  }

  function trouble(error: unknown): void {
    world.log("warn", "other commands cannot find this gateway", { why: sentenceOf(error) });
  }

  async function write(desired: Desired): Promise<void> {
    try {
      const found = desired === "as it is" ? ((await readStateFile(file))?.desired_state ?? "running") : desired;
      await writeStateFile(file, stateFile(found));
    } catch (error) {
      trouble(error);
    }
  }

  async function drain(): Promise<void> {
    for (let next = wanted; next !== null; next = wanted) {
      wanted = null;
      await write(next);
    }
    writing = null;
  }

  function put(next: Told, desired: Desired): Promise<void> {
    told = next;
    // What was asked for and not written yet still holds.
    wanted = desired === "as it is" ? (wanted ?? desired) : desired;
    return (writing ??= drain());
  }

  try {
    writeStateFileNow(file, stateFile("running"));
  } catch (error) {
    trouble(error);
  }
  return {
    settled: () => writing ?? Promise.resolve(),
    show({ desired_state: desired, ...next }) {
      // How it ended is the last word, and what that is depends on who wanted it.
      if (next.gateway_state === "stopped") return;
      if (!isOver && JSON.stringify(next) !== JSON.stringify(told)) void put(next, desired ?? "as it is");
    },
    last({ gateway_state, desired_state }, more) {
      isOver = true;
      return put({ ...told, active_agents: 0, ...more, url: null, gateway_state }, desired_state);
    },
  };
}
