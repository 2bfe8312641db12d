// What the process around a sandbox is started with. It holds no secrets, because command lines can be seen.

import type { CredentialGrant } from "../../core/grant.ts";

export type RunnerOrder = {
  readonly hosts: readonly string[];
  readonly credentials: readonly CredentialGrant[];
  /** The user's own environment, as far as git and ssh need it to find what the user has. */
  readonly user: Readonly<Record<string, string>>;
  /** A folder that the sandbox sees as its folder of sockets. */
  readonly sockets: string;
  /** Folders that end with the program. */
  readonly removed: readonly string[];
  /** Where the proxy also listens on the loopback interface, for programs that share the network of the machine. */
  readonly port?: number | null;
  /** The container that ends with the program: Docker or Podman, and its name. */
  readonly container?: readonly [program: string, name: string];
};
