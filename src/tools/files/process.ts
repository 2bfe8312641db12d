// One worker process and the calls to it. Everything it says is bounded and checked; one that says something else, or
// nothing for too long, is killed, and its calls fail.

import type { ChildProcess } from "node:child_process";
import { Fault } from "../../core/fault.ts";
import {
  type FileReply,
  type FileReplyFrame,
  type FileRequest,
  type FileScope,
  type ToFileWorker,
  encodeFrame,
  endsCall,
  frameLimits,
  frameReader,
} from "./protocol.ts";
import { parseReply } from "./replies.ts";

/** The worker died under a call, so it is not known how far the call came. */
export class WorkerLost extends Fault {
  constructor(why: string) {
    super("busy", `The file worker ended: ${why}. Try again.`);
  }
}

/** Runs `work` after so many milliseconds; the result cancels it. */
export type Delay = (ms: number, work: () => void) => () => void;

export type FileCall = {
  /** The next reply. Rejects with WorkerLost when the worker is gone. */
  next(): Promise<FileReplyFrame>;
  /** No more replies are wanted. */
  drop(): void;
};

export type FileWorker = {
  call(request: FileRequest, body?: Uint8Array): FileCall;
  /** Calls that the worker has not ended yet. */
  readonly calls: number;
  end(why: string): void;
  /** Resolves with the reason when it is gone. */
  readonly gone: Promise<string>;
};

export type FileWorkerOptions = {
  readonly child: ChildProcess;
  readonly scope: FileScope;
  readonly delay: Delay;
  /** A worker that owes a reply for longer is killed. */
  readonly replyMs: number;
  /** Called whenever it has no calls left. */
  readonly idle: () => void;
};

type PendingCall = {
  /** A reply is owed. */
  waiting: { resolve: (frame: FileReplyFrame) => void; reject: (error: Error) => void } | null;
  owed: (() => void) | null;
  isDropped: boolean;
};

/** What is kept of its stderr, and what is shown of that. */
const tailChars = 4_000;
const saidChars = 300;

export function openFileWorker({ child, scope, delay, replyMs, idle }: FileWorkerOptions): FileWorker {
  const calls = new Map<number, PendingCall>();
  const gone = Promise.withResolvers<string>();
  let over: string | null = null;
  let last = 0;
  let tail = "";

  function finish(why: string): void {
    if (over !== null) return;
    over = why;
    for (const call of calls.values()) {
      call.owed?.();
      call.waiting?.reject(new WorkerLost(why));
    }
    calls.clear();
    killGroup(child);
    gone.resolve(why);
  }

  function send(message: ToFileWorker, body?: Uint8Array): void {
    child.stdin?.write(encodeFrame(message, body));
  }

  /** The worker owes one reply for this. */
  function owe(call: PendingCall, message: ToFileWorker, body?: Uint8Array): Promise<FileReplyFrame> {
    if (over !== null) return Promise.reject(new WorkerLost(over));
    const { promise, resolve, reject } = Promise.withResolvers<FileReplyFrame>();
    call.waiting = { resolve, reject };
    call.owed = delay(replyMs, () => finish(`it did not answer for ${Math.round(replyMs / 1000)} s`));
    send(message, body);
    return promise;
  }

  function settle(id: number): void {
    calls.delete(id);
    if (calls.size === 0) idle();
  }

  function take(head: unknown, body: Buffer): boolean {
    const parsed = parseReply(head);
    const call = parsed === null ? undefined : calls.get(parsed.id);
    if (parsed === null || call === undefined || call.waiting === null || !fits(parsed.reply, body)) return false;
    const { waiting } = call;
    call.owed?.();
    [call.waiting, call.owed] = [null, null];
    if (endsCall(parsed.reply) || call.isDropped) settle(parsed.id);
    waiting.resolve({ reply: parsed.reply, body });
    return true;
  }

  const read = frameReader(frameLimits.fromWorker);
  child.stdout?.on("data", (chunk: Buffer) => {
    if (over !== null) return;
    const frames = read(chunk);
    const isSound = frames?.every(({ head, body }) => take(head, body)) ?? false;
    if (!isSound) finish("it sent something that is no reply");
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    tail = `${tail}${chunk.subarray(0, tailChars).toString("utf8")}`.slice(0, tailChars);
  });
  // A broken pipe is followed by the end of the process, which says more.
  child.stdin?.on("error", () => child.stdin?.destroy());
  child.once("error", (error) => finish(`it cannot be started: ${error.message}`));
  child.once("close", (code, signal) => finish(endSentence(code, signal, tail)));
  send({ type: "begin", scope });

  return {
    get calls() {
      return calls.size;
    },
    gone: gone.promise,
    end: finish,
    call(request, body) {
      const id = ++last;
      const call: PendingCall = { waiting: null, owed: null, isDropped: false };
      if (over === null) calls.set(id, call);
      const first = owe(call, { type: "call", id, request }, body);
      // Its rejection belongs to the first `next`.
      first.catch(ignored);
      let begun = false;
      return {
        next() {
          if (begun) return owe(call, { type: "next", id });
          begun = true;
          return first;
        },
        drop() {
          if (over !== null || !calls.has(id)) return;
          call.isDropped = true;
          send({ type: "drop", id });
          if (call.waiting === null) settle(id);
        },
      };
    },
  };
}

function ignored(): void {}

/** Only texts and chunks have a body. */
function fits({ type }: FileReply, body: Buffer): boolean {
  return (
    type === "text" || (type === "chunk" && body.length > 0 && body.length <= frameLimits.chunk) || body.length === 0
  );
}

function endSentence(code: number | null, signal: NodeJS.Signals | null, tail: string): string {
  const how = code === null ? `killed by ${signal}` : `exit code ${code}`;
  const lines = tail.split("\n").map((line) => line.trim());
  const said = lines.find((line) => /\bError\b|^(?:bwrap|sandbox):/.test(line)) ?? lines.findLast(Boolean);
  return said === undefined ? how : `${how} (${said.slice(0, saidChars)})`;
}

/** It leads a group of its own; whatever it has started ends with it. */
function killGroup(child: ChildProcess): void {
  child.stdin?.destroy();
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  if (process.platform === "win32") {
    child.kill("SIGKILL");
    return;
  }
  try {
    process.kill(-child.pid, "SIGKILL");
  } catch (error) {
    // It leads no group where it was started without one.
    if (!(error instanceof Error && "code" in error)) throw error;
    child.kill("SIGKILL");
  }
}
