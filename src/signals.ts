// What the operating system asks of a running gateway. The first signal is a stop; another one within a second belongs to
// it (a terminal and a supervisor often both send one), a later one ends the drain early. If the stop itself does not
// come to an end, the process does: everything that matters is stored by then.

import type { StopIntent } from "./core/lifecycle.ts";
import type { World } from "./ports/world.ts";

const sameRequestMs = 1_000;
/** What a stop may take beyond the drain. */
const marginMs = 5_000;

export type Signals = {
  /** The first signal, or null when none came. */
  readonly first: () => NodeJS.Signals | null;
  off(): void;
};

export function watchSignals(parts: {
  readonly world: Pick<World, "now" | "log">;
  readonly drainMs: number;
  readonly stop: (intent: StopIntent) => void;
  readonly overdue: () => void;
}): Signals {
  const { world, drainMs, stop, overdue } = parts;
  const names: readonly NodeJS.Signals[] = ["SIGTERM", "SIGINT", "SIGHUP"];
  let first: { readonly name: NodeJS.Signals; readonly at: number } | null = null;
  let deadline: NodeJS.Timeout | null = null;

  function asked(name: NodeJS.Signals): void {
    const at = world.now();
    if (first !== null && at - first.at < sameRequestMs) return;
    world.log("info", first === null ? "asked to stop" : "asked to stop again; running turns are parked now", {
      signal: name,
    });
    first ??= { name, at };
    deadline ??= setTimeout(overdue, drainMs + marginMs).unref();
    stop({ class: "unexpected", by: "signal", reason: `it was asked to stop by ${name}` });
  }

  for (const name of names) process.on(name, asked);
  return {
    first: () => first?.name ?? null,
    off() {
      for (const name of names) process.off(name, asked);
      if (deadline !== null) clearTimeout(deadline);
    },
  };
}
