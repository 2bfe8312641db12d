// The programs and servers that work for an agent, as their owner sees them: how they are, and which of their tools wait
// for approval.

export type PeerStatus = {
  readonly name: string;
  /** `remote`: a server in the network. `program`: one that the gateway starts. */
  readonly kind: "remote" | "program";
  readonly state: "waiting" | "connecting" | "ready" | "resting" | "closed";
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
