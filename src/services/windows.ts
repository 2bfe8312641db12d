// The scheduled task of Windows that keeps a gateway running from the start of the machine on, and how it is stopped.
//
// Task Scheduler starts a program at boot, but does not look at how it ended: a crash counts as success, and a new try
// comes after a minute at the earliest. So the task runs a few lines of its own (`gateway.cmd`) that start the gateway
// again at once after 75 and after a breath when it crashed, and leave it down after 0, which is what it reports on
// Windows when it must not be started again. They are one statement, which the system has read whole before it begins:
// the file may be replaced while it runs.
//
// Nothing on Windows can ask a process to end. `schtasks /End` kills, so it comes last: first the marker, which the
// gateway watches, then patience. `/End` comes before any force all the same, or the task would start the next one.

import { win32 } from "node:path";
import { sentenceOf } from "../core/fault.ts";
import { type Run, run as runProgram } from "../host/command.ts";
import {
  type EndRequest,
  type Ended,
  type Lookout,
  endGateway,
  killTree,
  patienceFor,
  systemLookout,
  waitForEnd,
} from "../host/ending.ts";
import type { ProcessIdentity } from "../host/identity.ts";
import type { Answer, Command, Place, Service, ServiceFile, ServiceState } from "./kinds.ts";

/** What Windows gives a process that has a window: the same as any other program, not less, as tasks get otherwise. */
const normalPriority = 5;

export function taskXml({ home, name, user }: Place, script: string): string {
  const folder = win32.dirname(script);
  const on = (tag: string, value: string | number | boolean) => `    <${tag}>${escaped(String(value))}</${tag}>`;
  return lines([
    // The system takes the file for what it says it is in: UTF-16, with its mark.
    '\ufeff<?xml version="1.0" encoding="UTF-16"?>',
    '<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">',
    "  <RegistrationInfo>",
    on("Description", `Everturn gateway (${home}). Made by \`everturn gateway install\`.`),
    on("URI", `\\${name}`),
    "  </RegistrationInfo>",
    "  <Triggers>",
    "    <BootTrigger>",
    "      <Enabled>true</Enabled>",
    "    </BootTrigger>",
    "  </Triggers>",
    "  <Principals>",
    '    <Principal id="Author">',
    `      <UserId>${escaped(user.name)}</UserId>`,
    // As this user, whether logged on or not, and without a stored password.
    "      <LogonType>S4U</LogonType>",
    "      <RunLevel>LeastPrivilege</RunLevel>",
    "    </Principal>",
    "  </Principals>",
    "  <Settings>",
    on("MultipleInstancesPolicy", "IgnoreNew"),
    on("DisallowStartIfOnBatteries", false),
    on("StopIfGoingOnBatteries", false),
    on("AllowHardTerminate", true),
    on("StartWhenAvailable", true),
    on("RunOnlyIfNetworkAvailable", false),
    "    <IdleSettings>",
    "      <StopOnIdleEnd>false</StopOnIdleEnd>",
    "      <RestartOnIdle>false</RestartOnIdle>",
    "    </IdleSettings>",
    on("AllowStartOnDemand", true),
    on("Enabled", true),
    on("Hidden", false),
    on("RunOnlyIfIdle", false),
    on("WakeToRun", false),
    // No limit; without this a task is killed after three days.
    on("ExecutionTimeLimit", "PT0S"),
    on("Priority", normalPriority),
    "    <RestartOnFailure>",
    "      <Interval>PT1M</Interval>",
    "      <Count>999</Count>",
    "    </RestartOnFailure>",
    "  </Settings>",
    '  <Actions Context="Author">',
    "    <Exec>",
    "      <Command>%SystemRoot%\\System32\\cmd.exe</Command>",
    `      <Arguments>${escaped(`/d /s /c ""${script}""`)}</Arguments>`,
    `      <WorkingDirectory>${escaped(folder)}</WorkingDirectory>`,
    "    </Exec>",
    "  </Actions>",
    "</Task>",
  ]);
}

/** One second; the usual commands for it want a console. */
const breath = "ping -n 2 127.0.0.1 >nul";

/** It lies in a folder of the home, and finds the home from there: a name is safest where it need not be written. */
export function taskScript({ node, main, passOn }: Place): string {
  const variables = { ...passOn, EVERTURN_SUPERVISOR: "task" };
  return lines([
    "@echo off",
    "rem Made by `everturn gateway install`.",
    "chcp 65001 >nul",
    "setlocal DisableDelayedExpansion",
    ...Object.entries(variables).map(([name, value]) => `set "${name}=${literal(value)}"`),
    'for %%h in ("%~dp0..") do set "EVERTURN_HOME=%%~fh"',
    // For ever; what it says before it has a log of its own is in task.log, of the last start.
    "for /L %%n in (0,0,1) do (",
    `  "${literal(node)}" "${literal(main)}" gateway run >"%~dp0task.log" 2>&1 <nul`,
    "  if not errorlevel 1 if errorlevel 0 exit 0",
    `  if errorlevel 76 (${breath}) else if not errorlevel 75 (${breath})`,
    ")",
  ]);
}

export function windowsService(place: Place): Service {
  const { home, name } = place;
  const folder = win32.join(home, "task");
  const [xml, script] = [win32.join(folder, "task.xml"), win32.join(folder, "gateway.cmd")];
  const schtasks = (what: string, ...words: readonly string[]): Command => ({ program: "schtasks", words, what });
  const task = ["/TN", name] as const;
  const end = { ...schtasks("end the task", "/End", ...task), mayFail: true };
  const begin = schtasks("start the task", "/Run", ...task);
  const files: readonly ServiceFile[] = [
    { path: xml, text: taskXml(place, script), mode: 0o644, encoding: "utf16le" },
    { path: script, text: taskScript(place), mode: 0o644 },
  ];
  return {
    kind: "windows",
    label: name,
    title: `the scheduled task ${name}`,
    files: () => files,
    check: [schtasks("reach the Task Scheduler", "/?")],
    install: [schtasks("register the task", "/Create", ...task, "/XML", xml, "/F"), begin],
    uninstall: [end, schtasks("remove the task", "/Delete", ...task, "/F")],
    folder,
    forget: [],
    start: [begin],
    // Kills what still runs; `stopTask` has the order in which that is right.
    stop: [end],
    // The scheduler has nothing to pass on: the gateway is asked itself, and its 75 starts the next one.
    restart: [],
    status: schtasks("ask about the task", "/Query", ...task, "/V", "/FO", "CSV", "/NH"),
    stateIn: taskState,
  };
}

/** Results that are states of the task: it runs now; it never ran; somebody ended it. */
const running = 267_009;
const notRunning: readonly number[] = [0, 267_008, 267_011, 267_014];

/** Its state is a word in the user's language, but its last result is a number everywhere: the seventh value. */
export function taskState({ code, out }: Answer): ServiceState {
  if (code !== 0) return code === 1 ? "missing" : "unknown";
  const values = [...out.matchAll(/"((?:[^"]|"")*)"(?:,|\r?$)/gm)].map(([, value]) => value ?? "");
  const result = Number(values[6] || Number.NaN);
  if (Number.isNaN(result)) return "unknown";
  if (result === running) return "running";
  return notRunning.includes(result) ? "stopped" : "failed";
}

// ------------------------------------------------------------------------------------------------------ stopping it

export type StopStep =
  | "end-task"
  /** What might be left of it is asked to close. */
  | "sweep"
  /** It is ended with everything it started. */
  | "kill-tree";

/** What follows when the marker was written and waited for. Only a gateway that outlived the patience meets force. */
export function decideStop(waited: Ended["type"]): readonly StopStep[] {
  switch (waited) {
    case "moved":
      // Whoever serves now is stopped in its turn.
      return [];
    case "absent":
      return ["end-task"];
    case "ended":
      return ["end-task", "sweep"];
    case "forced":
    case "survived":
      return ["end-task", "kill-tree"];
  }
}

export type TaskStop = Pick<EndRequest, "writeMarker" | "isStill" | "onTick" | "onTrouble"> & {
  readonly label: string;
  /** Null when no gateway runs. */
  readonly target: ProcessIdentity | null;
  readonly drainSeconds: number;
};

const programMs = 30_000;
const afterForceMs = 5_000;

/** Stops the gateway of a task; the answer says how it ended. Nothing that fails on the way ends the attempt. */
export async function stopTask(
  stop: TaskStop,
  run: Run = runProgram,
  lookout: Lookout = systemLookout,
): Promise<Ended> {
  const { target, label, drainSeconds } = stop;
  const steps: Readonly<Record<StopStep, (pid: number) => Promise<unknown>>> = {
    // A task that does not run any more says so by failing, and so does a sweep that finds nobody.
    "end-task": () => run("schtasks", ["/End", "/TN", label], programMs),
    sweep: (pid) => run("taskkill", gently(pid), programMs),
    "kill-tree": (pid) => killTree(pid, run).catch((error: unknown) => stop.onTrouble?.(sentenceOf(error))),
  };
  const marked = { ...stop, patienceMs: patienceFor(drainSeconds), ask: null, force: null };
  const waited: Ended = target === null ? { type: "absent" } : await endGateway({ ...marked, target }, lookout);
  for (const step of decideStop(waited.type)) await steps[step](target?.pid ?? 0);
  if (target === null || waited.type !== "survived") return waited;
  return (await waitForEnd(target, afterForceMs, lookout)) ? { ...waited, type: "forced" } : waited;
}

/** By number and name: the number of a process that is gone may be another program's by now. */
function gently(pid: number): readonly string[] {
  return ["/T", "/FI", `PID eq ${pid}`, "/FI", "IMAGENAME eq node.exe"];
}

// ------------------------------------------------------------------------------------------------------------ texts

function lines(all: readonly string[]): string {
  return `${all.join("\r\n")}\r\n`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

/** In a script a percent sign begins a variable, and a line ends where it ends. */
function literal(text: string): string {
  return text.replaceAll("%", "%%").replaceAll(/[\r\n]+/g, " ");
}
