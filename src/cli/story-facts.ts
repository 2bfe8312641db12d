// What is known about the end of one life of the gateway, as names and sentences: who asked, who its parent was, how long
// each stretch took, what the exit code means, when it was back. Pure.

import { type Boot, type BootStory, type Phase, type StopFacts, lastSeen } from "../core/recovery.ts";
import { clockTime, lasting, oneLine, when } from "./print.ts";

/**
 * `cut-short`: it had begun to stop, and died before it was done. `died`: without any stop. `running`: it still lives.
 */
export type End = "running" | "stopped" | "cut-short" | "died";

/** What the rows themselves cannot tell. */
export type Around = {
  readonly now: number;
  /** The boot that lives, or null. */
  readonly alive: string | null;
  /** Which life of the machine this is. */
  readonly machine: string;
  /** What the state file says about the end of one process, where it could not tell the store any more. */
  readonly lastWord?: { readonly pid: number; readonly reason: string } | null;
};

/** Who wanted it, to go on after a colon. */
export function purpose(stop: StopFacts): string {
  const reason = oneLine(stop.reason);
  switch (stop.by) {
    case "signal": {
      const signal = signalIn(stop) ?? "a signal";
      if (stop.class === "planned") return signal === "SIGINT" ? "Ctrl-C (SIGINT)" : `Ctrl-Break (${signal})`;
      return signal === "SIGUSR1" ? "asked for by SIGUSR1 (a reload)" : `${signal} came`;
    }
    case "marker":
      return stop.class === "take-over" ? "another gateway took over" : "`everturn gateway stop` asked for it";
    case "chat":
      return "asked for in a chat";
    case "tool":
      return "asked for by the agent, through a tool";
    case "cli":
      return `\`everturn gateway ${stop.class === "restart" ? "restart" : "stop"}\` asked for it`;
    case "dashboard":
      return "asked for on the web page";
    case "config":
      return "its configuration was changed";
    case "fault":
      return reason === "" ? "a fault" : reason;
  }
}

export function isAnotherMachineLife(boot: Boot, next: Boot | null, { machine }: Around): boolean {
  return boot.machine !== (next?.machine ?? machine);
}

export type Facts = readonly (readonly [string, string])[];

export function endFacts(boot: Boot, next: Boot | null, end: End, around: Around): Facts {
  const { stop, story } = boot;
  return [
    ...(stop === null ? deathFacts(boot, next, around) : stopFacts(stop)),
    ...runningFacts(stop?.context ?? {}, story.phases ?? []),
    ...evidenceFacts(story),
    ...phaseFacts(story.phases ?? []),
    ...(end === "cut-short"
      ? ([
          [
            "cut short",
            next === null ? "the next start takes up what it held" : "what it held was taken up at the next start",
          ],
        ] as const)
      : []),
    ...(stop !== null && end === "stopped" && !stop.clean
      ? ([["unclean", "not everything was parked in time; it went on from its last stored step"]] as const)
      : []),
    ...(story.exitCode === undefined
      ? []
      : ([["exit code", `${story.exitCode}: ${codeMeaning(story.exitCode, stop)}`]] as const)),
  ];
}

function deathFacts(boot: Boot, next: Boot | null, around: Around): Facts {
  const another = isAnotherMachineLife(boot, next, around);
  const machine = another
    ? "was started again since, so this accuses nobody"
    : "went on running, so the process was killed from outside (kill -9, out of memory) or crashed by itself";
  const until =
    next === null ? "nobody has started it since" : `noticed at the start ${when(next.startedAt, around.now)}`;
  const { lastStep } = boot.story;
  return [
    ...(lastStep === undefined
      ? []
      : ([["last step", `${clockTime(lastStep.at)}: ${lastStep.what} (turn ${lastStep.turn})`]] as const)),
    ["last sign", `${clockTime(boot.beatAt)} by pid ${boot.pid} (one is written every half minute); ${until}`],
    ["machine", machine],
  ];
}

function stopFacts(stop: StopFacts): Facts {
  const context = stop.context ?? {};
  const parent = groupIn(context, "parent");
  const marker = markerText(context);
  const systemd = context["under_systemd"] === true;
  const signal = signalIn(stop);
  const expected = stop.class === "planned" || stop.class === "take-over" || stop.class === "restart";
  return [
    ["who asked", `${purpose(stop)}${stop.by === "fault" ? "" : marker === null ? "" : `; ${marker}`}`],
    ...(signal === null ? [] : ([["signal", signal]] as const)),
    ...(parent === null ? [] : ([["parent", parentText(parent)]] as const)),
    ...(expected || stop.class === "fault" ? [] : ([["likely", likely(signal, systemd)]] as const)),
  ];
}

function likely(signal: string | null, systemd: boolean): string {
  if (systemd)
    return "systemd stopped the service (`systemctl stop` or `restart`, or the machine was going down); its journal says which";
  if (signal === "SIGHUP") return "the terminal it ran in was closed";
  return "another process sent it (`kill`, a supervisor, a container that was stopped); `everturn gateway stop` announces a stop";
}

/** What was being done when it was asked, and what became of it. */
function runningFacts(context: Readonly<Record<string, unknown>>, phases: readonly Phase[]): Facts {
  const drain = phases.find((one) => one.name === "drain")?.facts ?? context;
  const { running, finished, left } = drain;
  if (typeof running !== "number") return [];
  if (running === 0) return [["running", "nothing when it was asked"]];
  const known = typeof finished === "number" && typeof left === "number";
  const fate = known ? `; ${finished} finished in time, ${left} interrupted, to go on at the next start` : "";
  return [["running", `${turns(running)} when it was asked${fate}`]];
}

function markerText(context: Readonly<Record<string, unknown>>): string | null {
  for (const name of ["takeover_marker", "planned_stop_marker"]) {
    const marker = groupIn(context, name);
    if (marker === null || marker["for_self"] !== true) continue;
    const content = groupIn(marker, "content");
    const pid = content?.["replacer_pid"] ?? content?.["stopper_pid"];
    return typeof pid === "number" ? `marker written by pid ${pid}` : "a marker named it";
  }
  return null;
}

function parentText(parent: Readonly<Record<string, unknown>>): string {
  const name = typeof parent["name"] === "string" ? parent["name"] : "unknown";
  const command = typeof parent["cmdline"] === "string" ? `: ${oneLine(parent["cmdline"]).slice(0, 120)}` : "";
  return `${oneLine(name)}, pid ${String(parent["pid"])}${command}`;
}

/** Without the sentence about the last sign of life, which is told in its own place. */
function evidenceFacts({ evidence = [] }: BootStory): Facts {
  const rest = evidence.filter((line) => !line.startsWith("Its last sign of life"));
  return rest.map((line) => ["evidence", oneLine(line)] as const);
}

/** In order; what happened many times, such as once for each session, is told once. */
function phaseFacts(phases: readonly Phase[]): Facts {
  return [...Map.groupBy(phases, (one) => one.name)].flatMap(([name, all]) => {
    const longest = Math.max(...all.map((one) => one.ms));
    if (all.length > alikeMax) return [["phase", `${name} ${all.length} times, at most ${span(longest)}`] as const];
    return all.map(({ ms, facts = {} }) => {
      const details = Object.entries(facts).map(([key, value]) => `${key}=${oneLine(shown(value))}`);
      return ["phase", `${name} ${span(ms)}${details.length === 0 ? "" : ` (${details.join(", ")})`}`] as const;
    });
  });
}

const alikeMax = 4;

export function backFacts(boot: Boot, next: Boot | null, awayMs: number | null, { now }: Around): Facts {
  if (next === null) return [];
  const { tookOver } = next.story;
  const held = tookOver === undefined || tookOver.turns + tookOver.items === 0;
  const took = held ? "" : `; it went on with ${turns(tookOver.turns)} and ${tookOver.items} unsent messages`;
  const away = awayMs === null ? "" : `, nobody listened for ${span(awayMs)}`;
  const since = next.readyAt ?? next.startedAt;
  const moment = next.readyAt === null ? "started, but was never ready," : "ready";
  const late =
    boot.stop === null && next.readyAt !== null ? `, ${span(next.readyAt - lastSeen(boot))} after the last sign` : "";
  return [["next start", `${moment} ${when(since, now)}${away === "" ? late : away}${took}`]];
}

function codeMeaning(code: number, stop: StopFacts | null): string {
  switch (code) {
    case 0:
      if (stop?.class === "restart") return "the next one was already on its way";
      return "stopped as asked; no supervisor starts it again";
    case 1:
      return "a signal that nobody announced; a supervisor starts it again";
    case 70:
      return "a mistake of ours; a supervisor starts it again";
    case 75:
      return "asks its supervisor for a new start";
    case 78:
      return "its configuration is wrong; a new start would not help";
    case 79:
      if (stop?.class === "planned") return "stopped as asked; systemd leaves it down";
      return "replaced; no supervisor starts it again";
    default:
      return "no code of ours";
  }
}

export function signalIn({ context = {} }: StopFacts): string | null {
  const { signal } = context;
  return typeof signal === "string" && signal !== "UNKNOWN" ? oneLine(signal) : null;
}

function groupIn(facts: Readonly<Record<string, unknown>>, key: string): Readonly<Record<string, unknown>> | null {
  const value = facts[key];
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : null;
}

function shown(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

function turns(count: number): string {
  return `${count} turn${count === 1 ? "" : "s"}`;
}

/** Short spans exactly, long ones in their largest unit. */
export function span(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : lasting(ms);
}
