// Which wall there is around programs on this machine. Only a trial can tell: bubblewrap may be missing, or namespaces may
// be forbidden to this user or in this container. The decision is pure.

import type { SandboxKind, SandboxState } from "../ports/sandbox.ts";

/** `auto`: bubblewrap or Seatbelt where it works. The others demand one. */
export type SandboxChoice = "auto" | "bwrap" | "docker" | "podman" | "seatbelt" | "off";

export type Trial =
  | { readonly type: "works" }
  | { readonly type: "fails"; readonly why: string }
  /** It took too long, so that nothing is known; the next call tries again. */
  | { readonly type: "no-answer"; readonly why: string };

const kinds: Readonly<Record<Exclude<SandboxChoice, "auto" | "off">, SandboxKind>> = {
  bwrap: "bubblewrap",
  docker: "docker",
  podman: "podman",
  seatbelt: "seatbelt",
};

/** Null where nothing is to be tried. */
export function kindOf(choice: SandboxChoice, platform: string): SandboxKind | null {
  if (choice === "off") return null;
  if (choice !== "auto") return kinds[choice];
  return platform === "linux" ? "bubblewrap" : platform === "darwin" ? "seatbelt" : null;
}

const setting = "agent.tools.terminal.sandbox";

const offButNotAccepted = `${setting} is off, so programs would run with all rights of the gateway. Set it to auto to have a sandbox, or set agent.tools.terminal.unsafe: true to run without one.`;

/** `isAccepted`: the owner has said in the configuration that programs may run without one. */
export function decideState(
  choice: SandboxChoice,
  kind: SandboxKind | null,
  trial: Trial,
  isAccepted: boolean,
): SandboxState {
  if (choice === "off")
    return isAccepted
      ? { type: "off", why: `It is switched off (${setting}: off).`, isAccepted }
      : { type: "missing", why: offButNotAccepted };
  if (kind === null)
    return {
      type: "off",
      why: "There is no sandbox for this system. Use Docker or Podman, or a Linux machine.",
      isAccepted,
    };
  if (trial.type === "works") return { type: "on", kind };
  const why = `The sandbox (${kind}) does not work here: ${trial.why}`;
  return choice === "auto"
    ? { type: "off", why, isAccepted }
    : { type: "missing", why: `${why} Or set ${setting} to auto.` };
}

/** What people read about the sandbox. `allowRoot`: the owner accepts tools that run as root without one. */
export function shownState(state: SandboxState, isRoot: boolean, allowRoot: boolean): SandboxState {
  if (state.type !== "off" || !isRoot || allowRoot) return state;
  return { ...state, isRefused: true, why: `${state.why} ${rootAdvice}` };
}

const rootAdvice =
  "The gateway runs as root: install a sandbox, run it as another user, or set agent.tools.allowRoot: true.";

const noNewPrivsAdvice =
  " The gateway runs with NoNewPrivs, which keeps a setuid bwrap from working: run `everturn gateway install --force`, or set NoNewPrivileges=no where the service is defined.";

/** What a user can do about the words of bubblewrap. `hasNoNewPrivs`: a bwrap that is setuid has no effect here. */
export function adviceFor(words: string, isInContainer: boolean, hasNoNewPrivs = false): string {
  const said = words.trim().split("\n").at(-1) ?? "";
  if (words === "not-installed")
    return "bubblewrap is not installed. Install it (`apt install bubblewrap` or `dnf install bubblewrap`).";
  if (/Unknown option/i.test(said)) return `bubblewrap is too old (${said}). Install version 0.4 or newer.`;
  if (/namespace|uid map|Operation not permitted|Permission denied|loopback|RTM_NEWADDR/i.test(said)) {
    if (isInContainer)
      return `this container may not make user namespaces (${said}). Start it with --security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined.`;
    return `this user may not make user namespaces (${said}). Run \`sysctl kernel.unprivileged_userns_clone=1\`; on Ubuntu 24.04 or newer, \`sysctl kernel.apparmor_restrict_unprivileged_userns=0\`, or allow bwrap in AppArmor.${hasNoNewPrivs ? noNewPrivsAdvice : ""}`;
  }
  return `${said === "" ? "it gave no reason" : said}.`;
}
