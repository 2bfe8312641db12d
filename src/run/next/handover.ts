// How a gateway hands its home to the next one. Without a supervisor the successor is started before anything is stopped:
// it loads everything, checks configuration and store, says so, and waits for the lock. What cannot be loaded leaves the
// old gateway serving. Under a supervisor nothing is started here, but what the next start would refuse is refused now.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, openSync, closeSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Attendance, type Reply, attend, codeOf, loadMs } from "../../../bin/attend.js";
import type { Environment } from "../../config/load.ts";
import { Fault } from "../../core/fault.ts";
import { isAlive } from "../../host/identity.ts";

/** `own`: this process stays for its successor. `attended`: another one stays already. `detached`: nobody waits. */
export type Mode = "supervised" | "attended" | "detached" | "own";

export function modeOf(facts: { supervised: boolean; attended: boolean; detached: boolean }): Mode {
  if (facts.supervised) return "supervised";
  if (facts.attended) return "attended";
  return facts.detached ? "detached" : "own";
}

export type Handover = {
  /**
   * Resolves when the next life is certain to begin as far as anybody can know; rejects with a Fault that says why not.
   * Asked again, whoever waits is kept, and whoever has died meanwhile is replaced.
   */
  prepare(): Promise<void>;
  /** Whether somebody waits to serve next. */
  isAwaited(): boolean;
  /** Another kind of stop came first: whoever was prepared, or still is being prepared, must not serve. */
  dismiss(): Promise<void>;
  /** When the home is free: whoever has to stays, and the exit code follows from the last one. */
  leave(code: number): Promise<number>;
};

export type HandoverParts = {
  readonly isSupervised: boolean;
  /** The environment as it was at the start of the process. */
  readonly env: Environment;
  readonly logs: string;
  /** How long a successor waits for the home: it must outlast whatever this gateway's own stop may take. */
  readonly patienceMs: number;
  /** What the next start would check, done in this process. */
  readonly check: () => Promise<void>;
};

/** Whether our own foreground process started this one and stays for it: the launcher, or a gateway that handed over. */
export function isAttended(env: Environment): boolean {
  return env["EVERTURN_ATTENDED"] === "1" && process.connected === true;
}

export function openHandover({ isSupervised, env, logs, patienceMs, check }: HandoverParts): Handover {
  let attendance: Attendance | null = null;
  let prepared: { readonly how: Mode; readonly reply: Promise<Reply> } | null = null;
  let questions = 0;
  /** Who waits for the lock. */
  let waiting: number | null = null;
  const isAwaited = () => waiting !== null && isAlive({ pid: waiting, startTime: null });

  const mode = (): Mode =>
    modeOf({
      supervised: isSupervised,
      attended: isAttended(env),
      detached: env["EVERTURN_DETACHED"] === "1",
    });

  function replyOf(how: Exclude<Mode, "supervised">): Promise<Reply> {
    if (how === "attended") return askAttendant(patienceMs, ++questions);
    const given = { ...env, EVERTURN_SUCCESSOR: String(patienceMs) };
    attendance ??= attend({ own: true, start: () => startSuccessor(given, how === "detached" ? logs : null) });
    return attendance.prepare(patienceMs);
  }

  return {
    isAwaited,
    async prepare() {
      const how = mode();
      if (how === "supervised") return check();
      if (isAwaited()) return;
      // Who stays for it may not have noticed yet that the one it speaks of is dead.
      for (let tries = 0; tries < 10; tries++, await pause(noticeMs)) {
        prepared = { how, reply: replyOf(how) };
        const reply = await prepared.reply;
        waiting = reply.everturn === "loaded" ? reply.pid : null;
        if (isAwaited()) return;
        if (reply.everturn === "loaded") continue;
        prepared = null;
        throw new Fault(
          "not-possible",
          `This gateway goes on, because the next one could not be started: ${reply.why}`,
        );
      }
      prepared = null;
      throw new Fault(
        "not-possible",
        "This gateway goes on, because the next one was ready to take over and has died.",
      );
    },
    async dismiss() {
      if (prepared === null) return;
      const { how, reply } = prepared;
      prepared = null;
      // One that is still loading has no number that we know; who started it ends it, and says so.
      if (how === "attended") tellAttendant({ everturn: "dismiss" });
      else attendance?.dismiss();
      const pid = waiting;
      waiting = null;
      if (pid !== null) return tryKill(pid);
      const known = await Promise.race([reply, pause(goneMs, null)]);
      if (known?.everturn === "loaded") tryKill(known.pid);
    },
    async leave(code) {
      if (prepared === null || attendance === null) return code;
      if (prepared.how === "own") return codeOf(await attendance.stay());
      if (prepared.how === "detached") attendance.letGo();
      return code;
    },
  };
}

/** For a successor that is not wanted any more to be gone. */
const goneMs = 1_000;
/** For the end of a process to be told to who started it. */
const noticeMs = 20;
/** One that stays and does not answer, because it is stopped for example, is not waited for beyond what an answer may take. */
const answerMs = loadMs + 3_000;

/** With the same words, but for the one that has had its effect. */
function startSuccessor(env: Environment, logs: string | null): ChildProcess {
  const words = [...process.execArgv, ...process.argv.slice(1).filter((one) => one !== "--replace")];
  const role = { EVERTURN_ATTENDED: logs === null ? "1" : "", EVERTURN_DETACHED: logs === null ? "" : "1" };
  const given = { ...env, ...role, EVERTURN_PARENT: String(process.ppid) };
  if (logs === null)
    return spawn(process.execPath, words, { env: given, stdio: ["inherit", "inherit", "inherit", "ipc"] });
  mkdirSync(logs, { recursive: true, mode: 0o700 });
  const out = openSync(join(logs, "gateway.out"), "a", 0o600);
  try {
    return spawn(process.execPath, words, { env: given, detached: true, stdio: ["ignore", out, out, "ipc"] });
  } finally {
    closeSync(out);
  }
}

function askAttendant(patienceMs: number, question: number): Promise<Reply> {
  return new Promise((answer) => {
    const over = (reply: Reply) => {
      clearTimeout(late);
      process.off("message", heard);
      process.off("disconnect", gone);
      answer(reply);
    };
    const late = setTimeout(() => {
      // It may hear both one day, and must not be left with somebody whom nobody wants.
      tellAttendant({ everturn: "dismiss" });
      const todo = "kill it, and the gateway goes on without it; then try again";
      over({ everturn: "failed", why: `the process that stays for it (pid ${process.ppid}) does not answer; ${todo}` });
    }, answerMs);
    const gone = () => over({ everturn: "failed", why: "who stays for it is gone; try again" });
    const heard = (message: unknown) => {
      if (isReply(message) && isAnswerTo(question, message)) over(message);
    };
    process.on("message", heard);
    process.on("disconnect", gone);
    tellAttendant({ everturn: "successor", patienceMs, question }, gone);
  });
}

/** One that stays since before an update does not count the questions. */
function isAnswerTo(question: number, message: object): boolean {
  return !("question" in message) || message.question === question;
}

function tellAttendant(
  words: { readonly everturn: string; readonly patienceMs?: number; readonly question?: number },
  failed: () => void = () => undefined,
): void {
  if (process.connected !== true) return failed();
  process.send?.(words, undefined, undefined, (error) => {
    if (error !== null) failed();
  });
}

function isReply(message: unknown): message is Reply {
  if (typeof message !== "object" || message === null || !("everturn" in message)) return false;
  return message.everturn === "loaded" || message.everturn === "failed";
}

function tryKill(pid: number): void {
  try {
    process.kill(pid, "SIGTERM");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
