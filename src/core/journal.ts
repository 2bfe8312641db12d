// The memory of a turn: append-only entries from which the next action is computed, so that a turn goes on after any
// death without repeating a finished step. Nothing needed for that lives outside these entries and the turn row.

import { Bug, type Instant } from "./ids.ts";
import { type Address, type FileRef, type Inbound, bringsOutside } from "./message.ts";
import type { ResumeReason } from "./session.ts";
import type { Usage } from "./usage.ts";

/**
 * What a crash between beginning and end of a call allows.
 * `pure`: run again. `keyed`: run again under the same key. `checkable`: ask whether it happened. `once`: never again by itself.
 */
export type ToolEffect = "pure" | "keyed" | "checkable" | "once";

export type ToolCall = { readonly call: string; readonly tool: string; readonly input: unknown };

/** What a tool wants done in the very commit that stores its result: so it happens once, whatever dies. */
export type Wish =
  /** A message to this conversation at that time. */
  | { readonly type: "wake"; readonly at: Instant; readonly text: string }
  | { readonly type: "remember"; readonly text: string }
  | { readonly type: "forget"; readonly memory: string }
  /** Something for the user before the answer is finished. */
  | { readonly type: "send"; readonly text: string; readonly files: readonly FileRef[] };

export type ToolResult =
  | {
      readonly type: "ok";
      readonly output: unknown;
      readonly wishes?: readonly Wish[];
      /** Written by strangers: it may try to give orders, so what is dangerous needs approval while it is in the turn. */
      readonly outside?: true;
    }
  /** `outside`: the reason is in strangers' words. */
  | { readonly type: "failed"; readonly why: string; readonly outside?: true }
  | { readonly type: "unknown"; readonly why: string; readonly outside?: true };

/** A finished step of the agent. `final`: the text is the reply and the turn ends; otherwise its calls are run. */
export type Said = {
  readonly type: "said";
  readonly text: string;
  readonly calls: readonly ToolCall[];
  readonly final: boolean;
  /** Whatever the agent needs back to continue; opaque to us. */
  readonly data?: unknown;
  readonly usage?: Usage;
  /** Where the text is not all that the model would have said. */
  readonly cut?: "length" | "filter";
  /** Tools of the agent itself, which we do not see, may have read text from outside. */
  readonly outside?: true;
};

/** A question of the agent itself. */
export type Asked = {
  readonly type: "asked";
  readonly question: string;
  readonly text: string;
  readonly choices: readonly string[];
  /** It wants to be allowed something that it does itself; absent, any words are an answer. */
  readonly kind?: "approval";
  /** All that would be done, of which the text may show a part. */
  readonly what?: string;
  /** A digest of it: the answer is for nothing else. */
  readonly bound?: string;
  readonly routed?: readonly RoutedQuestion[];
};

/** Where else an approval was asked, because its requester may not give it, and the names of the people there. */
export type RoutedQuestion = { readonly to: Address; readonly name: string };

/** A call that waits for its user: to be allowed, or for the words that are its result. */
export type CallAsked = {
  readonly type: "call-asked";
  readonly question: string;
  readonly call: string;
  readonly kind: "approval" | "question";
  readonly text: string;
  readonly choices: readonly string[];
  /** What exactly is allowed: a digest of all that the call would do. If it is another by then, it is asked again. */
  readonly bound: string;
  /** What a rule would allow from then on; null where none is possible. */
  readonly subject: string | null;
  readonly routed?: readonly RoutedQuestion[];
  /** It would run outside of the sandbox: only the owner and admins allow it, other approvers do not. */
  readonly needsAdmin?: true;
};

/** Everything before is told by the summary from now on; the originals stay where they are. */
export type Compacted = {
  readonly type: "compacted";
  readonly summary: string;
  /** So many entries of this journal are in it. */
  readonly entries: number;
  /** Messages of the conversation up to this number are in it. */
  readonly upTo: number;
  readonly usage?: Usage;
};

/** What a voice message says, or why nobody could write it down; either way it is not asked for again. */
export type Heard = { readonly type: "heard"; readonly blob: string; readonly text: string; readonly why?: string };

export type Entry =
  | Said
  | Compacted
  | Heard
  | CallAsked
  | { readonly type: "tool-begun"; readonly call: string; readonly effect: ToolEffect }
  | { readonly type: "tool-ended"; readonly call: string; readonly result: ToolResult }
  | Asked
  /** `by`: who answered, and where. */
  | { readonly type: "answered"; readonly question: string; readonly choice: string | null; readonly by?: string }
  | { readonly type: "joined"; readonly message: Inbound }
  | { readonly type: "resumed"; readonly attempt: number; readonly reason?: ResumeReason };

type Begun = Extract<Entry, { type: "tool-begun" }>;
export type Answered = Extract<Entry, { type: "answered" }>;

/** How a call is taken up: for the first time, again under the same key, or by asking whether it happened. */
export type CallMode = "first" | "again" | "check";

export type NextAction =
  | { readonly type: "step" }
  | { readonly type: "call"; readonly calls: readonly { readonly call: ToolCall; readonly mode: CallMode }[] }
  | { readonly type: "give-up"; readonly call: ToolCall }
  /** Its user has answered, or the time is over. Nothing of it was begun. */
  | { readonly type: "answered-call"; readonly call: ToolCall; readonly asked: CallAsked; readonly answer: Answered }
  | { readonly type: "wait"; readonly question: string }
  | { readonly type: "finish"; readonly text: string };

/**
 * What an interrupted or running turn does next. `begunHere` holds the calls begun in this life: an open call that is
 * not among them was cut short by a death. It speaks of the last step only.
 */
export function decideNext(
  journal: readonly Entry[],
  effectOf: (tool: string) => ToolEffect,
  begunHere: ReadonlySet<string>,
): NextAction {
  const at = lastStep(journal);
  const last = journal[at];
  if (last === undefined) return { type: "step" };
  // Calls belong to their step: some models use the same ids again in every one.
  const since = journal.slice(at + 1);
  if (last.type === "asked") {
    const answered = since.some((entry) => entry.type === "answered" && entry.question === last.question);
    return answered ? { type: "step" } : { type: "wait", question: last.question };
  }
  if (last.type !== "said") throw new Bug(`a step that was ${last.type}`);
  const open = openCalls(since, last.calls);
  const [first] = open;
  if (first === undefined) return last.final ? { type: "finish", text: last.text } : { type: "step" };

  const asked = lastAsked(since, first.call);
  const begun = begunSince(since, first.call, asked);
  if (begun !== undefined && !begunHere.has(first.call)) {
    if (begun.effect === "once") return { type: "give-up", call: first };
    return { type: "call", calls: [{ call: first, mode: begun.effect === "checkable" ? "check" : "again" }] };
  }
  if (begun !== undefined) return { type: "call", calls: [{ call: first, mode: "first" }] };
  if (asked !== undefined) return afterAsking(since, first, asked);
  if (effectOf(first.tool) !== "pure") return { type: "call", calls: [{ call: first, mode: "first" }] };
  const isFree = (call: ToolCall) => effectOf(call.tool) === "pure" && lastAsked(since, call.call) === undefined;
  const pure = open.slice(0, countWhile(open, isFree));
  return { type: "call", calls: pure.map((call) => ({ call, mode: "first" as const })) };
}

/** A call may be asked about more than once, when it changed meanwhile; only the latest question counts. */
function lastAsked(since: readonly Entry[], call: string): CallAsked | undefined {
  return since.findLast((entry): entry is CallAsked => entry.type === "call-asked" && entry.call === call);
}

/** Its intent. One that it was asked about afterwards had not happened, and counts no longer. */
function begunSince(since: readonly Entry[], call: string, asked: CallAsked | undefined): Begun | undefined {
  const from = asked === undefined ? 0 : since.lastIndexOf(asked);
  return since.slice(from).find((entry): entry is Begun => entry.type === "tool-begun" && entry.call === call);
}

/** What its user was last asked about a call of the last step; undefined where it was simply made. */
export function askedAbout(journal: readonly Entry[], call: string): CallAsked | undefined {
  return lastAsked(journal.slice(lastStep(journal) + 1), call);
}

function afterAsking(since: readonly Entry[], call: ToolCall, asked: CallAsked): NextAction {
  const { question } = asked;
  const answer = since.find((entry) => entry.type === "answered" && entry.question === question);
  if (answer?.type !== "answered") return { type: "wait", question };
  return { type: "answered-call", call, asked, answer };
}

/** Calls of the last step that have no result; with their effect where an intent says that they may have happened. */
export function dangling(
  journal: readonly Entry[],
): readonly { readonly call: ToolCall; readonly effect: ToolEffect | null }[] {
  const at = lastStep(journal);
  const last = journal[at];
  if (last?.type !== "said") return [];
  const since = journal.slice(at + 1);
  return openCalls(since, last.calls).map((call) => {
    const begun = begunSince(since, call.call, undefined);
    // Asked about again, it had not happened; only of what takes a key nobody looked whether it had.
    const isBegun =
      begun?.effect === "keyed" || begunSince(since, call.call, lastAsked(since, call.call)) !== undefined;
    return { call, effect: isBegun ? (begun?.effect ?? null) : null };
  });
}

/** The result of a call that was cut off for good. `ran`: it was under way at that moment. */
export function cutOff(why: string, effect: ToolEffect | null, ran: boolean): ToolResult {
  if (effect !== null) return { type: "unknown", why: `${why} while it ran, so nobody knows whether it happened` };
  return { type: "failed", why: ran ? `${why} while it ran` : `${why} before it was begun` };
}

/** Whether strangers' words came into the turn; once they did it stays so, also when a summary has taken their place. */
export function isFromOutside(journal: readonly Entry[]): boolean {
  return journal.some(
    (entry) =>
      (entry.type === "tool-ended" && entry.result.outside === true) ||
      (entry.type === "said" && entry.outside === true) ||
      (entry.type === "joined" && bringsOutside(entry.message)),
  );
}

/** Where the agent's last step stands in the journal; -1 before the first. Together with a call's id it names the call. */
export function lastStep(journal: readonly Entry[]): number {
  return journal.findLastIndex((entry) => entry.type === "said" || entry.type === "asked");
}

/** Whether anything was really obtained since the last start; recovered unknowns and resumes are not progress. */
export function madeProgress(journal: readonly Entry[]): boolean {
  const begin = journal.findLastIndex((entry) => entry.type === "resumed" || entry.type === "answered");
  const since = journal.slice(begin + 1);
  return since.some(
    (entry) =>
      entry.type === "said" ||
      entry.type === "compacted" ||
      entry.type === "heard" ||
      (entry.type === "tool-ended" && entry.result.type !== "unknown"),
  );
}

/** Whether what was just obtained leaves no call open that the process may die of. */
export function isClear(entries: readonly Entry[]): boolean {
  return entries.some(
    (entry) =>
      (entry.type === "said" && entry.calls.length === 0) ||
      entry.type === "compacted" ||
      entry.type === "heard" ||
      (entry.type === "tool-ended" && entry.result.type !== "unknown"),
  );
}

/**
 * Whether a turn that lies cut short at the end of its journal was in the middle of the same call, by tool and input, at
 * an earlier death: whatever it got done between, that call is what it dies of.
 */
export function diedOfIt(journal: readonly Entry[], effectOf: (tool: string) => ToolEffect): boolean {
  const now = new Set(cutShort(journal, effectOf));
  if (now.size === 0) return false;
  // A call that can be looked at goes on without us: deaths beside it accuse only a call before it.
  return journal
    .slice(0, followedFrom(journal) ?? journal.length)
    .some(
      (entry, i) =>
        entry.type === "resumed" &&
        entry.reason === "crash" &&
        cutShort(journal.slice(0, i), effectOf).some((call) => now.has(call)),
    );
}

/** Whether a turn stands inside a call that goes on without us and is only followed: a stop takes nothing from it. */
export function follows(journal: readonly Entry[]): boolean {
  return followedFrom(journal) !== null;
}

/** Where the open checkable call of the last step was begun. */
function followedFrom(journal: readonly Entry[]): number | null {
  const [first] = dangling(journal);
  if (first?.effect !== "checkable") return null;
  return journal.findLastIndex((entry) => entry.type === "tool-begun" && entry.call === first.call.call);
}

/** The calls that were under way when a journal broke off, each as its tool and input. */
function cutShort(journal: readonly Entry[], effectOf: (tool: string) => ToolEffect): readonly string[] {
  const next = decideNext(journal, effectOf, new Set());
  return underWay(next).map(({ tool, input }) => JSON.stringify([tool, input]));
}

function underWay(next: NextAction): readonly ToolCall[] {
  switch (next.type) {
    case "call":
      return next.calls.map(({ call }) => call);
    case "give-up":
    case "answered-call":
      return [next.call];
    default:
      return [];
  }
}

function openCalls(since: readonly Entry[], calls: readonly ToolCall[]): readonly ToolCall[] {
  const ended = new Set<string>();
  for (const entry of since) if (entry.type === "tool-ended") ended.add(entry.call);
  return calls.filter((call) => !ended.has(call.call));
}

function countWhile<T>(list: readonly T[], holds: (one: T) => boolean): number {
  const end = list.findIndex((one) => !holds(one));
  return end === -1 ? list.length : end;
}
