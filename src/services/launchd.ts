// The property list of launchd on macOS, for a user or for the whole system, and the commands that go with it. Pure.
// launchd knows no list of exit codes: it starts the gateway again after every end that was not 0. So the gateway reports
// 0 there when it must stay down, and 75 when it asks for a new start.

import { join } from "node:path";
import { type Answer, type Command, type Place, type Service, type ServiceState, stopSeconds } from "./kinds.ts";
import type { Scope } from "./systemd.ts";

type Value = string | number | boolean | readonly string[] | { readonly [key: string]: Value };

export function launchdLabel(name: string): string {
  return name.replace(/^everturn/, "dev.everturn.gateway").replace(/^(dev\.everturn\.gateway)-/, "$1.");
}

export function launchdList(place: Place, scope: Scope, drainSeconds: number): string {
  const { home, node, main, passOn, user, name } = place;
  const output = join(home, "logs", "launchd.log");
  const values: Record<string, Value> = {
    Label: launchdLabel(name),
    ProgramArguments: [node, main, "gateway", "run"],
    EnvironmentVariables: { EVERTURN_HOME: home, EVERTURN_SUPERVISOR: "launchd", ...passOn },
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    // It waits ten seconds between two starts otherwise.
    ThrottleInterval: 1,
    ExitTimeOut: stopSeconds(drainSeconds),
    StandardOutPath: output,
    StandardErrorPath: output,
    // Its bits in decimal, 077: what is made is for this user only.
    Umask: 63,
    ...(scope === "system" ? { UserName: user.name } : {}),
  };
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">',
    "<!-- Written by `everturn gateway install`; with the option force it is written anew. -->",
    '<plist version="1.0">',
    ...written(values, ""),
    "</plist>",
    "",
  ].join("\n");
}

function written(value: Value, indent: string): readonly string[] {
  const deeper = `${indent}  `;
  if (typeof value === "string") return [`${indent}<string>${escaped(value)}</string>`];
  if (typeof value === "number") return [`${indent}<integer>${value}</integer>`];
  if (typeof value === "boolean") return [`${indent}<${value}/>`];
  if (isList(value)) return [`${indent}<array>`, ...value.flatMap((one) => written(one, deeper)), `${indent}</array>`];
  const pairs = Object.entries(value).flatMap(([key, one]) => [
    `${deeper}<key>${escaped(key)}</key>`,
    ...written(one, deeper),
  ]);
  return [`${indent}<dict>`, ...pairs, `${indent}</dict>`];
}

function isList(value: Value): value is readonly string[] {
  return Array.isArray(value);
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

export function launchdService(place: Place, scope: Scope, listFolder: string): Service {
  const label = launchdLabel(place.name);
  const path = join(listFolder, `${label}.plist`);
  const domain = scope === "system" ? "system" : `gui/${place.user.uid ?? 0}`;
  const target = `${domain}/${label}`;
  const launchctl = (what: string, ...words: readonly string[]): Command => ({ program: "launchctl", words, what });
  const unload = launchctl("stop the service", "bootout", target);
  const load = [
    launchctl("have the service started with the system", "enable", target),
    launchctl("start the service", "bootstrap", domain, path),
  ];
  return {
    kind: scope === "system" ? "launchd-system" : "launchd",
    label,
    title: `the launchd ${scope === "system" ? "daemon" : "agent"} ${label}`,
    files: ({ drainSeconds }) => [{ path, text: launchdList(place, scope, drainSeconds), mode: 0o644 }],
    check: [launchctl("reach launchd", "print", domain)],
    // What is loaded already is not read again.
    install: [{ ...unload, mayFail: true }, ...load],
    installLoadsAnew: true,
    uninstall: [{ ...unload, mayFail: true }],
    forget: [],
    // Loading what is loaded fails and changes nothing; then it only has to be started.
    start: [...load.map((one) => ({ ...one, mayFail: true })), launchctl("start the service", "kickstart", target)],
    stop: [unload],
    restart: [launchctl("restart the service", "kill", "SIGUSR1", target)],
    status: launchctl("ask about the service", "print", target),
    stateIn: launchdState,
  };
}

export function launchdState({ code, out }: Answer): ServiceState {
  // 113: could not find the service in that domain.
  if (code === 113) return "missing";
  if (code !== 0) return "unknown";
  const state = /^\s*state = (.+)$/m.exec(out)?.[1];
  if (state === undefined) return "unknown";
  return state === "running" ? "running" : "stopped";
}
