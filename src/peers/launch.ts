// Prepares the start of a program that serves one person: its folders, its grant, and the sandbox around it. A program has
// a HOME of its own that stays, and starts in the workspace of the person, or in a folder of its own that the person's tools
// can read. A shared one sees an empty folder instead of a workspace.

import type { ChildProcess, SpawnOptions } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { mkdir, realpath } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { Fault } from "../core/fault.ts";
import type { Grant, PathGrant } from "../core/grant.ts";
import { type Requester, ownerPerson } from "../core/requester.ts";
import { workspaceName } from "../core/workspace.ts";
import type { Sandbox, SandboxState } from "../ports/sandbox.ts";
import type { Workspace } from "../ports/workspaces.ts";
import { type PeerProgram, commandFor, harmless, pathRefusal, startsApart } from "./program.ts";

export type PeerHost = {
  readonly sandbox: Sandbox;
  /** Starts a program in a group of its own that a stop of the gateway ends. */
  readonly spawn: (program: string, words: readonly string[], options: SpawnOptions) => ChildProcess;
  /** What programs may see of the gateway's environment where there is no sandbox. */
  readonly environment: Readonly<Record<string, string>>;
  /** The gateway's home. */
  readonly home: string;
  /** Where programs have their own HOME folders. */
  readonly folder: string;
  readonly workspaceFor: (requester: Requester) => Promise<PeerWorkspace>;
};

export type PeerWorkspace = Pick<Workspace, "person" | "folder" | "files">;

/** `workspace` is null for a program that serves everybody and sees none. `files` are visible beside those of its command. */
export type PeerUser = {
  readonly name: string;
  readonly workspace: PeerWorkspace | null;
  readonly files?: readonly string[];
};

export const ownerRequester: Requester = { party: "owner", person: ownerPerson };

/** To be started as it is. */
export type Launch = {
  readonly command: readonly string[];
  /** The program without the sandbox around it. */
  readonly name: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where it works. */
  readonly workspace: string;
  /** It is inside of the sandbox, so it sees no files of conversations. */
  readonly isWalled: boolean;
};

export async function prepareLaunch(host: PeerHost, program: PeerProgram, user: PeerUser): Promise<Launch> {
  const state: SandboxState = await host.sandbox.state();
  if (state.type === "missing") throw new Fault("not-possible", `the sandbox does not work: ${state.why}`);
  const person = user.workspace === null ? "shared" : workspaceName(user.workspace.person);
  const own = join(host.folder, workspaceName(user.name), person);
  const home = await folderAt(join(own, "home"));
  const workspace = user.workspace?.folder ?? (await folderAt(join(own, "empty")));
  const { folder: ownerWorkspace } = await host.workspaceFor(ownerRequester);
  const places = { home: host.home, ownerWorkspace, workspace };
  const command = commandFor(program.command, places, existsSync);
  const { env = {} } = program;
  const name = command[0] ?? "";
  const output = startsApart(program) ? await outputFolder(user, own) : null;
  const cwd = output ?? resolve(workspace, program.cwd ?? ".");
  if (state.type === "off") {
    return { command, name, cwd, env: { ...host.environment, HOME: home, ...env }, workspace, isWalled: false };
  }
  const programs = command.filter(isFile);
  const grant = await grantOf(program, places, output === null ? cwd : workspace);
  const unseen = programs.find((path) => pathRefusal(path, places) !== null);
  if (unseen !== undefined)
    throw new Fault(
      "not-possible",
      `${unseen} lies in the gateway's home, which programs never see. Move it elsewhere.`,
    );
  const walled = await host.sandbox.wrap(toCommand(command), {
    // Its /tmp is not the one of the person's commands, which could otherwise put files into its way.
    person: `${user.name} ${person}`,
    workspace,
    cwd,
    grant,
    home: { folder: home },
    ...(output === null ? {} : { output }),
    programs: [...programs, ...(user.files ?? [])],
    env: { ...harmless(host.environment), ...env },
  });
  // What surrounds the sandbox starts where nothing inside can write.
  const around = { command: [walled.program, ...walled.words], cwd: host.folder, env: walled.env };
  return { ...around, name, workspace, isWalled: true };
}

/** Below the files of the person, whose tools can read it but not write; one that serves everybody has its own. */
function outputFolder({ name, workspace }: PeerUser, own: string): Promise<string> {
  return folderAt(workspace === null ? join(own, "output") : join(workspace.files, workspaceName(name)));
}

function toCommand([program = "", ...words]: readonly string[]): [string, ...string[]] {
  return [program, ...words];
}

/** A folder to start in that is not in the workspace can be read, unless `paths` gives more. */
async function grantOf(
  { hosts = ["*"], paths = [] }: PeerProgram,
  places: { readonly home: string; readonly ownerWorkspace: string; readonly workspace: string },
  cwd: string,
): Promise<Grant> {
  const isCovered = [places.workspace, ...paths.map(({ path }) => path)].some((path) =>
    `${cwd}/`.startsWith(`${path}/`),
  );
  const named: readonly PathGrant[] = isCovered ? paths : [...paths, { path: cwd, access: "read" }];
  const real = await Promise.all(named.map(async ({ path, access }) => ({ path: await realPath(path), access })));
  const { ownerWorkspace } = places;
  const home = await realPath(places.home);
  for (const { path, access } of real) {
    const why = pathRefusal(path, { home, ownerWorkspace });
    if (why !== null) throw new Fault("not-possible", why);
    // A file is written by replacing it, which needs its whole folder.
    if (access === "write" && isFile(path))
      throw new Fault("not-possible", `${path} is a file, and only folders can be written. Name its folder.`);
  }
  return { hosts, paths: real, credentials: [], outside: false };
}

async function realPath(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    throw new Fault("not-found", `${path} does not exist. Make it, or take it out of the configuration.`, error);
  }
}

async function folderAt(path: string): Promise<string> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  return realpath(path);
}

/** Scripts that a command names are visible; folders need a grant. */
export function isFile(word: string): boolean {
  return isAbsolute(word) && statSync(word, { throwIfNoEntry: false })?.isFile() === true;
}
