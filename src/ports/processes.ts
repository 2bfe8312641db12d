// The subprocesses of tools. Each runs in a group of its own, so that what it starts ends with it.

export interface Processes {
  /** Ends them with everything they started; answers how many there were. Jobs made to outlive the gateway may be spared. */
  killAll(which: "all" | "all-but-jobs"): Promise<number>;
}
