// Whether commands run in a sandbox on this machine. That is asked once, by trying, because only the answer tells:
// bubblewrap may be missing, and name spaces may be forbidden to this user or in this container.

import { execFile } from "node:child_process";
import { realpath } from "node:fs/promises";
import { tmpdir } from "node:os";

/** `auto`: where bubblewrap works, and without it elsewhere. */
export type SandboxChoice = "auto" | "bwrap" | "off";
import { type View, bwrapWords } from "./bwrap.ts";
import { hiddenPaths } from "./hidden.ts";
import { openScratch } from "./scratch.ts";

export type Trial = { readonly works: true } | { readonly works: false; readonly why: string };

export type Sandboxed =
  /** Around every command. */
  | { readonly type: "on" }
  /** `warning`: what its owner should know; null when that is what was chosen. */
  | { readonly type: "off"; readonly warning: string | null }
  /** It is demanded and cannot be had. */
  | { readonly type: "missing"; readonly why: string };

const advice = "install bubblewrap (`apt install bubblewrap`, `dnf install bubblewrap`) and allow user name spaces";

/** Pure. */
export function decideSandbox(choice: SandboxChoice, trial: Trial): Sandboxed {
  if (choice === "off") return { type: "off", warning: null };
  if (trial.works) return { type: "on" };
  if (choice === "bwrap")
    return {
      type: "missing",
      why: `Commands are to run in a sandbox, and it does not work here (${trial.why}); ${advice}, or set agent.tools.terminal.sandbox to auto or off.`,
    };
  return {
    type: "off",
    warning: `Commands of the agent run without a sandbox, with all rights of this user, because bubblewrap does not work here (${trial.why}); ${advice}.`,
  };
}

export type Sandbox = {
  state(): Promise<Sandboxed>;
  /** The words before a command of a conversation; only where the state is `on`. */
  words(view: Pick<View, "cwd" | "network">, place: string): Promise<readonly string[]>;
};

export type SandboxPlaces = {
  readonly workspace: string;
  readonly home: string;
  readonly userHome: string | null;
};

const program = "bwrap";

export function openSandbox(
  choice: SandboxChoice,
  places: SandboxPlaces,
  trying: () => Promise<Trial> = tryBwrap,
): Sandbox {
  let known: Promise<Sandboxed> | null = null;
  const scratch = openScratch(places.home);
  return {
    state: () => (known ??= choice === "off" ? Promise.resolve(decideSandbox(choice, off)) : found(choice, trying)),
    async words(view, place) {
      const real = await resolved(places);
      const [hidden, own] = [await hiddenPaths(real), await scratch.folderFor(place)];
      return [program, ...bwrapWords({ ...view, workspace: real.workspace, scratch: own, hidden })];
    },
  };
}

const off: Trial = { works: false, why: "it was not tried" };

async function found(choice: SandboxChoice, trying: () => Promise<Trial>): Promise<Sandboxed> {
  return decideSandbox(choice, await trying());
}

async function resolved({ workspace, home, userHome }: SandboxPlaces): Promise<SandboxPlaces> {
  const [realWorkspace, realHome] = await Promise.all([realpath(workspace), realpath(home)]);
  return { workspace: realWorkspace, home: realHome, userHome: userHome === null ? null : await realpath(userHome) };
}

const tryMs = 10_000;

/** A command that does nothing, in a sandbox like any other. */
export async function tryBwrap(platform: NodeJS.Platform = process.platform): Promise<Trial> {
  if (platform !== "linux") return { works: false, why: "there is no bubblewrap for this system" };
  const folder = await realpath(tmpdir());
  const words = bwrapWords({ workspace: folder, cwd: folder, scratch: null, network: false, hidden: [] });
  return new Promise((done) => {
    execFile(program, [...words, "true"], { timeout: tryMs, killSignal: "SIGKILL" }, (error, _out, err) => {
      if (error === null) return done({ works: true });
      const isMissing = "code" in error && error.code === "ENOENT";
      done({
        works: false,
        why: isMissing ? "it is not installed" : (err.trim().split("\n")[0] ?? "") || error.message,
      });
    });
  });
}

/** For `doctor`: what to tell the owner about the sandbox; null when all is well. */
export async function sandboxWarning(
  choice: SandboxChoice,
  trying: () => Promise<Trial> = tryBwrap,
): Promise<string | null> {
  if (choice === "off") return null;
  const state = decideSandbox(choice, await trying());
  return state.type === "on" ? null : state.type === "missing" ? state.why : state.warning;
}
