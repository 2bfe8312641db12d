// The wall around everything that runs for an agent (see ports/sandbox.ts). It looks at the disk, plans the view, and
// gives the command line; it starts nothing itself but the trial.

import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, statSync } from "node:fs";
import { mkdir, realpath, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../core/fault.ts";
import { noGrant } from "../core/grant.ts";
import type { Sandbox, SandboxKind, SandboxState, SandboxView, WalledCommand } from "../ports/sandbox.ts";
import { containerRuntime, wrapInContainer, wrapInSeatbelt } from "./apart.ts";
import { type SandboxBase, packageFolder } from "./call.ts";
import { closeInherited } from "./descriptors.ts";
import { copySettings, tidyFolders } from "./folders.ts";
import { filterArch, seccompFilter } from "./seccomp.ts";
import { type GitIdentity, agentIdentity, settingsFiles } from "./settings.ts";
import { type SandboxChoice, type Trial, adviceFor, decideState, kindOf } from "./state.ts";
import { foldersOfPath, readSystem, settingsParts } from "./system.ts";
import { insideRuntime } from "./view.ts";
import { type Ready, wrapInBubblewrap } from "./wrap.ts";

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

const tidyEveryMs = 3_600_000;

/** One kind of sandbox, as it is here. */
type Backend = {
  readonly base: SandboxBase;
  wrap(command: readonly [string, ...string[]], view: SandboxView): Promise<WalledCommand>;
};

type Found = { readonly state: SandboxState; readonly backend: Backend | null };

export function openSandbox(options: SandboxOptions): Sandbox {
  let known: Promise<Found> | null = null;
  let tidiedAt = 0;

  function look(): Promise<Found> {
    return (known ??= find(options).then(({ isKnown, ...found }) => {
      if (!isKnown) known = null;
      return found;
    }));
  }

  return {
    runtime: runtimeOf(kindOf(options.choice, process.platform)),
    async state() {
      return (await look()).state;
    },
    async wrap(command, view) {
      const { state, backend } = await look();
      if (backend === null)
        throw new Fault("not-possible", `There is no sandbox. ${state.type === "on" ? "" : state.why}`.trim());
      if (Date.now() - tidiedAt > tidyEveryMs) {
        tidiedAt = Date.now();
        // It is done again later, so nothing is lost when it fails.
        void Promise.allSettled([tidyFolders(backend.base.all, tidiedAt)]);
      }
      return backend.wrap(command, view);
    },
  };
}

function runtimeOf(kind: SandboxKind | null): Sandbox["runtime"] {
  if (kind === "seatbelt") return { node: process.execPath, folder: packageFolder() };
  return kind === "docker" || kind === "podman" ? containerRuntime : insideRuntime;
}

async function find(options: SandboxOptions): Promise<Found & { readonly isKnown: boolean }> {
  const { choice, isUnsafeAccepted = false } = options;
  const kind = kindOf(choice, process.platform);
  const made = kind === null ? "" : await openBackend(kind, options);
  const trial: Trial = typeof made === "string" ? { type: "fails", why: made } : await tryBackend(made);
  return {
    state: decideState(choice, kind, trial, isUnsafeAccepted),
    backend: typeof made === "string" || trial.type !== "works" ? null : made,
    isKnown: trial.type !== "no-answer",
  };
}

/** A text says why there is none. */
async function openBackend(kind: SandboxKind, options: SandboxOptions): Promise<Backend | string> {
  const path = options.environment["PATH"] ?? "";
  const home = await realpath(options.home);
  const all = join(home, "sandbox");
  const base: SandboxBase = { home, all, owner: await gitIdentity(options), user: userEnvironment(options) };
  await mkdir(all, { recursive: true, mode: 0o700 });
  if (kind === "bubblewrap") return openBubblewrap(base, options);
  if (kind === "seatbelt") {
    if (process.platform !== "darwin") return "Seatbelt is for macOS only.";
    const folders = foldersOfPath(path, options.userHome, ["/Users", home]).filter((one) => existsSync(one));
    return { base, wrap: (command, view) => wrapInSeatbelt({ ...base, kind, folders }, command, view) };
  }
  if (process.getuid?.() === 0) return `programs would be root in the container. Run the gateway as another user.`;
  if (programIn(path, kind) === undefined) return `${kind} is not installed. Install it.`;
  return { base, wrap: (command, view) => wrapInContainer({ ...base, kind }, command, view) };
}

function programIn(path: string, name: string): string | undefined {
  const folders = [...path.split(":"), "/usr/bin", "/usr/local/bin"].filter((one) => one.startsWith("/"));
  return folders.map((folder) => join(folder, name)).find((one) => existsSync(one));
}

async function openBubblewrap(base: SandboxBase, options: SandboxOptions): Promise<Backend | string> {
  if (process.platform !== "linux") return "bubblewrap is for Linux only.";
  const arch = filterArch(process.arch);
  if (arch === null) return `there is no system call filter for this processor (${process.arch}).`;
  const path = options.environment["PATH"] ?? "";
  const program = programIn(path, "bwrap");
  if (program === undefined) return adviceFor("not-installed", false);
  closeInherited();
  // Another process of this home may be reading it.
  const draft = join(base.all, `seccomp.${randomUUID()}`);
  await writeFile(draft, seccompFilter(arch), { mode: 0o600 });
  await rename(draft, join(base.all, "seccomp.bpf"));
  const version = await run(program, ["--version"], { PATH: path });
  const ready: Ready = {
    ...base,
    program,
    // A bwrap that is setuid cannot write the setting that this needs.
    canDisableUserns: isAtLeast(version.out, [0, 8]) && (statSync(program).mode & 0o4000) === 0,
    system: await readSystem({ path, userHome: options.userHome, hidden: [base.home] }),
    etc: await copySettings(base.all, settingsParts, { ...settingsFiles, gitconfig: "" }),
    rustup: rustupOf(options),
  };
  return { base, wrap: (command, view) => wrapInBubblewrap(ready, command, view) };
}

/** A program like any other, which must not see the gateway's home. */
async function tryBackend({ base, wrap }: Backend): Promise<Trial> {
  const workspace = join(base.all, `trial-${randomUUID()}`);
  const canary = join(base.all, "canary");
  await mkdir(workspace, { mode: 0o700 });
  await writeFile(canary, "", { mode: 0o600 });
  const script = 'echo inside; [ -e "$1" ] && echo visible; exit 0';
  const { program, words, env } = await wrap(["/bin/sh", "-c", script, "trial", canary], {
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
  const isInContainer = existsSync("/.dockerenv") || existsSync("/run/.containerenv");
  return { type: "fails", why: adviceFor(err, isInContainer, hasNoNewPrivs()) };
}

function hasNoNewPrivs(): boolean {
  return process.platform === "linux" && /^NoNewPrivs:\s*1$/m.test(readFileSync("/proc/self/status", "utf8"));
}

/** Where git and ssh of the user find what the user has; no secrets, because command lines can be seen. */
function userEnvironment({ environment, userHome }: SandboxOptions): Readonly<Record<string, string>> {
  const names = ["PATH", "SSH_AUTH_SOCK", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "LANG"];
  const found = names.flatMap((name) => {
    const value = environment[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(found), HOME: userHome ?? "/" };
}

function rustupOf({ environment, userHome }: SandboxOptions): string | null {
  if (userHome === null) return null;
  const isInPath = (environment["PATH"] ?? "").split(":").includes(join(userHome, ".cargo/bin"));
  return isInPath ? join(userHome, ".rustup") : null;
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
