// What every kind of sandbox prepares for a call: the folders of the person, the order for the runner, the environment and
// the settings of git. It looks at the disk and makes the folders that are missing.

import { existsSync, statSync } from "node:fs";
import { mkdir, realpath } from "node:fs/promises";
import { totalmem } from "node:os";
import { dirname, join } from "node:path";
import { Fault } from "../core/fault.ts";
import { ownerPerson } from "../core/requester.ts";
import type { SandboxView } from "../ports/sandbox.ts";
import type { ResourceLimits } from "./bubblewrap.ts";
import { type PersonFolders, emptyFolders, personFolders, socketFolder } from "./folders.ts";
import type { GrantedPath } from "./grants.ts";
import { type InsidePaths, agentEnvironment, gitHelper, proxyEnvironment } from "./network.ts";
import type { RunnerOrder } from "./runner/order.ts";
import { type GitIdentity, agentIdentity, gitConfig } from "./settings.ts";

/** What does not change from call to call, whatever the kind of sandbox. */
export type SandboxBase = {
  /** The gateway's home, with links resolved. */
  readonly home: string;
  /** The folder of the sandbox in it. */
  readonly all: string;
  readonly owner: GitIdentity;
  /** For the brokers of credentials. */
  readonly user: Readonly<Record<string, string>>;
};

export type PreparedCall = {
  readonly workspace: string;
  readonly folders: Pick<PersonFolders, "home" | "tmp">;
  readonly granted: readonly GrantedPath[];
  readonly order: RunnerOrder | null;
};

export async function prepareCall(base: SandboxBase, view: SandboxView): Promise<PreparedCall> {
  const { hosts, credentials } = view.grant;
  const isEphemeral = emptiesHome(view);
  if (hosts.length + credentials.length > 0 || isEphemeral) return prepareOrdered(base, view);
  return { ...(await prepareFolders(base, view, await personFolders(base.all, view.person))), order: null };
}

/** With a runner in any case. */
export async function prepareOrdered(
  base: SandboxBase,
  view: SandboxView,
): Promise<PreparedCall & { readonly order: RunnerOrder }> {
  const { all, user } = base;
  const { hosts, credentials } = view.grant;
  const folders = emptiesHome(view) ? await emptyFolders(all) : await personFolders(all, view.person);
  const removed = folders.removed === null ? [] : [folders.removed];
  const order = { hosts, credentials, user, sockets: await socketFolder(all), removed };
  return { ...(await prepareFolders(base, view, folders)), order };
}

/** What an earlier program left in the HOME of the person must not meet a credential. */
function emptiesHome({ home, grant }: SandboxView): boolean {
  return home === "empty" || (home === "person" && grant.credentials.length > 0);
}

async function prepareFolders(
  { home }: SandboxBase,
  view: SandboxView,
  folders: PersonFolders,
): Promise<Omit<PreparedCall, "order">> {
  const workspace = await realpath(view.workspace);
  if (workspace === home) throw new Fault("not-possible", "The workspace cannot be the gateway's own folder.");
  const ownHome = typeof view.home === "string" ? folders.home : await ownFolder(view.home.folder);
  const granted = await Promise.all(view.grant.paths.map(lookAt));
  return { workspace, folders: { home: ownHome, tmp: folders.tmp }, granted };
}

/** The command inside of its runner, where it has one. */
export function aroundWords(order: RunnerOrder | null): readonly string[] {
  return order === null ? [] : [process.execPath, runnerFile(import.meta.dirname), JSON.stringify(order)];
}

/** `own`: variables that the kind of sandbox sets. */
export function insideEnvironment(
  view: SandboxView,
  inside: InsidePaths,
  own: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const { hosts, credentials } = view.grant;
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    SHELL: "/bin/sh",
    ...withoutHome(view.env),
    ...(hosts.length > 0 ? proxyEnvironment(inside) : {}),
    ...(credentials.some(({ kind }) => kind === "ssh-agent") ? agentEnvironment(inside) : {}),
    USER: "agent",
    LOGNAME: "agent",
    ...own,
  };
}

/** The system's settings of git: who commits, and who knows the passwords that were granted. */
export function gitSettings({ owner }: SandboxBase, view: SandboxView, inside: InsidePaths): string {
  const passwords = view.grant.credentials.filter(({ kind }) => kind === "git-credential");
  const identity = gitConfig(view.person === ownerPerson ? owner : agentIdentity);
  return identity + passwords.map(({ host }) => gitHelper(host, inside)).join("");
}

/** Per sandbox, except `dataKb`, which holds for each process. */
export function resourceLimits(): ResourceLimits {
  const halfKb = Math.floor(totalmem() / 2 / 1024);
  return {
    processes: 2_048,
    dataKb: Math.max(halfKb, 2 * 1024 * 1024),
    fileBlocks: 16 * 1024 * 1024 * 2,
    openFiles: 65_536,
  };
}

/** In the sources a file below us, in the bundle one beside us. */
function runnerFile(from: string): string {
  const bundled = join(from, "sandbox-runner.js");
  return existsSync(bundled) ? bundled : join(from, "runner", "main.ts");
}

/** The package has these in a checkout, or some of them where it is installed. */
export function packageParts(folder: string): readonly string[] {
  return ["bin", "dist", "src", "node_modules", "package.json"].filter((name) => existsSync(join(folder, name)));
}

/** The folder with our package.json: two up in the sources, one in the bundle. */
export function packageFolder(from: string = import.meta.dirname): string {
  const found = [join(from, ".."), join(from, "..", "..")].find((folder) => existsSync(join(folder, "package.json")));
  return found ?? dirname(from);
}

/** They name places and sockets of the user, which are not there inside. */
function withoutHome(env: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  const isLost = (name: string) =>
    /^(?:XDG_\w+|DBUS_\w+|SSH_\w+|GPG_\w+|CARGO_HOME|GOPATH|VIRTUAL_ENV|WAYLAND_DISPLAY|DISPLAY|\w+_proxy)$/i.test(
      name,
    );
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isLost(name)));
}

async function ownFolder(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  return realpath(folder);
}

async function lookAt(one: SandboxView["grant"]["paths"][number]): Promise<GrantedPath> {
  try {
    const real = await realpath(one.path);
    return { ...one, real, isFolder: statSync(real).isDirectory() };
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    // A file that is to be made: its folder is bound.
    const folder = await realpath(dirname(one.path));
    return { ...one, real: join(folder, one.path.slice(one.path.lastIndexOf("/") + 1)), isFolder: false };
  }
}
