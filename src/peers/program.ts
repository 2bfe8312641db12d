// A program that the configuration names: what it is started as, and its grant. Pure.

import { basename, resolve, sep } from "node:path";
import type { PathGrant } from "../core/grant.ts";
import type { Party } from "../core/requester.ts";
import type { SandboxState } from "../ports/sandbox.ts";

export type PeerProgram = {
  /** The program and its arguments. */
  readonly command: readonly string[];
  /** Variables for it alone, beside a harmless base. */
  readonly env?: Readonly<Record<string, string>>;
  /** From the workspace on; see `startsApart` for where it is absent. */
  readonly cwd?: string;
  /** Hosts it may reach, as in `Grant.hosts`; every public host where it is absent. */
  readonly hosts?: readonly string[];
  /** What it sees beside the workspace; absolute. */
  readonly paths?: readonly PathGrant[];
  /** Without a sandbox it also serves people who are neither owner nor admins. */
  readonly unsafe?: boolean;
};

/** Why a program may not serve this requester; null when it may. `what` names it: "the MCP server github". */
export function refusalFor(
  state: SandboxState,
  party: Party,
  { unsafe = false }: Pick<PeerProgram, "unsafe">,
  what: string,
): string | null {
  switch (state.type) {
    case "on":
      return null;
    case "missing":
      return `${what} is not started, because the sandbox does not work: ${state.why}`;
    case "off":
      if (party !== "person" || unsafe) return null;
      return `${what} runs without a sandbox here, so only the owner and admins can use it`;
  }
}

/**
 * Many programs run what lies in the folder they start in: npx, python, make. What its person writes into the workspace
 * must not run with secrets and paths that only the program has, so such a one starts in a folder that only it writes.
 */
export function startsApart({ cwd, env = {}, paths = [] }: PeerProgram): boolean {
  return cwd === undefined && Object.keys(env).length + paths.length > 0;
}

export type ProgramPlaces = {
  /** The gateway's home: relative paths in a command are written from there. */
  readonly home: string;
  /** The workspace of owner and admins, and that of the person whom the program serves. */
  readonly ownerWorkspace: string;
  readonly workspace: string;
};

/**
 * The program starts in a workspace, so words like `./server.js` become absolute where the home has such a file. The owner's
 * workspace in a command means the workspace of the person it serves.
 */
export function commandFor(
  command: readonly string[],
  { home, ownerWorkspace, workspace }: ProgramPlaces,
  exists: (path: string) => boolean,
): readonly string[] {
  return command.map((word, i) => {
    const isRelative = /^\.{1,2}[/\\]/.test(word) || (i === 0 && /[/\\]/.test(word));
    const full = isRelative ? resolve(home, word) : word;
    if (full === ownerWorkspace) return workspace;
    return isRelative && exists(full) ? full : word;
  });
}

/** Why a path cannot be granted: the gateway's own files are out of reach whatever the configuration says. */
export function pathRefusal(path: string, { home, ownerWorkspace }: Omit<ProgramPlaces, "workspace">): string | null {
  const isInWorkspace = isBelow(ownerWorkspace, home) && isBelow(path, ownerWorkspace);
  const how = isBelow(home, path) ? "contains" : isBelow(path, home) && !isInWorkspace ? "lies in" : null;
  if (how === null) return null;
  return `${path} ${how} the gateway's home ${home}, which programs never see. Name a folder elsewhere.`;
}

/** The same, or somewhere below. */
function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}

/** As people call it: the last part of its path. */
export function programName([program = "program"]: readonly string[]): string {
  return basename(program) || program;
}

/** The part of a gateway's environment that says nothing about its user. */
export function harmless(environment: Readonly<Record<string, string>>): Record<string, string> {
  const base = /^(?:PATH|LANG|LANGUAGE|LC_[A-Z]+|TZ|TERM|PAGER|GIT_PAGER|GIT_TERMINAL_PROMPT|DEBIAN_FRONTEND)$/;
  return Object.fromEntries(Object.entries(environment).filter(([name]) => base.test(name)));
}
