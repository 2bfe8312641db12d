// The commands about the gateway itself, as data.

import { type Command, type Option, json } from "../options.ts";

const trial: Readonly<Record<string, Option>> = {
  "dry-run": { type: "boolean", summary: "only print every file and command" },
};

export const gatewayCommands: readonly Command[] = [
  {
    words: ["gateway", "run"],
    takes: [],
    summary: "run the gateway here until it is stopped (Ctrl-C)",
    options: { replace: { type: "boolean", summary: "take over from a gateway that already serves this home" } },
    load: async () => (await import("./run.ts")).run,
  },
  {
    words: ["gateway", "start"],
    takes: [],
    summary: "start the gateway in the background, through its service if one is installed",
    options: json,
    load: async () => (await import("./start.ts")).start,
  },
  {
    words: ["gateway", "stop"],
    takes: [],
    summary: "stop the gateway and show what is still being done; what is unfinished goes on at the next start",
    options: json,
    load: async () => (await import("./stop.ts")).stop,
  },
  {
    words: ["gateway", "restart"],
    takes: [],
    summary: "stop the gateway and start it again; running turns go on afterwards",
    options: json,
    load: async () => (await import("./restart.ts")).restart,
  },
  {
    words: ["gateway", "resume"],
    takes: [],
    summary: "leave safe mode, in which a gateway waits that died too often before it was ready",
    options: json,
    load: async () => (await import("./resume.ts")).resume,
  },
  {
    words: ["gateway", "status"],
    takes: [],
    summary: "what the running gateway does, and the link to its web chat",
    options: {
      ...json,
      deep: { type: "boolean", summary: "look at platforms, store, disk, lock, markers and service as well" },
    },
    load: async () => (await import("./status.ts")).status,
  },
  {
    words: ["gateway", "install"],
    takes: [],
    summary: "have this system's supervisor keep the gateway running (systemd, launchd, s6, Windows)",
    options: {
      ...json,
      ...trial,
      force: { type: "boolean", summary: "replace an installed service that differs from what this version writes" },
      system: { type: "boolean", summary: "for the whole system, started with the machine; as its administrator" },
      "allow-root": { type: "boolean", summary: "also where the gateway would run as root" },
    },
    load: async () => (await import("../commands/install.ts")).install,
  },
  {
    words: ["gateway", "uninstall"],
    takes: [],
    summary: "stop the gateway and remove its service; the home stays as it is",
    options: { ...json, ...trial, system: { type: "boolean", summary: "the one for the whole system" } },
    load: async () => (await import("../commands/install.ts")).uninstall,
  },
  {
    words: ["gateway", "autostart"],
    takes: [],
    summary: "at the start of a container with s6: prepare the service, up or down as it was wanted last",
    options: {
      ...json,
      s6: {
        type: "string",
        value: "folder",
        summary: "the folder that s6 scans, instead of EVERTURN_S6_SCAN or /run/service",
      },
      first: { type: "boolean", summary: "start it also when this home was never served before" },
    },
    load: async () => (await import("../commands/install.ts")).autostart,
  },
];
