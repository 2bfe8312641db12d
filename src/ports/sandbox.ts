// The wall around everything that runs for an agent: commands, file tools, MCP servers and ACP agents. A view says what
// of this machine a program sees; the sandbox turns it into a command line. It starts nothing itself.

import type { Grant } from "../core/grant.ts";

export type SandboxKind = "bubblewrap" | "seatbelt" | "docker" | "podman";

export type SandboxState =
  | { readonly type: "on"; readonly kind: SandboxKind }
  /** There is none. Only calls of owner and admins run, and everything but a short list asks (see docs/security.md). */
  | {
      readonly type: "off";
      readonly why: string;
      readonly isAccepted: boolean;
      /** The gateway runs as root, so commands and file tools are refused all the same. */
      readonly isRefused?: true;
    }
  /** One was chosen and does not work here: nothing runs. */
  | { readonly type: "missing"; readonly why: string };

export type SandboxView = {
  /** Whose HOME and /tmp it has; see `Requester.person`. */
  readonly person: string;
  /** Can be read and written; absolute, with links resolved. */
  readonly workspace: string;
  /** In the workspace, in `output`, or in a granted path. */
  readonly cwd: string;
  readonly grant: Grant;
  /** `person`: the HOME of the person. `empty`: a new one that ends with the program. Else a folder of its own. */
  readonly home: "person" | "empty" | { readonly folder: string };
  /** The files of the person's conversations, read-only: the only folder of the gateway's home that is shown. */
  readonly files?: string;
  /** A folder below the files of the person that this program writes, while their other programs only read it. */
  readonly output?: string;
  /** Read-only beside the defaults, such as the program itself. */
  readonly programs?: readonly string[];
  /** Variables for the program; nothing of the gateway's own environment is added. */
  readonly env: Readonly<Record<string, string>>;
};

/** A command line with the wall around it, to be started as it is, in any folder: the view's own is set inside. */
export type WalledCommand = {
  readonly program: string;
  readonly words: readonly string[];
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>;
};

export interface Sandbox {
  /** Paths inside that every view has: the program of Node, and the folder with our own package (`bin`, `src` or `dist`). */
  readonly runtime: { readonly node: string; readonly folder: string };
  /** Tried once and kept; a trial that got no answer is repeated. */
  state(): Promise<SandboxState>;
  /**
   * The command in this view. The network of the view's hosts is served by a proxy that starts and ends with the command
   * itself, so it outlives the gateway where the command does. Rejects with a Fault where there is no sandbox.
   */
  wrap(command: readonly [string, ...string[]], view: SandboxView): Promise<WalledCommand>;
}
