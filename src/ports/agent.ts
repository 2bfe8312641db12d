// An agent backend is one function from everything on record to the next step. The loop is the engine's: it stores each
// step before the next one begins, so an agent keeps nothing that matters between two calls.

import type { Instant, SessionId, TurnId } from "../core/ids.ts";
import type { Asked, Compacted, Entry, Heard, Said } from "../core/journal.ts";
import type { Memory } from "../core/memory.ts";
import type { Address, Inbound, Message } from "../core/message.ts";
import type { TurnFailure } from "../core/running/failure.ts";
import type { ToolServers } from "./peers.ts";
import type { SandboxState } from "./sandbox.ts";
import type { Tool } from "./tool.ts";

export type Step =
  /** Unless it is final, its calls are run and the agent is asked again. */
  | Said
  /** The turn rests until somebody answers or the time is over; then the agent is asked again. */
  | (Omit<Asked, "question"> & { readonly until: Instant })
  /** Its memory was full; the summary is stored, and the agent is asked again. */
  | Compacted
  /** A voice message became words; they are stored, and the agent is asked again. */
  | Heard
  /** `afterMs`: not sooner than that. `why` is told to the user, so it says what to do. */
  | {
      readonly type: "failed";
      readonly retry: "later" | "never";
      readonly afterMs?: number;
      readonly why: string;
      readonly failure?: TurnFailure;
    };

export type AgentJob = {
  readonly session: SessionId;
  readonly address: Address;
  readonly turn: TurnId;
  readonly attempt: number;
  readonly input: Inbound;
  /** This turn so far. */
  readonly journal: readonly Entry[];
  /**
   * What the agent must know of an interruption, on the first step after it; null otherwise. It ends with the words that
   * joined the turn since, which the journal has too; it is not for the user.
   */
  readonly note: string | null;
  /** What was said before, newest last; read only when wanted. */
  readonly history: (limit: number) => Promise<readonly Message[]>;
  /** What was done in an earlier turn. */
  readonly journalOf: (turn: TurnId) => Promise<readonly Entry[]>;
  /** What stands for the messages up to a number, where the conversation was compacted. */
  readonly summary: () => Promise<Summary | null>;
  /** The newest of what it was told to remember here, oldest first. */
  readonly memories: (limit: number) => Promise<readonly Memory[]>;
  /** The model that was chosen for this message or its conversation; null for the configured one. */
  readonly model: string | null;
  readonly now: () => Instant;
  /** Sleeps in the gateway's time; ends early when the step is aborted. */
  readonly pause: (ms: number) => Promise<void>;
  /** Shows the answer so far; never stored. Also a sign of life. */
  readonly draft: (text: string) => void;
};

export type Summary = { readonly upTo: number; readonly text: string };

/** The models a user may choose from inside a chat. An agent that has them honors the options of a message too. */
export interface Models {
  /** The one that is used when nobody chose. */
  readonly current: string;
  /** What may be chosen, as far as it is known. */
  readonly known: readonly string[];
  /** What somebody typed, as the name to store; or why it cannot be used, with what is near. */
  read(typed: string): { readonly model: string } | { readonly wrong: string };
}

export interface Agent {
  readonly tools: readonly Tool[];
  /** Tools of which only the name is known until whoever has them answers. */
  toolNamed?(name: string): Tool | null;
  readonly models?: Models;
  /** Servers of tools, for their owner to look at. */
  readonly servers?: ToolServers;
  step(job: AgentJob, signal: AbortSignal): Promise<Step>;
  /** What goes on at a place beside turns, such as commands in the background: a short line for each. */
  activity?(address: Address): Promise<readonly string[]>;
  /** Ends it; a line for each that was ended. */
  stopActivity?(address: Address): Promise<readonly string[]>;
  /** The wall around what it starts; null until it is known, and where it starts nothing. */
  readonly sandbox?: SandboxState | null;
  /** Resolves when it is known. */
  lookAtSandbox?(): Promise<SandboxState | null>;
  /** Lets go of what is cached for one session, or for all. */
  close(session: SessionId | "all"): Promise<void>;
}
