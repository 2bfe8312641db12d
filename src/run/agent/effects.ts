// What the engine must know of the built-in tools before they are loaded: their names, their effects and how long they
// may take. A turn that is taken up at the start may stand right before or inside of a call. A test holds it against the
// tools themselves.

import type { ToolEffect } from "../../core/journal.ts";

export type Known = { readonly effect: ToolEffect; readonly timeoutMs?: number };

export const builtIn: Readonly<Record<string, Known>> = {
  terminal: { effect: "checkable", timeoutMs: 3_660_000 },
  process: { effect: "keyed", timeoutMs: 660_000 },
  read_file: { effect: "pure" },
  write_file: { effect: "checkable" },
  edit_file: { effect: "checkable" },
  search_files: { effect: "pure" },
  fetch_url: { effect: "pure", timeoutMs: 40_000 },
  remember: { effect: "pure" },
  recall: { effect: "pure" },
  remind: { effect: "pure" },
  ask: { effect: "pure" },
  send_file: { effect: "pure" },
  restart_gateway: { effect: "checkable" },
};

/** Those of the offline agent. */
export const offline: Readonly<Record<string, Known>> = {
  look_at_clock: { effect: "pure" },
  stamp: { effect: "keyed" },
  write_note: { effect: "checkable" },
  ring_bell: { effect: "once" },
  post_letter: { effect: "once" },
  send_back: { effect: "pure" },
  remind: { effect: "pure" },
  restart_gateway: { effect: "checkable" },
};

export function offlineTool(name: string): Known | null {
  return Object.hasOwn(offline, name) ? (offline[name] ?? null) : null;
}

/** Of a server's tool nothing is believed before the server has been asked. */
const foreign: Known = { effect: "once" };

export function knownTool(name: string): Known | null {
  if (Object.hasOwn(builtIn, name)) return builtIn[name] ?? null;
  return name.includes("__") ? foreign : null;
}
