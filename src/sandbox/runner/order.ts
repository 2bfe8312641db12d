// What the process around a sandbox is started with. It holds no secrets, because command lines can be seen.

export type RunnerOrder = {
  readonly hosts: readonly string[];
  /** A folder that the sandbox sees as its folder of sockets. */
  readonly sockets: string;
  /** Folders that end with the program. */
  readonly removed: readonly string[];
};
