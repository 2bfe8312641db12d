// The last steps of a life, after the gateway itself has closed: whoever waits to serve is let in or sent away, the next
// start finds what it should say, others find how it ended, and the marker that asked for it goes. Every step runs,
// whatever became of the one before; what failed is told together.

import { readFile, rm } from "node:fs/promises";
import type { Paths } from "../config/paths.ts";
import { sentenceOf } from "../core/fault.ts";
import { type StopIntent, type SupervisorKind, exitCodeOf } from "../core/lifecycle.ts";
import { isAskedInside } from "../core/notice.ts";
import { replaceFile } from "../host/files/draft.ts";
import { type ProcessIdentity, readStateFile } from "../host/identity.ts";
import { judgeMarker, markerKinds, readMarkerNow, removeMarker } from "../host/markers.ts";
import type { World } from "../ports/world.ts";
import type { Revoked } from "./asks.ts";
import type { Handover } from "./next/handover.ts";
import { type Board, stateAfter } from "./state.ts";

export type EndParts = {
  readonly world: Pick<World, "now" | "log">;
  readonly paths: Paths;
  readonly self: ProcessIdentity;
  readonly boot: { readonly id: string };
  readonly board: Board;
  readonly handover: Handover;
  readonly supervisor: SupervisorKind | null;
  /** What came since and takes the return of a restart back. */
  readonly revoked: () => Revoked | null;
  /** Which unit this process belongs to, as the system tells it. */
  readonly readCgroup?: () => Promise<string>;
};

/**
 * What becomes of the return that a restart promises: arranged here, left to whoever watches, or taken back by somebody
 * who asked for an end since. Every other stop is `open`: whether anybody starts it again is not ours to say.
 */
export type Return = "arranged" | "open" | Revoked;

export async function finalWrites(intent: StopIntent, parts: EndParts): Promise<Return> {
  const { world, paths, self, handover } = parts;
  const troubles: string[] = [];
  let back: Return = "open";
  const step = async (what: string, work: () => unknown) => {
    try {
      await work();
    } catch (error) {
      troubles.push(`${what}: ${sentenceOf(error)}`);
    }
  };
  const isRestart = intent.class === "restart";
  const dismiss = () => step("dismissing the next gateway", () => handover.dismiss());
  const revoked = isRestart ? parts.revoked() : null;
  const comesBack = isRestart && revoked === null;
  if (!comesBack) await dismiss();
  const owes = comesBack && owesNotice(intent);
  await Promise.all([
    step("a note for the next start", () => (owes ? writePending(paths, parts, intent) : undefined)),
    // Another gateway serves already, so this file is about that one.
    step("the state file", () => (isFenced(intent) ? undefined : sayLast(intent, parts, revoked))),
    step(parts.supervisor === "systemd" ? "the short way back under systemd" : "the next gateway", async () => {
      if (comesBack && (await arrangeReturn(parts))) back = "arranged";
    }),
  ]);
  // Arranging it took its time, and this is the last moment to hear of it.
  const late = comesBack ? parts.revoked() : null;
  if (late !== null) await step("taking the return back", () => takeBack(intent, parts, late, back));
  if (late !== null) await dismiss();
  await step("the marker that asked for it", () => removeOwnMarkers(paths, self, world.now()));
  if (troubles.length > 0) world.log("warn", "the end was not quite as it should be", { troubles });
  return revoked ?? late ?? back;
}

/** What the process tells whoever started it: the class decides, unless a return was taken back. */
export function codeOf(
  ending: { readonly intent: StopIntent },
  supervisor: SupervisorKind | null,
  back: Return,
): number {
  const isWanted = ending.intent.class === "restart" && (back === "planned" || back === "take-over");
  return exitCodeOf(isWanted ? { intent: { class: back } } : ending, supervisor, back === "arranged");
}

/** False where the supervisor is told by the exit code alone; rejects with why there is no other way either. */
async function arrangeReturn(parts: EndParts): Promise<boolean> {
  switch (parts.supervisor) {
    case null:
      // Whoever was prepared before the drain may have died in it.
      await parts.handover.prepare();
      return true;
    case "systemd":
      await launchShortcut(parts);
      return true;
    case "launchd":
    case "s6":
    case "task":
      return false;
  }
}

/** A start that systemd was asked for comes all the same; the file says so, and who stops it waits for that. */
async function takeBack(intent: StopIntent, parts: EndParts, late: Revoked, back: Return): Promise<void> {
  const comes = parts.supervisor === "systemd" && back === "arranged";
  await sayLast(intent, parts, late, comes);
  await rm(parts.paths.restartPending, { force: true });
}

/** Systemd pauses between two starts; a unit of its own that only waits for our end does not. */
async function launchShortcut({ self, readCgroup }: EndParts): Promise<void> {
  const { launchRestartShortcut } = await import("../host/supervised.ts");
  const cgroup = await (readCgroup?.() ?? readFile("/proc/self/cgroup", "utf8"));
  const answer = await launchRestartShortcut({ self, cgroup });
  if (answer.type === "not-launched") throw new Error(answer.why);
}

async function sayLast(
  intent: StopIntent,
  { board, paths }: EndParts,
  revoked: Revoked | null,
  comes = intent.class === "restart" && revoked === null,
): Promise<void> {
  const found = (await readStateFile(paths.state))?.desired_state ?? "running";
  const last = stateAfter(intent, revoked === "planned" ? "stopped" : found);
  await board.last(last, { exit_reason: intent.reason, restart_requested: comes, platforms: {} });
}

function isFenced(intent: StopIntent): boolean {
  return intent.class === "take-over" && intent.by === "fault";
}

/** Who asked in a chat is answered there; of any other restart the homes hear when it is over. */
function owesNotice(intent: StopIntent): boolean {
  return intent.class === "restart" && !isAskedInside(intent);
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

/** The last lines of the timeline of a stop: what comes after the gateway can only be told to the log. */
export function timed(world: World) {
  let askedAt: number | null = null;
  return {
    asked: (at: number) => void (askedAt = at),
    async close(work: () => Promise<void>): Promise<void> {
      const from = performance.now();
      await work();
      if (askedAt === null) return;
      world.log("info", "stop: database close", { ms: Math.round(performance.now() - from) });
      world.log("info", "stop: total", { ms: world.now() - askedAt });
    },
  };
}
