// The wall around everything that runs for an agent (see ports/sandbox.ts). It looks at the disk, plans the view, and
// gives the command line; it starts nothing itself but the trial.

import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, realpath, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Fault } from "../core/fault.ts";
import { noGrant } from "../core/grant.ts";
import type { Sandbox, SandboxState } from "../ports/sandbox.ts";
import { closeInherited } from "./descriptors.ts";
import { tidyFolders } from "./folders.ts";
import { filterArch, seccompFilter } from "./seccomp.ts";
import { type GitIdentity, agentIdentity } from "./settings.ts";
import { type SandboxChoice, type Trial, adviceFor, decideState, kindOf } from "./state.ts";
import { readSystem } from "./system.ts";
import { insideRuntime } from "./view.ts";
import { type Ready, wrapIn } from "./wrap.ts";

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
    user: userEnvironment(options),
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
