// A wider look at the machine when a stop is asked: the list and the tree of processes, the end of the kernel's log.
// It runs in a session of its own, ends itself after five seconds, and nobody waits for it: a stop is never held up.
// Only programs and options that both Linux and macOS have, or that may be missing. Command lines may hold secrets: known
// ones, and whatever looks like one, are redacted before they are written.

import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { signalName } from "../../core/forensics.ts";

export type DiagnosticRequest = {
  /** Appended to; below the logs of the home. */
  readonly file: string;
  readonly signal: unknown;
  /** What must not be written, wherever it stands. */
  readonly secrets?: readonly string[];
  readonly platform?: NodeJS.Platform;
  readonly now?: () => number;
  /** What it does; for tests of how it is started and ended. */
  readonly script?: string;
};

const limitSeconds = 5;
const searchPath = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin:/run/current-system/sw/bin";

/** Two of these are kept at most. */
const fileMaxBytes = 2_000_000;

/** Long command lines are cut: this is about who ran, and files grow. */
const look = `
LC_ALL=C; export LC_ALL
renice -n 10 -p $$ >/dev/null 2>&1
redact() { sed -E -f /dev/fd/3 3<<EVERTURN_RULES
$EVERTURN_REDACT
EVERTURN_RULES
}
show() { printf '\\n-- %s\\n' "$1"; shift; "$@" 2>&1 | redact | cut -c1-300; }
list() { ps auxww 2>/dev/null || ps; }
tree() { pstree -alp 2>/dev/null || ps axjf 2>/dev/null || ps -A -o pid,ppid,pgid,command; }
kernel() { { dmesg 2>/dev/null || journalctl -k -n 40 --no-pager 2>/dev/null || echo 'not readable'; } | tail -n 40; }
show load uptime
show 'process list' list
show 'process tree' tree
show 'kernel log' kernel
`;

const shapes = [
  "s/((^|[^A-Za-z])(Bearer|Basic|Bot) +)[^ ]+/\\1[secret]/g",
  // --password x, token=x, API_KEY=x, Authorization: x
  "s/([A-Za-z0-9_-]*([Tt]oken|TOKEN|[Kk]ey|KEY|[Ss]ecret|SECRET|[Pp]assw(or)?d|PASSW(OR)?D|[Pp]assphrase|[Cc]redentials?|[Aa]uthorization)(=|: *| +))[^ -][^ ]*/\\1[secret]/g",
  "s/((^| )(-u|--user)[ =]?[^ :=]*:)[^ ]+/\\1[secret]/g",
  "s,(://[^/ :@]*:)[^ @]+@,\\1[secret]@,g",
  "s/(^|[^0-9])[0-9]{5,14}:[A-Za-z0-9_-]{30}[A-Za-z0-9_-]*/\\1[secret]/g",
  "s/(sk|pk|gh[pousr]|glpat|xox[a-z]|xapp|hf|npm|github_pat)[_-][A-Za-z0-9_-]{12}[A-Za-z0-9_-]*/[secret]/g",
  // Long words without dots and slashes are hardly names of programs.
  "s/[A-Za-z0-9_+=-]{32}[A-Za-z0-9_+=-]*/[secret]/g",
] as const;

/** A script for sed: known secrets first, then what looks like one. Exported for its table test. */
export function redactRules(secrets: readonly string[]): string {
  const words = secrets.flatMap((one) => one.split(/[\r\n]+/)).filter((one) => one.length >= knownMin);
  const known = [...new Set(words)]
    .toSorted((a, b) => b.length - a.length)
    .map((one) => `s/${one.replaceAll(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}/[secret]/g`);
  return [...known, ...shapes].join("\n");
}

/** Shorter ones are words of ordinary sentences. */
const knownMin = 4;

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
      // Not as an argument: command lines are visible to everybody on the machine.
      env: { PATH: searchPath, EVERTURN_REDACT: redactRules(request.secrets ?? []) },
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
