// The wall around everything that runs for an agent (see ports/sandbox.ts). It looks at the disk, plans the view, and
// gives the command line; it starts nothing itself but the trial.

import { execFile } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { totalmem } from "node:os";
import { dirname, join } from "node:path";
import { Fault } from "../core/fault.ts";
import { noGrant } from "../core/grant.ts";
import { ownerPerson } from "../core/requester.ts";
import type { Sandbox, SandboxState, SandboxView, WalledCommand } from "../ports/sandbox.ts";
import { type ResourceLimits, bubblewrapWords, wrapWords } from "./bubblewrap.ts";
import { closeInherited } from "./descriptors.ts";
import { emptyFolders, personFolders, tidyFolders, writeSettings } from "./folders.ts";
import type { GrantedPath } from "./grants.ts";
import { filterArch, seccompFilter } from "./seccomp.ts";
import { type GitIdentity, agentIdentity, gitConfig, settingsFiles } from "./settings.ts";
import { type SandboxChoice, type Trial, adviceFor, decideState, kindOf } from "./state.ts";
import { type SystemView, readSystem } from "./system.ts";
import { insideRuntime, planView } from "./view.ts";

export type SandboxOptions = {
  readonly choice: SandboxChoice;
  /** The owner has accepted in the configuration that programs run without a sandbox. */
  readonly isUnsafeAccepted?: boolean;
  /** The gateway's own folder: never visible inside; the folders of people are below it. */
  readonly home: string;
  /** The user's own folder, or null where the system knows none. */
  readonly userHome: string | null;
  /** The gateway's environment: its PATH, and where git finds who the user is. */
  readonly environment: Readonly<Record<string, string | undefined>>;
};

type Ready = {
  readonly program: string;
  readonly canDisableUserns: boolean;
  readonly system: SystemView;
  readonly home: string;
  readonly all: string;
  readonly owner: GitIdentity;
  /** Where the toolchains of Rust are, if they are shown. */
  readonly rustup: string | null;
};

const tidyEveryMs = 3_600_000;

export function openSandbox(options: SandboxOptions): Sandbox {
  let known: Promise<readonly [SandboxState, Ready | null]> | null = null;
  let tidiedAt = 0;

  function look(): Promise<readonly [SandboxState, Ready | null]> {
    return (known ??= find(options).then(({ state, ready, isKnown }) => {
      if (!isKnown) known = null;
      return [state, ready] as const;
    }));
  }

  return {
    runtime: insideRuntime,
    async state() {
      return (await look())[0];
    },
    async wrap(command, view) {
      const [state, ready] = await look();
      if (ready === null)
        throw new Fault(
          "not-possible",
          state.type === "on" ? "The sandbox is not ready." : `There is no sandbox. ${state.why}`,
        );
      if (Date.now() - tidiedAt > tidyEveryMs) {
        tidiedAt = Date.now();
        // It is done again later, so nothing is lost when it fails.
        void Promise.allSettled([tidyFolders(ready.all, tidiedAt)]);
      }
      return wrapIn(ready, command, view);
    },
  };
}

async function find(
  options: SandboxOptions,
): Promise<{ readonly state: SandboxState; readonly ready: Ready | null; readonly isKnown: boolean }> {
  const { choice, isUnsafeAccepted = false } = options;
  const kind = kindOf(choice, process.platform);
  const { trial, ready } = kind === "bubblewrap" ? await tryBubblewrap(options) : untried;
  return { state: decideState(choice, kind, trial, isUnsafeAccepted), ready, isKnown: trial.type !== "no-answer" };
}

const untried = { trial: { type: "fails", why: "It is not built in yet." } as Trial, ready: null };

async function tryBubblewrap(
  options: SandboxOptions,
): Promise<{ readonly trial: Trial; readonly ready: Ready | null }> {
  const fails = (why: string) => ({ trial: { type: "fails", why } as Trial, ready: null });
  if (process.platform !== "linux") return fails("bubblewrap is for Linux only.");
  const arch = filterArch(process.arch);
  if (arch === null) return fails(`there is no system call filter for this processor (${process.arch}).`);
  const path = options.environment["PATH"] ?? "";
  const program = [...path.split(":"), "/usr/bin", "/usr/local/bin"]
    .filter((one) => one.startsWith("/"))
    .map((folder) => join(folder, "bwrap"))
    .find((one) => existsSync(one));
  if (program === undefined) return fails(adviceFor("not-installed", false));
  closeInherited();
  const home = await realpath(options.home);
  const all = join(home, "sandbox");
  await mkdir(all, { recursive: true, mode: 0o700 });
  await writeFile(join(all, "seccomp.bpf"), seccompFilter(arch), { mode: 0o600 });
  const version = await run(program, ["--version"], { PATH: path });
  const ready: Ready = {
    program,
    canDisableUserns: isAtLeast(version.out, [0, 8]),
    system: await readSystem({ path, userHome: options.userHome, hidden: [home] }),
    home,
    all,
    owner: await gitIdentity(options),
    rustup: rustupOf(options),
  };
  const trial = await tryIn(ready);
  return { trial, ready: trial.type === "works" ? ready : null };
}

/** A program like any other, which must not see the gateway's home. */
async function tryIn(ready: Ready): Promise<Trial> {
  const workspace = join(ready.all, "trial");
  const canary = join(ready.all, "canary");
  await mkdir(workspace, { recursive: true, mode: 0o700 });
  await writeFile(canary, "", { mode: 0o600 });
  const script = 'echo inside; [ -e "$1" ] && echo visible; exit 0';
  const { program, words, env } = await wrapIn(ready, ["/bin/sh", "-c", script, "trial", canary], {
    person: "trial",
    workspace,
    cwd: workspace,
    grant: noGrant,
    home: "person",
    env: {},
  });
  const { out, err, isTimeout } = await run(program, words, env);
  await rm(workspace, { recursive: true, force: true });
  if (isTimeout) return { type: "no-answer", why: `it gave no answer within ${tryMs / 1_000} s.` };
  if (out.includes("visible")) return { type: "fails", why: "the gateway's own folder can be seen inside." };
  if (out.includes("inside")) return { type: "works" };
  return { type: "fails", why: adviceFor(err, existsSync("/.dockerenv") || existsSync("/run/.containerenv")) };
}

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

async function wrapIn(
  ready: Ready,
  command: readonly [string, ...string[]],
  view: SandboxView,
): Promise<WalledCommand> {
  const { all, home, system, program, canDisableUserns } = ready;
  const workspace = await realpath(view.workspace);
  if (workspace === home) throw new Fault("not-possible", "The workspace cannot be the gateway's own folder.");
  const folders = view.home === "empty" ? await emptyFolders(all) : await personFolders(all, view.person);
  const ownHome = typeof view.home === "string" ? folders.home : await ownFolder(view.home.folder);
  const granted = await Promise.all(view.grant.paths.map(lookAt));
  const packageFolder = packageOf(import.meta.dirname);
  const names = ["passwd", "group", "hosts", "nsswitch.conf", "gitconfig"];
  const etc = join(all, view.person === ownerPerson ? "etc-owner" : "etc");
  const plan = planView({
    system: system.mounts,
    runtime: {
      node: process.execPath,
      folder: packageFolder,
      shown: packageParts.filter((name) => existsSync(join(packageFolder, name))),
    },
    hidden: [home],
    workspace,
    folders: { home: ownHome, tmp: folders.tmp },
    settings: Object.fromEntries(names.map((name) => [name, join(etc, name)])),
    granted,
    programs: view.programs ?? [],
    files: view.files ?? null,
  });
  const identity = view.person === ownerPerson ? ready.owner : agentIdentity;
  await writeSettings(etc, { ...settingsFiles(plan.home), gitconfig: gitConfig(identity) });
  const [outer, inner] = divide({
    PATH: "/usr/local/bin:/usr/bin:/bin",
    SHELL: "/bin/sh",
    ...withoutHome(view.env),
    ...(ready.rustup === null ? {} : { RUSTUP_HOME: ready.rustup }),
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
  const paths = plan.bound.map((path) => ({ path, identity: identityOf(path) }));
  const filter = join(all, "seccomp.bpf");
  const [first = "", ...rest] = wrapWords({ program, filter, words, limits: limits(), paths, command });
  return { program: first, words: rest, env: outer };
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

function rustupOf({ environment, userHome }: SandboxOptions): string | null {
  if (userHome === null) return null;
  const isInPath = (environment["PATH"] ?? "").split(":").includes(join(userHome, ".cargo/bin"));
  return isInPath ? join(userHome, ".rustup") : null;
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

async function gitIdentity({ environment, userHome }: SandboxOptions): Promise<GitIdentity> {
  const ask = async (key: string) => {
    const env = { PATH: environment["PATH"] ?? "", HOME: userHome ?? "/" };
    const { out } = await run("git", ["config", "--global", "--get", key], env);
    return out.trim();
  };
  const [name, email] = [await ask("user.name"), await ask("user.email")];
  return { name: name === "" ? agentIdentity.name : name, email: email === "" ? agentIdentity.email : email };
}

function isAtLeast(version: string, [major, minor]: readonly [number, number]): boolean {
  const [, a = "0", b = "0"] = /(\d+)\.(\d+)/.exec(version) ?? [];
  return Number(a) > major || (Number(a) === major && Number(b) >= minor);
}

const tryMs = 20_000;

type Answer = { readonly out: string; readonly err: string; readonly isTimeout: boolean };

function run(program: string, words: readonly string[], env: Readonly<Record<string, string>>): Promise<Answer> {
  return new Promise((resolve) => {
    const options = { env: { ...env }, cwd: "/", timeout: tryMs, killSignal: "SIGKILL" } as const;
    execFile(program, [...words], options, (error, out, err) => {
      resolve({ out, err: err === "" && error !== null ? error.message : err, isTimeout: error?.killed === true });
    });
  });
}
