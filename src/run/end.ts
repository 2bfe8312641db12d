// The last steps of a life, after the gateway itself has closed: whoever waits to serve is let in or sent away, the next
// start finds what it should say, others find how it ended, and the marker that asked for it goes. Every step runs,
// whatever became of the one before; what failed is told together.

import { readFile } from "node:fs/promises";
import type { Paths } from "../config/paths.ts";
import { sentenceOf } from "../core/fault.ts";
import type { StopIntent, SupervisorKind } from "../core/lifecycle.ts";
import { replaceFile } from "../host/draft.ts";
import type { ProcessIdentity } from "../host/identity.ts";
import { judgeMarker, markerKinds, readMarkerNow, removeMarker } from "../host/markers.ts";
import type { World } from "../ports/world.ts";
import type { Handover } from "./handover.ts";
import { type Board, stateAfter } from "./state.ts";

export type EndParts = {
  readonly world: Pick<World, "now" | "log">;
  readonly paths: Paths;
  readonly self: ProcessIdentity;
  readonly boot: { readonly id: string };
  readonly board: Board;
  readonly handover: Handover;
  readonly supervisor: SupervisorKind | null;
  /** Which unit this process belongs to, as the system tells it. */
  readonly readCgroup?: () => Promise<string>;
};

/** Whether the supervisor was told to start the next life at once. */
export async function finalWrites(intent: StopIntent, parts: EndParts): Promise<"launched" | "not launched"> {
  const { world, paths, self, board, handover } = parts;
  const troubles: string[] = [];
  let launched: "launched" | "not launched" = "not launched";
  const step = async (what: string, work: () => unknown) => {
    try {
      await work();
    } catch (error) {
      troubles.push(`${what}: ${sentenceOf(error)}`);
    }
  };
  if (intent.class !== "restart") await step("dismissing the next gateway", () => handover.dismiss());
  await Promise.all([
    step("a note for the next start", () => (owesNotice(intent) ? writePending(paths, parts, intent) : undefined)),
    // Another gateway serves already, so this file is about that one.
    step("the state file", () => (isFenced(intent) ? undefined : sayLast(intent, board))),
    step("the marker that asked for it", () => removeOwnMarkers(paths, self, world.now())),
    step("the short way back under systemd", async () => {
      if (intent.class !== "restart" || parts.supervisor !== "systemd") return;
      await launchShortcut(parts);
      launched = "launched";
    }),
  ]);
  if (troubles.length > 0) world.log("warn", "the end was not quite as it should be", { troubles });
  return launched;
}

/** Systemd pauses between two starts; a unit of its own that only waits for our end does not. */
async function launchShortcut({ self, readCgroup }: EndParts): Promise<void> {
  const { launchRestartShortcut } = await import("../host/supervised.ts");
  const cgroup = await (readCgroup?.() ?? readFile("/proc/self/cgroup", "utf8"));
  const answer = await launchRestartShortcut({ self, cgroup });
  if (answer.type === "not-launched") throw new Error(answer.why);
}

function sayLast(intent: StopIntent, board: Board): Promise<void> {
  return board.last(stateAfter(intent), {
    exit_reason: intent.reason,
    restart_requested: intent.class === "restart",
    platforms: {},
  });
}

function isFenced(intent: StopIntent): boolean {
  return intent.class === "take-over" && intent.by === "fault";
}

/** Who asked in a chat is answered there; of any other restart the homes hear when it is over. */
export function owesNotice(intent: StopIntent): boolean {
  return intent.class === "restart" && intent.by !== "chat" && intent.by !== "tool";
}

/** `.restart_pending.json`: which restart the next start tells of. */
export type Pending = { readonly restart: string; readonly by: string; readonly reason: string; readonly at: string };

function writePending(paths: Paths, parts: EndParts, intent: StopIntent): Promise<void> {
  const at = new Date(parts.world.now()).toISOString();
  const pending: Pending = { restart: parts.boot.id, by: intent.by, reason: intent.reason, at };
  return replaceFile(paths.restartPending, `${JSON.stringify(pending)}\n`);
}

async function removeOwnMarkers(paths: Paths, self: ProcessIdentity, now: number): Promise<void> {
  for (const kind of markerKinds)
    if (judgeMarker(readMarkerNow(paths[kind]), self, now) === "self") await removeMarker(paths[kind]);
}
