// A wider look at the machine when a stop is asked: the list and the tree of processes, the end of the kernel's log.
// It runs in a session of its own, ends itself after five seconds, and nobody waits for it: a stop is never held up.
// Only programs and options that both Linux and macOS have, or that may be missing.

import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { signalName } from "../../core/forensics.ts";

export type DiagnosticRequest = {
  /** Appended to; below the logs of the home. */
  readonly file: string;
  readonly signal: unknown;
  readonly platform?: NodeJS.Platform;
  readonly now?: () => number;
  /** What it does; for tests of how it is started and ended. */
  readonly script?: string;
};

const limitSeconds = 5;

/** Two of these are kept at most. */
const fileMaxBytes = 2_000_000;

/** Names of programs without their arguments: command lines hold passwords and tokens. */
const look = `
LC_ALL=C; export LC_ALL
renice -n 10 -p $$ >/dev/null 2>&1
show() { printf '\\n-- %s\\n' "$1"; shift; "$@" 2>&1 | cut -c1-300; }
list() { ps -A -o pid,user,pcpu,pmem,rss,stat,etime,comm 2>/dev/null || ps -A -o pid,comm; }
tree() { pstree -lp 2>/dev/null || ps -A -o pid,ppid,pgid,comm; }
kernel() { { dmesg 2>/dev/null || journalctl -k -n 40 --no-pager 2>/dev/null || echo 'not readable'; } | tail -n 40; }
show load uptime
show 'process list' list
show 'process tree' tree
show 'kernel log' kernel
`;

/**
 * The script leads its own group, so the clock ends the whole of it, and the end of it takes the clock along. The last
 * line ignores the signal that it sends to its own group.
 */
function limited(script: string): string {
  return `
(sleep ${limitSeconds}; echo '-- cut short after ${limitSeconds} s'; kill -KILL 0) &
${script}
printf '%s\\n' '-- end of the diagnostic'
trap '' TERM
kill -TERM 0
`;
}

/** The number of the process that looks, or null where that is not possible. Never throws, never waits. */
export function spawnDiagnostic(request: DiagnosticRequest): number | null {
  const { file, platform = process.platform } = request;
  if (platform === "win32") return null;
  let descriptor: number | null = null;
  try {
    descriptor = openLog(file);
    const time = new Date((request.now ?? Date.now)()).toISOString();
    const signal = signalName(request.signal);
    writeSync(descriptor, `\n==== shutdown diagnostic ${time} signal=${signal} pid=${process.pid}\n`);
    const child = spawn("/bin/sh", ["-c", limited(request.script ?? look)], {
      detached: true,
      stdio: ["ignore", descriptor, descriptor],
    });
    // A shell that cannot be started is told through this event only; there is nothing to be done about it.
    child.once("error", () => child.unref());
    child.unref();
    return child.pid ?? null;
  } catch (error) {
    if (error instanceof Error) return null;
    throw error;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

function openLog(file: string): number {
  // One level only: below /proc, Node's recursive form never returns.
  if (!existsSync(dirname(file))) mkdirSync(dirname(file), { mode: 0o700 });
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size > fileMaxBytes) renameSync(file, `${file}.1`);
  // Command lines of others are nobody's business but the owner's.
  return openSync(file, "a", 0o600);
}
