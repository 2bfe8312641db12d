// The snapshot at the moment a stop is asked: who we are, who asked, how busy the machine is, what the markers say.
// At once and without a subprocess, because it stands before everything else that a stop does; and it never throws:
// what cannot be looked at is noted as unknown.

import { readFileSync } from "node:fs";
import { constants, loadavg } from "node:os";
import { sentenceOf } from "../../core/fault.ts";
import { type MarkerFacts, type ParentFacts, type Snapshot, signalName, signalNumber } from "../../core/forensics.ts";
import type { ProcessIdentity } from "../identity.ts";
import { type MarkerFiles, judgeMarker, readMarkerNow } from "../markers.ts";

export type SnapshotFacts = {
  /** As it came: a name, a number, or null where no signal asked. */
  readonly signal: unknown;
  readonly self: ProcessIdentity;
  readonly markerFiles: MarkerFiles;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly parentPid?: number;
  /** The parent is our own foreground process, which only waits for this one: who started that is the parent. */
  readonly isAttended?: boolean;
  readonly platform?: NodeJS.Platform;
  readonly now?: () => number;
  readonly monotonic?: () => number;
  /** Where the system tells about processes. */
  readonly proc?: string;
};

/** As much of a command line as says what it is. */
const cmdlineMax = 300;

export function takeSnapshot(facts: SnapshotFacts): Snapshot {
  const { signal, self, env, platform = process.platform, proc = "/proc" } = facts;
  const unknown: string[] = [];
  const attempt = <T>(what: string, otherwise: T, look: () => T): T => {
    try {
      return look();
    } catch (error) {
      unknown.push(`${what}: ${sentenceOf(error)}`);
      return otherwise;
    }
  };
  const at = attempt("time", 0, facts.now ?? Date.now);
  const direct = attempt("parent", 0, () => facts.parentPid ?? process.ppid);
  const parentPid =
    facts.isAttended === true ? attempt("parent", direct, () => parentOf(direct, platform, proc, env)) : direct;
  const parent: ParentFacts =
    platform === "linux"
      ? {
          pid: parentPid,
          name: attempt("parent's name", null, () => readFileSync(`${proc}/${parentPid}/comm`, "utf8").trim()),
          cmdline: attempt("parent's command line", null, () => cmdlineOf(proc, parentPid)),
        }
      : { pid: parentPid, name: null, cmdline: null };
  const invocation = attempt("environment", null, () => env["INVOCATION_ID"] || null);
  const marker = (kind: keyof MarkerFiles) => () => markerFacts(facts.markerFiles[kind], self, at);
  return {
    signal: signalName(signal, constants.signals),
    signal_num: signalNumber(signal, constants.signals),
    pid: self.pid,
    at,
    monotonic: attempt("monotonic time", 0, facts.monotonic ?? (() => performance.now())),
    parent,
    // In a container the first process is often something else.
    under_systemd: invocation !== null || (parent.pid === 1 && parent.name === "systemd"),
    systemd_invocation_id: invocation,
    loadavg_1m: platform === "win32" ? null : attempt("load", null, () => loadavg()[0] ?? null),
    tracer_pid: platform === "linux" ? attempt("tracer", null, () => tracerIn(proc)) : null,
    planned_stop_marker: attempt("planned-stop marker", null, marker("plannedStop")),
    takeover_marker: attempt("take-over marker", null, marker("takeOver")),
    unknown,
  };
}

/** Where the system does not tell, as the foreground process saw it at its start. */
function parentOf(pid: number, platform: NodeJS.Platform, proc: string, env: SnapshotFacts["env"]): number {
  const told =
    platform === "linux"
      ? /^PPid:\s*(\d+)/m.exec(readFileSync(`${proc}/${pid}/status`, "utf8"))?.[1]
      : env["EVERTURN_PARENT"];
  if (told === undefined || !/^\d{1,10}$/.test(told)) throw new Error("the foreground process did not tell its own");
  return Number(told);
}

function cmdlineOf(proc: string, pid: number): string {
  const words = readFileSync(`${proc}/${pid}/cmdline`, "utf8").split("\0").filter(Boolean);
  // Cut between words: half of a secret would not be recognized as one.
  let length = 0;
  const shown = words.filter((word) => (length += word.length + 1) <= cmdlineMax);
  return shown.length === words.length ? words.join(" ") : `${shown.join(" ")} …`.trim();
}

function tracerIn(proc: string): number | null {
  const found = /^TracerPid:\s*(\d+)/m.exec(readFileSync(`${proc}/self/status`, "utf8"));
  return found === null ? null : Number(found[1]);
}

function markerFacts(path: string, self: ProcessIdentity, now: number): MarkerFacts | null {
  const found = readMarkerNow(path);
  if (found.type === "absent") return null;
  const content = found.type === "found" ? found.content : (found.text?.slice(0, 1_000) ?? found.why);
  return { content, for_self: judgeMarker(found, self, now) === "self" };
}
