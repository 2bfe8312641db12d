// What all tools that touch files know: where they work, what is not theirs, and how a path is vetted before it is used.

import { createHash } from "node:crypto";
import type { Verdict } from "../../core/approval.ts";
import { Fault } from "../../core/fault.ts";
import type { ToolEffect } from "../../core/journal.ts";
import type { VetContext } from "../../ports/tool.ts";
import { type Policy, verdictOf } from "../policy/index.ts";
import type { Untouchable } from "./content.ts";
import { type Place, placeOf } from "./place.ts";
import { type PathUse, type Places, judgePath } from "./reach.ts";

export type Room = {
  /** Where relative paths begin, and what may be changed without a word. */
  readonly workspace: string;
  /** The gateway's own folder. */
  readonly home: string;
  /** The user's own folder, or null where the system knows none. */
  readonly userHome: string | null;
  /** A folder for notes on writes under way, the gateway's alone. */
  readonly notes: string;
  /** Files that this process must not open: the lock and the database. */
  readonly untouchable: Untouchable;
  readonly approvals: Policy;
};

export type PathCall = {
  readonly tool: "read_file" | "search_files" | "send_file" | "write_file" | "edit_file";
  readonly effect: ToolEffect;
  readonly use: PathUse;
  readonly path: string;
  /** All of the input: an approval is for exactly this. */
  readonly input: unknown;
  /** What is written there, where something is. */
  readonly text?: string;
};

/** What "always" would allow: a rule holds for a tool and a place, whatever else the call says. */
const allowing: Readonly<Record<PathCall["tool"], (path: string) => string>> = {
  read_file: (path) => `reading ${path}, whatever it holds`,
  search_files: (path) => `any search in ${path}`,
  send_file: (path) => `sending ${path} to the chat, whatever it holds`,
  write_file: (path) => `writing any content to ${path}`,
  edit_file: (path) => `any edit of ${path}`,
};

export async function vetPath(room: Room, call: PathCall, context: VetContext): Promise<Verdict> {
  const { real } = await placeOf(room.workspace, call.path);
  const { tool, effect, use, text, input } = call;
  return verdictOf({
    policy: room.approvals,
    judgment: judgePath(real, use, await placesOf(room)),
    effect,
    outside: context.outside,
    what: text === undefined ? `${tool} ${real}` : `${tool} ${real}\n${text}`,
    subject: allowing[tool](real),
    bound: digest([tool, real, input]),
  });
}

/**
 * The place that is used now. A link may lead elsewhere than when it was vetted, so what is forbidden under any policy is
 * looked for again.
 */
export async function usedPlace(room: Room, typed: string, use: PathUse): Promise<Place> {
  const place = await placeOf(room.workspace, typed);
  const judged = judgePath(place.real, use, await placesOf(room));
  if (judged.level === "forbidden") throw new Fault("not-possible", `Refused: ${judged.why}.`);
  return place;
}

/** With links followed, as the judgement wants them. */
export async function placesOf(room: Room): Promise<Places> {
  const end = async (path: string): Promise<string> => (await placeOf(path, ".")).real;
  const userHome = room.userHome === null ? null : await end(room.userHome);
  return { workspace: await end(room.workspace), home: await end(room.home), userHome };
}

export function digest(of: unknown): string {
  return createHash("sha256").update(JSON.stringify(of)).digest("hex");
}
