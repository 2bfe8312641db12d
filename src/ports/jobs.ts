// Commands that outlive the gateway. Each runs below a holder of its own, which writes down what it says and how it
// ends; so whoever asks later, also another process, gets the true result. A job is found again by the key it was
// started under, and runs at most once.

/**
 * What keeps a command from the rest of the machine: a sandbox `closed` to the network or open to it, or none, because it
 * was allowed to go `past` the one there is.
 */
export type JobSandbox = "closed" | "network" | "past";

export type JobSpec = {
  /** The same for every attempt of one call. */
  readonly key: string;
  /** The conversation it was started in, by its address: what goes on there is shown and stopped there. */
  readonly place: string;
  /** Whose it is; no tool of another person sees it. Absent in jobs of older versions: only their conversation does. */
  readonly person?: string;
  /** What it is, for people. */
  readonly title: string;
  readonly program: string;
  readonly words: readonly string[];
  /** The words go to a program of Windows as they are, which reads quotes in its own way. */
  readonly verbatim?: boolean;
  readonly cwd: string;
  /** For who tells of it; the words are those with the sandbox around them. Absent where there is none. */
  readonly sandbox?: JobSandbox;
  /** All of its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** It is ended when it takes longer than this. */
  readonly limitMs: number;
  /** It goes on when its first process has ended, until everything it started has. */
  readonly background: boolean;
};

export type JobEnd = {
  /** Null when a signal ended it, or when it could not be started. */
  readonly code: number | null;
  readonly signal: string | null;
  /** `ended`: by itself. `limit`: it took too long. `killed`: somebody wanted it. `failed`: it could not be started. */
  readonly how: "ended" | "limit" | "killed" | "failed";
  /** Why it was killed or could not be started, in words; null where nobody said so. */
  readonly why: string | null;
  readonly tookMs: number;
  /** How much it said; not all of it need be kept. */
  readonly bytes: number;
  /** Why part of that could not be kept, such as a full disk. */
  readonly lost: string | null;
};

export type JobState =
  | { readonly type: "running" }
  | { readonly type: "ended"; readonly end: JobEnd }
  /** It began, and nobody can tell any more how it ended. */
  | { readonly type: "unknown"; readonly why: string };

export type Job = {
  readonly id: string;
  readonly place: string;
  readonly person?: string;
  readonly title: string;
  readonly background: boolean;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly limitMs: number;
  readonly sandbox?: JobSandbox;
  /** The folder with everything it said. */
  readonly folder: string;
};

/** A stretch of what a job said. */
export type Output = {
  /** Where it begins: later than asked for where that part is not kept any more. */
  readonly from: number;
  readonly bytes: Uint8Array;
  /** How much there is so far. */
  readonly total: number;
};

export interface Jobs {
  /** Starts it, or finds it running or ended under the same key. Rejects with a Fault when it cannot be started. */
  start(spec: JobSpec): Promise<Job>;
  /**
   * The job of a key, whoever started it; null when it did not happen, and then it cannot happen by that start any more.
   * Rejects with a Fault when what is kept does not reach back to it, so that nobody can tell.
   */
  find(key: string): Promise<Job | null>;
  get(id: string): Promise<Job | null>;
  state(id: string): Promise<JobState>;
  /** Resolves when it does not run any more; rejects with the reason of the signal, and the job goes on. */
  wait(id: string, signal: AbortSignal): Promise<Exclude<JobState, { type: "running" }>>;
  /** At most `max` bytes from this place on; a negative one counts from the end. */
  read(id: string, from: number, max: number): Promise<Output>;
  /** Ends it with everything it started. Again, or after its end, it does nothing. */
  kill(id: string, why: string): Promise<JobState>;
  /** Those that fit, the newest first. */
  list(fits: (job: Job) => boolean): Promise<readonly Job[]>;
  /** Ends all that run, also those that an earlier gateway has started; how many there were. */
  endAll(why: string): Promise<number>;
  /** Nobody wants the job of a key any more: it is ended, and one that has not begun never will. */
  drop(key: string, why: string): Promise<void>;
  /** Removes what ended long ago, but nothing of a turn that goes on. */
  tidy(): Promise<void>;
}
