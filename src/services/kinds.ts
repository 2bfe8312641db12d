// What all kinds of services have in common: the supervisor of an operating system keeps one gateway of one home running.
// A Service is plain data: the files it is made of, and the commands that install, start and stop it. Pure. Who writes
// the files and runs the commands is `verbs.ts` and the command line.

import { createHash } from "node:crypto";
import { basename, dirname } from "node:path";
import { Fault } from "../core/fault.ts";

export type Kind = "systemd-user" | "systemd-system" | "launchd" | "launchd-system" | "s6" | "windows";

/** One program to run, never through a shell. */
export type Command = {
  readonly program: string;
  readonly words: readonly string[];
  /** What it is for, to go on after "cannot" or "to": `start the service`. */
  readonly what: string;
  /** Its failure is no failure of the whole, such as removing what is not there. */
  readonly mayFail?: boolean;
};

export type ServiceFile = {
  readonly path: string;
  readonly text: string;
  readonly mode: number;
  /** UTF-8 unless said otherwise. */
  readonly encoding?: "utf16le";
};

/** Whose gateway it is and how it is started: all that the texts and commands depend on, but for the drain. */
export type Place = {
  /** The home folder of the gateway, absolute. */
  readonly home: string;
  /** As `nameOf` gives it: one service for each home. */
  readonly name: string;
  /** The Node binary and the main file, absolute; named directly, so that a start costs no launcher and no shell. */
  readonly node: string;
  readonly main: string;
  /** Variables that a start outside of the user's shell would miss, such as NODE_EXTRA_CA_CERTS. */
  readonly passOn: Readonly<Record<string, string>>;
  readonly user: {
    readonly name: string;
    /** Null on Windows. */
    readonly uid: number | null;
    /** The user's own folder. */
    readonly home: string;
  };
};

/** `missing`: the supervisor does not know it, though its files may be there. */
export type ServiceState = "running" | "stopped" | "failed" | "missing" | "unknown";

export type Answer = { readonly code: number; readonly out: string; readonly err: string };

/** What the files of a service take from the configuration. */
export type ServiceNeeds = {
  readonly drainSeconds: number;
  /** Tools may gain privileges of the system, so nothing may keep them from it. */
  readonly needsPrivileges?: boolean;
  /** `agent.tools.workspace`, from the home on. */
  readonly workspace?: string;
};

/** Where only the names of the files matter. */
export const noNeeds: ServiceNeeds = { drainSeconds: 0 };

export type Service = {
  readonly kind: Kind;
  /** The name the supervisor knows it by: `everturn.service`, `dev.everturn.gateway`, a folder, a task. */
  readonly label: string;
  /** For people: `the systemd user service everturn.service`. */
  readonly title: string;
  /** The first is the one whose presence means that it is installed. Nothing else may depend on the configuration. */
  files(needs: ServiceNeeds): readonly ServiceFile[];
  /** What must succeed before anything is written: can the supervisor be reached at all? */
  readonly check: readonly Command[];
  /** After the files are written; starts it as well. */
  readonly install: readonly Command[];
  /** `install` makes a running one take up changed files; elsewhere that takes a `restart`. */
  readonly installLoadsAnew?: true;
  /** Before the files are removed. The gateway must have been asked to stop already (marker, desired state). */
  readonly uninstall: readonly Command[];
  /** A folder of which nothing is left when it is removed, where it has one of its own. */
  readonly folder?: string;
  /** After the files are removed. */
  readonly forget: readonly Command[];
  readonly start: readonly Command[];
  /** After marker and desired state are written; ends when the gateway has ended, or at once: the caller looks itself. */
  readonly stop: readonly Command[];
  /** Asks the gateway itself for a planned restart where the supervisor can pass that on; may end before it is back. */
  readonly restart: readonly Command[];
  readonly status: Command;
  /** What the answer to `status` means. */
  stateIn(answer: Answer): ServiceState;
};

/** How long a supervisor waits between asking for a stop and killing; everybody outside derives from the same drain. */
export function stopSeconds(drainSeconds: number): number {
  return Math.ceil(Math.max(60, drainSeconds)) + 30;
}

/** `everturn` for the home that is used when none is chosen, else a name that says which and belongs to it alone. */
export function nameOf(home: string, usualHome: string | null): string {
  if (home === usualHome) return "everturn";
  // `.everturn` says nothing that the name does not; whose it is does.
  const own = plainWord(basename(home));
  const word = own === "everturn" ? plainWord(basename(dirname(home))) : own;
  const mark = createHash("sha256").update(home).digest("hex").slice(0, 8);
  return ["everturn", word, mark].filter((part) => part !== "").join("-");
}

function plainWord(text: string): string {
  const plain = text.toLowerCase().replaceAll(/[^a-z0-9]+/g, "-");
  return plain.slice(0, 24).replaceAll(/^-+|-+$/g, "");
}

/** No supervisor's file can hold a line break, and nobody means one in a path. */
export function refuseControlCharacters({ home, node, main, passOn }: Place): void {
  const wrong = [home, node, main, ...Object.values(passOn)].find((text) => /\p{Cc}/u.test(text));
  if (wrong !== undefined)
    throw new Fault(
      "not-possible",
      `A service cannot be made of ${JSON.stringify(wrong)}, because there is a control character in it. Choose another path.`,
    );
}
