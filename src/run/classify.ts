// What kind of stop a request is: a pure decision over the signal and the markers that name this process. It is made once,
// at the first request; nothing that comes later changes it.

import type { StopIntent } from "../core/lifecycle.ts";

export type Asked = {
  /** Null when no signal came: a marker alone asks. */
  readonly signal: NodeJS.Signals | null;
  /** The marker that names this process, if there is one. */
  readonly marker: "plannedStop" | "takeOver" | null;
};

/** In the order in which they are believed: whoever announced the end by name, then what the signal itself says. */
export function classify({ signal, marker }: Asked): StopIntent {
  if (marker === "takeOver")
    return { class: "take-over", by: "marker", reason: "another gateway goes on with its work" };
  if (marker === "plannedStop") return { class: "planned", by: "marker", reason: "its owner asked it to stop" };
  switch (signal) {
    case "SIGINT":
    // The key of a Windows console that asks for the same.
    case "SIGBREAK":
      return { class: "planned", by: "signal", signal, reason: `it was asked to stop by ${signal}` };
    case "SIGUSR1":
      return { class: "restart", by: "signal", signal, reason: "it was asked to restart by SIGUSR1" };
    case null:
      // The marker that asked is gone again: who wrote it wanted an end, and nobody sent a signal.
      return { class: "planned", by: "marker", reason: "its owner asked it to stop" };
    default:
      return { class: "unexpected", by: "signal", signal, reason: `it was asked to stop by ${signal}` };
  }
}

/** Which signals ask for something on this system. On Windows the others do not exist or cannot be heard. */
export function signalsOf(platform: NodeJS.Platform): readonly NodeJS.Signals[] {
  return platform === "win32" ? ["SIGINT", "SIGBREAK", "SIGHUP"] : ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1"];
}
