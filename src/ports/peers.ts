// The programs and servers that work for an agent, as their owner sees them: how they are, and which of their tools wait
// for approval.

export type PeerState =
  | "starting"
  | "ready"
  | "degraded" // it crashed or cannot be reached
  | "login-needed" // it wants other credentials; trying again does not help
  | "refused" // it declined us, or may not be started
  | "stopped"; // the gateway stops

export type PeerStatus = {
  readonly name: string;
  /** `remote`: a server in the network. `program`: one that the gateway starts. */
  readonly kind: "remote" | "program";
  readonly state: PeerState;
  /** When it is tried again (ms since 1970); null when that is not planned. */
  readonly nextAttemptAt: number | null;
  /** The revision of the protocol that was agreed on; null before that. */
  readonly protocol: string | null;
  /** How many it has. */
  readonly tools: number;
  /** How many processes of it run now. */
  readonly processes: number;
  /** What is wrong, or worth knowing; null when nothing is. */
  readonly why: string | null;
  /** Tools whose definition is not the approved one, with what changed in words. */
  readonly changed: readonly { readonly tool: string; readonly text: string }[];
};

export interface ToolServers {
  list(): readonly PeerStatus[];
  /** Accepts the tools of a server as it lists them now, and gives the names of those that were not approved before. */
  approve(name: string): Promise<readonly string[]>;
}
