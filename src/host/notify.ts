// Tells the supervisor that started us how we are: ready, a line of status, stopping, still alive. To systemd through
// its own program, because Node has no sockets of that kind; to s6 by a newline on the descriptor it waits on.
// Without a supervisor it does nothing. Nothing here is waited for, and no child of it holds up an end.

import { spawn } from "node:child_process";
import { closeSync, fstatSync, writeSync } from "node:fs";
import { sentenceOf } from "../core/fault.ts";
import type { Facts, LogLevel } from "../ports/world.ts";

export type Notifier = {
  /** Once; later calls only change the status. */
  ready(status: string): void;
  status(text: string): void;
  stopping(status: string): void;
  /** No sign of life is given afterwards. */
  close(): void;
};

export type NotifierOptions = {
  readonly env: Readonly<Record<string, string | undefined>>;
  log(level: LogLevel, what: string, facts?: Facts): void;
  readonly pid?: number;
  /** What speaks to systemd; it is on the path wherever systemd is. */
  readonly program?: string;
  /** One message may take this long. */
  readonly limitMs?: number;
};

export type NotifyPlan = {
  readonly systemd: boolean;
  /** How often systemd wants a sign of life from us: three times in its patience. Null when it does not. */
  readonly beatMs: number | null;
  /** The descriptor on which s6 waits for a newline. */
  readonly readyFd: number | null;
};

/** Who wants to know what, from the environment that the supervisor gave us. */
export function notifyPlan(env: NotifierOptions["env"], pid: number): NotifyPlan {
  const systemd = (env["NOTIFY_SOCKET"] ?? "") !== "";
  const patienceUs = wholeNumber(env["WATCHDOG_USEC"]);
  // Inherited from a service whose main process is somebody else: its signs of life are not ours to give.
  const isMeant = env["WATCHDOG_PID"] === undefined || env["WATCHDOG_PID"] === String(pid);
  const beats = systemd && isMeant && patienceUs !== null && patienceUs > 0;
  const readyFd = wholeNumber(env["EVERTURN_READY_FD"]);
  return {
    systemd,
    beatMs: beats ? Math.max(1, Math.floor(patienceUs / 3_000)) : null,
    readyFd: readyFd !== null && readyFd > 2 ? readyFd : null,
  };
}

function wholeNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

export function openNotifier(options: NotifierOptions): Notifier {
  const { env, log, pid = process.pid } = options;
  const plan = notifyPlan(env, pid);
  const tell = plan.systemd ? openSystemd(options) : () => undefined;
  // On the event loop, so that a loop which is blocked gives no sign and is started again.
  const beat = plan.beatMs === null ? null : setInterval(() => tell({ WATCHDOG: "1" }), plan.beatMs);
  beat?.unref();
  let isReady = false;
  return {
    ready(status) {
      if (isReady) return tell({ STATUS: status });
      isReady = true;
      tell({ READY: "1", STATUS: status });
      if (plan.readyFd !== null) writeReady(plan.readyFd, log);
    },
    status: (text) => tell({ STATUS: text }),
    stopping: (status) => tell({ STOPPING: "1", STATUS: status }),
    close() {
      if (beat !== null) clearInterval(beat);
    },
  };
}

type Words = Readonly<Record<string, string>>;

/** One child at a time; what is said meanwhile is said together by the next one, a later word replacing an earlier. */
function openSystemd({
  env,
  log,
  program = "systemd-notify",
  limitMs = 5_000,
}: NotifierOptions): (words: Words) => void {
  let waiting: Words = {};
  let isBusy = false;
  let isBroken = false;
  const next = () => {
    isBusy = false;
    if (isBroken || Object.keys(waiting).length === 0) return;
    isBusy = true;
    const words = Object.entries(waiting).map(([key, value]) => `${key}=${oneLine(value)}`);
    waiting = {};
    const child = spawn(program, words, { stdio: "ignore", env: { ...env } });
    // A clock of our own, because the one of `spawn` would keep the process alive.
    const clock = setTimeout(() => child.kill("SIGKILL"), limitMs);
    clock.unref();
    child.unref();
    child.once("exit", () => {
      clearTimeout(clock);
      next();
    });
    child.once("error", (error) => {
      clearTimeout(clock);
      isBroken = true;
      const todo = "install it, or use a unit without Type=notify and WatchdogSec";
      log("warn", `systemd cannot be told how the gateway is: ${program} did not start (${error.message}); ${todo}.`);
    });
  };
  return (words) => {
    waiting = { ...waiting, ...words };
    if (!isBusy) next();
  };
}

function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, " ").slice(0, 300);
}

/** Only onto a pipe: under that number there may be anything else, were it not given by the supervisor. */
function writeReady(fd: number, log: NotifierOptions["log"]): void {
  try {
    if (!fstatSync(fd).isFIFO()) return log("warn", `Descriptor ${fd} is not the supervisor's; readiness is not told.`);
    writeSync(fd, "\n");
    closeSync(fd);
  } catch (error) {
    log("warn", `Readiness could not be told on descriptor ${fd} (${sentenceOf(error)}).`);
  }
}
