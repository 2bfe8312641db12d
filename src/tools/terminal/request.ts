// What a call of the terminal asks for, with everything that must be looked up before it is judged: where paths really
// lead, which hosts the remotes of a repository have, how scripts read now. Remotes are read by git inside the sandbox,
// because a repository can name programs that git runs.

import { execFile } from "node:child_process";
import { lstat, mkdir, realpath } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { Fault } from "../../core/fault.ts";
import { type CredentialGrant, type Grant, type PathGrant, noGrant } from "../../core/grant.ts";
import type { SandboxState } from "../../ports/sandbox.ts";
import type { VetContext } from "../../ports/tool.ts";
import {
  type CommandRequest,
  type Needs,
  type PathNeed,
  decidePath,
  isInside,
  isVisible,
  needWhy,
  needsOf,
  remoteNeeds,
} from "../policy/index.ts";
import type { TerminalOptions } from "./options.ts";
import { scriptDigests } from "./scripts.ts";

export type CommandInput = {
  readonly command: string;
  readonly cwd?: string | undefined;
  readonly background?: boolean | undefined;
  readonly hosts?: readonly string[] | undefined;
  readonly paths?: readonly PathGrant[] | undefined;
  readonly credentials?: boolean | undefined;
  readonly outside?: boolean | undefined;
};

export type Folders = {
  /** With links resolved. */
  readonly workspace: string;
  readonly home: string;
  readonly userHome: string | null;
  readonly cwd: string;
};

export async function foldersOf({ cwd }: CommandInput, options: TerminalOptions, isWalled: boolean): Promise<Folders> {
  await mkdir(options.workspace, { recursive: true });
  const { workspace, home, userHome } = options;
  const typed = resolve(workspace, cwd ?? ".");
  const real = await resolved(workspace);
  // The sandbox has a /tmp of its own, so what is there cannot be seen from here.
  const isTheirs = isWalled && !isInside(typed, workspace) && isVisible(typed, "write", real);
  if (!isTheirs && (await kindOf(typed)) !== "folder")
    throw new Fault("not-found", `There is no folder ${typed} to run it in; relative ones begin in ${workspace}.`);
  return {
    workspace: real,
    home: await resolved(home),
    userHome: userHome === null ? null : await resolved(userHome),
    cwd: isTheirs ? typed : await resolved(typed),
  };
}

/** A refusal is a sentence. */
export async function requestOf(
  input: CommandInput,
  folders: Folders,
  state: SandboxState,
  context: Pick<VetContext, "requester" | "outside">,
  options: TerminalOptions,
): Promise<CommandRequest | string> {
  const { command, background = false } = input;
  const { cwd, workspace } = folders;
  const needs = needsOf(command, folders);
  const isInsider = state.type === "on" && input.outside !== true && needs.outside.length === 0;
  const { person } = context.requester;
  const wanted = isInsider ? await wantedBy(input, needs, folders, person, options) : { ...noGrant, outside: true };
  if (typeof wanted === "string") return wanted;
  return {
    command,
    cwd,
    background,
    isAtHome: cwd === workspace,
    wanted,
    outsideWhy: needs.outside.length > 0 ? needWhy(needs.outside) : "it is to run outside the sandbox",
    deletes: needs.deletes,
    publishes: needs.publishes,
    scripts: wanted.outside ? await scriptDigests(command, cwd) : [],
    party: context.requester.party,
    marked: context.outside,
  };
}

async function wantedBy(
  input: CommandInput,
  needs: Needs,
  folders: Folders,
  person: string,
  options: TerminalOptions,
): Promise<Grant | string> {
  const remotes = await Promise.all(
    needs.git.map(async (one) => remoteNeeds(one, await remotesIn(one.folder, folders, person, options))),
  );
  const hosts = [...needs.hosts, ...remotes.flatMap((one) => one.hosts), ...(input.hosts ?? []).map(lower)];
  const asked = input.credentials === true ? hosts.map(credentialFor) : [];
  const credentials = [...needs.credentials, ...remotes.flatMap((one) => one.credentials), ...asked];
  const guessed = [...needs.paths, ...remotes.flatMap((one) => one.paths).map((one) => ({ ...one, isMoved: false }))];
  const isSeen = isVisible(folders.cwd, "read", folders.workspace);
  const here: readonly PathNeed[] = isSeen ? [] : [{ path: folders.cwd, access: "read", isMoved: false }];
  const explicit = (input.paths ?? []).map((one) => ({ ...one, path: resolve(folders.cwd, one.path), isMoved: false }));
  const paths = await pathsOf([...guessed, ...here], explicit, folders);
  if (typeof paths === "string") return paths;
  // The approver must be able to read all of it.
  if (paths.length > askedMax || new Set(hosts).size > askedMax)
    return `Not run: it needs more than ${askedMax} hosts or paths outside the workspace. Split it into several calls, or name a folder that holds the paths.`;
  return { hosts: [...new Set(hosts)], paths, credentials: uniqueCredentials(credentials), outside: false };
}

const askedMax = 20;

const lower = (host: string): string => host.toLowerCase();

function credentialFor(destination: string): CredentialGrant {
  const [host = "", port] = destination.split(":");
  return { kind: port === "22" ? "ssh-agent" : "git-credential", host };
}

function uniqueCredentials(all: readonly CredentialGrant[]): readonly CredentialGrant[] {
  return [...new Map(all.map((one) => [`${one.kind} ${one.host}`, one])).values()];
}

async function pathsOf(
  guessed: readonly PathNeed[],
  explicit: readonly PathNeed[],
  folders: Folders,
): Promise<readonly PathGrant[] | string> {
  const granted = new Map<string, PathGrant>();
  const all = [
    ...guessed.map((one) => ({ ...one, isExplicit: false })),
    ...explicit.map((one) => ({ ...one, isExplicit: true })),
  ];
  for (const { path, access, isMoved, isExplicit } of all) {
    const real = await resolved(path);
    const decided = decidePath({ real, kind: await kindOf(real), access, isMoved, isExplicit }, folders);
    if (decided.type === "refuse") return decided.why;
    if (decided.type === "needless") continue;
    const { grant } = decided;
    if (grant.access === "write" || !granted.has(grant.path)) granted.set(grant.path, grant);
  }
  // What lies in a folder that is given for writing need not be given again.
  const kept = [...granted.values()];
  return kept.filter(
    (one) => !kept.some((other) => other !== one && other.access === "write" && isInside(one.path, other.path)),
  );
}

/** With the links of everything that exists; the rest as it is written. */
async function resolved(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error)) throw error;
    const folder = dirname(path);
    return folder === path ? path : join(await resolved(folder), basename(path));
  }
}

async function kindOf(path: string): Promise<"folder" | "file" | "missing"> {
  try {
    return (await lstat(await realpath(path))).isDirectory() ? "folder" : "file";
  } catch (error) {
    if (error instanceof Error && "code" in error) return "missing";
    throw error;
  }
}

const remotesMs = 5_000;
const remotesBytes = 100_000;

/** Nothing where git fails: then the command fails as well, and says why. */
async function remotesIn(
  folder: string,
  { workspace }: Folders,
  person: string,
  options: TerminalOptions,
): Promise<string> {
  if (!isInside(folder, workspace)) return "";
  const walled = await options.sandbox.wrap(["git", "-C", folder, "remote", "-v"], {
    person,
    workspace,
    cwd: workspace,
    grant: noGrant,
    home: "empty",
    env: { PATH: options.environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin" },
  });
  return new Promise((done) => {
    const how = { env: walled.env, timeout: remotesMs, killSignal: "SIGKILL", maxBuffer: remotesBytes } as const;
    execFile(walled.program, [...walled.words], how, (error, printed) => done(error === null ? printed : ""));
  });
}
