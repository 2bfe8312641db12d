// Turns a command and its view into the command line with the wall around it. It looks at the disk and makes the folders
// that the view needs; what is decided about them is in view.ts, grants.ts and bubblewrap.ts.

import { existsSync, statSync } from "node:fs";
import { mkdir, realpath } from "node:fs/promises";
import { totalmem } from "node:os";
import { dirname, join } from "node:path";
import { Fault } from "../core/fault.ts";
import { ownerPerson } from "../core/requester.ts";
import type { SandboxView, WalledCommand } from "../ports/sandbox.ts";
import { type ResourceLimits, bubblewrapWords, wrapWords } from "./bubblewrap.ts";
import { type PersonFolders, emptyFolders, personFolders, settingsFolder, socketFolder } from "./folders.ts";
import type { GrantedPath } from "./grants.ts";
import { agentEnvironment, forwarded, gitHelper, insideSockets, proxyEnvironment } from "./network.ts";
import type { RunnerOrder } from "./runner/order.ts";
import { type GitIdentity, agentIdentity, gitConfig, settingsFiles } from "./settings.ts";
import type { SystemView } from "./system.ts";
import { type ViewPlan, planView } from "./view.ts";

/** What does not change from call to call. */
export type Ready = {
  readonly program: string;
  readonly canDisableUserns: boolean;
  readonly system: SystemView;
  readonly home: string;
  readonly all: string;
  readonly owner: GitIdentity;
  /** For the brokers of credentials. */
  readonly user: Readonly<Record<string, string>>;
  /** Where the toolchains of Rust are, if they are shown. */
  readonly rustup: string | null;
};

/** Per sandbox, except `dataKb`, which holds for each process. */
function limits(): ResourceLimits {
  const halfKb = Math.floor(totalmem() / 2 / 1024);
  return {
    processes: 2_048,
    dataKb: Math.max(halfKb, 2 * 1024 * 1024),
    fileBlocks: 16 * 1024 * 1024 * 2,
    openFiles: 65_536,
  };
}

export async function wrapIn(
  ready: Ready,
  command: readonly [string, ...string[]],
  view: SandboxView,
): Promise<WalledCommand> {
  const { all, system, program, canDisableUserns } = ready;
  const { hosts, credentials } = view.grant;
  // What an earlier program left in the HOME of the person must not meet a credential.
  const isEmpty = view.home === "empty" || (view.home === "person" && credentials.length > 0);
  const folders = isEmpty ? await emptyFolders(all) : await personFolders(all, view.person);
  const removed = folders.removed === null ? [] : [folders.removed];
  const order: RunnerOrder | null =
    hosts.length + credentials.length + removed.length > 0
      ? { hosts, credentials, user: ready.user, sockets: await socketFolder(all), removed }
      : null;
  const plan = await plannedView(ready, view, folders, order);
  const [outer, inner] = divide({
    PATH: "/usr/local/bin:/usr/bin:/bin",
    SHELL: "/bin/sh",
    ...withoutHome(view.env),
    ...(ready.rustup === null ? {} : { RUSTUP_HOME: ready.rustup }),
    ...(hosts.length > 0 ? proxyEnvironment() : {}),
    ...(credentials.some(({ kind }) => kind === "ssh-agent") ? agentEnvironment() : {}),
    HOME: plan.home,
    USER: "agent",
    LOGNAME: "agent",
    TMPDIR: plan.tmp,
  });
  const words = bubblewrapWords({
    mounts: plan.mounts,
    cwd: view.cwd,
    setenv: inner,
    canDisableUserns,
    hiddenProc: system.hiddenProc,
  });
  const inside = wrapWords({
    program,
    filter: join(all, "seccomp.bpf"),
    words,
    limits: limits(),
    paths: plan.bound.map((path) => ({ path, identity: identityOf(path) })),
    command: hosts.length > 0 ? forwarded(command) : command,
  });
  const around = order === null ? [] : [process.execPath, runnerFile(import.meta.dirname), JSON.stringify(order)];
  const [first = "", ...rest] = [...around, ...inside];
  return { program: first, words: rest, env: outer };
}

async function plannedView(
  { all, home, system, owner }: Ready,
  view: SandboxView,
  folders: PersonFolders,
  order: RunnerOrder | null,
): Promise<ViewPlan> {
  const workspace = await realpath(view.workspace);
  if (workspace === home) throw new Fault("not-possible", "The workspace cannot be the gateway's own folder.");
  const packageFolder = packageOf(import.meta.dirname);
  const passwords = view.grant.credentials.filter(({ kind }) => kind === "git-credential");
  const identity = gitConfig(view.person === ownerPerson ? owner : agentIdentity);
  const files = { ...settingsFiles, gitconfig: identity + passwords.map(({ host }) => gitHelper(host)).join("") };
  const etc = await settingsFolder(all, files);
  return planView({
    system: system.mounts,
    runtime: {
      node: process.execPath,
      folder: packageFolder,
      shown: packageParts.filter((name) => existsSync(join(packageFolder, name))),
    },
    hidden: [home],
    workspace,
    folders: {
      home: typeof view.home === "string" ? folders.home : await ownFolder(view.home.folder),
      tmp: folders.tmp,
    },
    settings: Object.fromEntries(Object.keys(files).map((name) => [name, join(etc, name)])),
    granted: await Promise.all(view.grant.paths.map(lookAt)),
    programs: (view.programs ?? []).filter((one) => existsSync(one)),
    files: view.files ?? null,
    more: order === null ? [] : [{ type: "bind", at: insideSockets, from: order.sockets, access: "read" }],
  });
}

/** In the sources a file below us, in the bundle one beside us. */
function runnerFile(from: string): string {
  const bundled = join(from, "sandbox-runner.js");
  return existsSync(bundled) ? bundled : join(from, "runner", "main.ts");
}

/** The package has these in a checkout, or some of them where it is installed. */
const packageParts = ["bin", "dist", "src", "node_modules", "package.json"];

/** The folder with our package.json: two up in the sources, one in the bundle. */
function packageOf(from: string): string {
  const found = [join(from, ".."), join(from, "..", "..")].find((folder) => existsSync(join(folder, "package.json")));
  return found ?? dirname(from);
}

/**
 * Variables that change how programs start would do so outside as well, for the runner and bubblewrap, and could lead them
 * into the workspace. They are set inside only; they are no secrets, so it does no harm that the command line shows them.
 */
function divide(env: Readonly<Record<string, string>>): readonly [Record<string, string>, Record<string, string>] {
  const isInner = ([name]: readonly [string, string]) =>
    /^(?:LD_|DYLD_|NODE_|BASH_|ENV$|GCONV_PATH$|LOCPATH$|SSL_|OPENSSL_)/.test(name);
  const all = Object.entries(env);
  return [Object.fromEntries(all.filter((one) => !isInner(one))), Object.fromEntries(all.filter(isInner))];
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

function identityOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}
