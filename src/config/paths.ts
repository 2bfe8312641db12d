// Where everything lives below the home folder. Pure: the environment and the folders of the user are given.
// Must not touch the disk: who makes or opens a file is decided elsewhere.

import { isAbsolute, join, resolve } from "node:path";
import { Fault } from "../core/fault.ts";

export type Paths = {
  readonly home: string;
  readonly config: string;
  /** Secrets, as NAME=value lines. */
  readonly env: string;
  readonly store: string;
  /** Held by the operating system; must never be opened with `fs`, which would drop the lock. */
  readonly lock: string;
  readonly state: string;
  readonly token: string;
  /** Markers that others leave for the gateway, and one it leaves for its next life. */
  readonly plannedStop: string;
  readonly takeOver: string;
  readonly restartPending: string;
  /** Left by an older gateway; only read. */
  readonly failureCounts: string;
  readonly files: string;
  /** The workspace of owner and admins, unless another folder is configured. */
  readonly workspace: string;
  /** Those of all other people, groups and API keys, a folder each. */
  readonly workspaces: string;
  /** The files of conversations as tools read them, a folder for each person. */
  readonly attachments: string;
  /** Commands that outlive the gateway, a folder each. */
  readonly jobs: string;
  /** Where MCP servers and ACP agents have their own HOME, a folder for each of them and each person. */
  readonly peers: string;
  /** What tools note about writes under way. */
  readonly notes: string;
  readonly logs: string;
};

export type HomeHints = {
  /** Chosen on the command line; wins over the environment. */
  readonly home?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The user's own folder, or null where the system does not know one. */
  readonly userHome: string | null;
  readonly cwd: string;
};

/** The home folder: the one chosen, else EVERTURN_HOME, else `~/.everturn`. */
export function findHome(hints: HomeHints): string {
  const chosen = hints.home ?? hints.env["EVERTURN_HOME"] ?? "";
  if (chosen !== "" && !/^~(?=$|[/\\])/.test(chosen))
    return isAbsolute(chosen) ? resolve(chosen) : resolve(hints.cwd, chosen);
  if (hints.userHome === null || hints.userHome === "")
    throw new Fault(
      "home-unusable",
      "The system knows no home folder for this user; set EVERTURN_HOME to a folder to use.",
    );
  // A shell replaces ~ by itself, a unit file or .env does not.
  return chosen === "" ? join(hints.userHome, ".everturn") : join(hints.userHome, chosen.slice(1));
}

export function pathsIn(home: string): Paths {
  return {
    home,
    config: join(home, "config.yaml"),
    env: join(home, ".env"),
    store: join(home, "state.db"),
    lock: join(home, "gateway.lock"),
    state: join(home, "gateway_state.json"),
    token: join(home, "control.token"),
    plannedStop: join(home, ".gateway-planned-stop.json"),
    takeOver: join(home, ".gateway-takeover.json"),
    restartPending: join(home, ".restart_pending.json"),
    failureCounts: join(home, ".restart_failure_counts"),
    files: join(home, "files"),
    workspace: join(home, "workspace"),
    workspaces: join(home, "workspaces"),
    attachments: join(home, "attachments"),
    jobs: join(home, "jobs"),
    peers: join(home, "peers"),
    notes: join(home, "notes"),
    logs: join(home, "logs"),
  };
}

/** The log and the index that SQLite may keep beside a database; without them a database may lack its newest changes. */
export function besideStore(file: string): readonly string[] {
  return [`${file}-wal`, `${file}-shm`];
}

/** What must be a file and what a folder, where it is there, and what a gateway does with it. */
export function partsOf(paths: Paths): readonly {
  readonly path: string;
  readonly kind: "file" | "folder";
  readonly use: "read" | "write";
}[] {
  const { home, logs, files, workspace, config, env, store, lock, state, token } = paths;
  return [
    ...[home, logs].map((path) => ({ path, kind: "folder", use: "write" }) as const),
    ...[files, workspace].map((path) => ({ path, kind: "folder", use: "read" }) as const),
    ...[config, env].map((path) => ({ path, kind: "file", use: "read" }) as const),
    ...[store, lock, state, token].map((path) => ({ path, kind: "file", use: "write" }) as const),
  ];
}
