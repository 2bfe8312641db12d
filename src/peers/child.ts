// A program that talks to us in lines, over its input and output: MCP servers and ACP agents. It leads a group of its own,
// which is ended as a whole. Nothing it does can make us grow: a line has a largest size, lines have a rate, what it says
// on its error output is kept as a short tail, and a program that does not read what it is told is ended.

import type { ChildProcess, SpawnOptions } from "node:child_process";

export type PeerOptions = {
  /** Starts a program in a group of its own. */
  readonly spawn: (program: string, words: readonly string[], options: SpawnOptions) => ChildProcess;
  readonly command: readonly string[];
  /** What errors call it; the program of the command where it is absent. */
  readonly name?: string;
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  readonly line: (text: string) => void;
  /** It is gone, or we let go of it: said once, with the reason as the end of a sentence. */
  readonly ended: (why: string) => void;
  readonly bounds?: Partial<Bounds>;
};

export type Bounds = {
  readonly lineBytes: number;
  readonly linesPerSecond: number;
  /** What we have written and it has not read. */
  readonly unreadBytes: number;
  readonly graceMs: number;
};

const defaults: Bounds = { lineBytes: 16e6, linesPerSecond: 20_000, unreadBytes: 64e6, graceMs: 500 };
const tailChars = 2_000;

export interface Peer {
  /** Null when it could not be started. */
  readonly pid: number | null;
  /** Rejects when it is gone. */
  send(line: string): Promise<void>;
  /** The last it said on its error output; empty when nothing. */
  lastWords(): string;
  /** Ends it with all it has started; resolves when it is gone, or cannot be reached any more. */
  end(why: string): Promise<void>;
}

export function openPeer(options: PeerOptions): Peer {
  const bounds = { ...defaults, ...options.bounds };
  const { program, words, stdio } = leashed(options.command);
  const child = options.spawn(program, words, {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: { ...options.env },
    stdio: [...stdio],
  });
  const gone = Promise.withResolvers<void>();
  const finished = Promise.withResolvers<string>();
  let over: string | null = null;
  let tail = "";

  function finish(why: string): void {
    if (over !== null) return;
    over = why;
    finished.resolve(why);
    options.ended(why);
  }

  // Once only: later on, the number of its group may be somebody else's.
  let ending: Promise<void> | null = null;
  const endAll = (): Promise<void> => (ending ??= endGroup(child, gone.promise, bounds.graceMs));

  function end(why: string): Promise<void> {
    finish(why);
    child.stdout?.destroy();
    child.stderr?.destroy();
    return endAll();
  }

  const split = splitter(bounds.lineBytes);
  const isFlood = flood(bounds.linesPerSecond);
  child.stdout?.on("data", (chunk: Buffer) => {
    if (over !== null) return;
    const lines = split(chunk);
    if (lines === null) return void end(`it sent a line of more than ${Math.round(bounds.lineBytes / 1e6)} MB`);
    for (const line of lines) {
      if (over !== null) return;
      if (isFlood()) return void end(`it sent more than ${bounds.linesPerSecond} messages in a second`);
      if (line.trim() !== "") options.line(line);
    }
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    tail = `${tail}${chunk.subarray(-tailChars * 4).toString("utf8")}`.slice(-tailChars);
  });
  // A pipe that breaks is mostly followed by the end of the program, which says more.
  child.stdin?.on("error", () => setTimeout(() => void end("it does not listen any more"), bounds.graceMs).unref());
  child.once("error", (error) => {
    finish(`it cannot be started: ${error.message}`);
    gone.resolve();
  });
  child.once("close", () => gone.resolve());
  child.once("exit", (code, signal) => {
    finish(endOf(options.name ?? options.command[0] ?? "", code, signal));
    // What it has started and left behind is of no use to anybody.
    void endAll();
  });

  return {
    pid: child.pid ?? null,
    async send(line) {
      if (over !== null) throw new Error(over);
      if ((child.stdin?.writableLength ?? 0) > bounds.unreadBytes) {
        await end("it does not read what it is told");
        throw new Error("it does not read what it is told");
      }
      const { promise: isBroken, resolve } = Promise.withResolvers<boolean>();
      child.stdin?.write(`${line}\n`, (error) => resolve(Boolean(error)));
      // Why it does not listen is known a moment later.
      if (await isBroken) throw new Error(await finished.promise);
    },
    lastWords: () => tail.trim(),
    end,
  };
}

/**
 * A gateway that dies by force cannot end anybody, and a program that goes on working without it would do things behind
 * the back of the next one. So a shell waits beside the program for the end of a pipe that only we hold, and then ends the
 * whole group. The program takes the shell's place, number and all.
 */
const leash = `(read -r _ <&3; trap "" TERM; kill -TERM -$$; sleep 1; kill -KILL -$$) </dev/null >/dev/null 2>&1 & exec "$@" 3<&-`;

function leashed(command: readonly string[]) {
  const pipes = ["pipe", "pipe", "pipe"] as const;
  const [program = "", ...words] = command;
  if (process.platform === "win32") return { program, words, stdio: pipes };
  return { program: "/bin/sh", words: ["-c", leash, "sh", ...command], stdio: [...pipes, "pipe"] as const };
}

/** What a shell ends with when it cannot start a program. */
const notStarted: Readonly<Record<number, string>> = { 126: "may not be started", 127: "was not found" };

function endOf(program: string, code: number | null, signal: NodeJS.Signals | null): string {
  if (code === null) return `it ended by ${signal}`;
  const wrong = notStarted[code];
  return wrong === undefined ? `it ended with exit code ${code}` : `it cannot be started: ${program} ${wrong}`;
}

/** Cuts what comes in into lines; null when a line is larger than it may be. */
export function splitter(lineBytes: number): (chunk: Buffer) => readonly string[] | null {
  let parts: Buffer[] = [];
  let size = 0;
  return (chunk) => {
    const lines: string[] = [];
    let rest = chunk;
    for (let at = rest.indexOf(10); at !== -1; at = rest.indexOf(10)) {
      lines.push(Buffer.concat([...parts, rest.subarray(0, at)]).toString("utf8"));
      parts = [];
      size = 0;
      rest = rest.subarray(at + 1);
    }
    if (rest.length > 0) parts.push(rest);
    size += rest.length;
    return size > lineBytes ? null : lines;
  };
}

/** Told of each message, says when there were too many in a second. */
export function flood(perSecond: number, now: () => number = () => performance.now()): () => boolean {
  let since = now();
  let count = 0;
  return () => {
    if (now() - since > 1_000) {
      since = now();
      count = 0;
    }
    count++;
    return count > perSecond;
  };
}

/** Asked first, forced after a short grace; never waits for longer than the system needs. */
async function endGroup(child: ChildProcess, gone: Promise<void>, graceMs: number): Promise<void> {
  child.stdin?.destroy();
  await signalled(child, gone, graceMs);
  child.stdio[3]?.destroy();
}

async function signalled(child: ChildProcess, gone: Promise<void>, graceMs: number): Promise<void> {
  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    if (!signalGroup(child, signal)) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, graceMs);
    await Promise.race([gone, promise]);
    clearTimeout(timer);
  }
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): boolean {
  if (child.pid === undefined) return false;
  if (process.platform === "win32") return child.kill(signal);
  try {
    return process.kill(-child.pid, signal);
  } catch (error) {
    // Nobody is left, or only somebody whom we may not touch.
    if (error instanceof Error && "code" in error && (error.code === "ESRCH" || error.code === "EPERM")) return false;
    throw error;
  }
}
