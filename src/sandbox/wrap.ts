// Turns a command and its view into the command line with bubblewrap around it. What is decided about the view is in
// view.ts, grants.ts and bubblewrap.ts.

import { statSync } from "node:fs";
import { join } from "node:path";
import type { SandboxView, WalledCommand } from "../ports/sandbox.ts";
import { readAliases } from "./aliases.ts";
import { bubblewrapWords, wrapWords } from "./bubblewrap.ts";
import {
  type PreparedCall,
  type SandboxBase,
  aroundWords,
  gitSettings,
  insideEnvironment,
  packageFolder,
  packageParts,
  prepareCall,
  resourceLimits,
} from "./call.ts";
import { type EtcFolder, settingsFolder } from "./folders.ts";
import { type InsidePaths, forwarded, ownPort } from "./network.ts";
import type { SystemView } from "./system.ts";
import { type ViewPlan, insideRuntime, planView } from "./view.ts";

export type Ready = SandboxBase & {
  readonly program: string;
  readonly canDisableUserns: boolean;
  readonly system: SystemView;
  readonly etc: EtcFolder;
  /** Where the toolchains of Rust are, if they are shown. */
  readonly rustup: string | null;
};

const inside: InsidePaths = { ...insideRuntime, sockets: "/run/everturn/sockets", port: ownPort };

export async function wrapInBubblewrap(
  ready: Ready,
  command: readonly [string, ...string[]],
  view: SandboxView,
): Promise<WalledCommand> {
  const { all, system, program, canDisableUserns, rustup } = ready;
  const call = await prepareCall(ready, view);
  const plan = await plannedView(ready, view, call);
  const env = insideEnvironment(view, inside, {
    ...(rustup === null ? {} : { RUSTUP_HOME: rustup }),
    HOME: plan.home,
    TMPDIR: plan.tmp,
  });
  const [outer, inner] = divide(env);
  const words = bubblewrapWords({
    mounts: plan.mounts,
    cwd: view.cwd,
    setenv: inner,
    canDisableUserns,
    hiddenProc: system.hiddenProc,
  });
  const walled = wrapWords({
    program,
    filter: join(all, "seccomp.bpf"),
    words,
    limits: resourceLimits(),
    paths: plan.bound.map((path) => ({ path, identity: identityOf(path) })),
    command: view.grant.hosts.length > 0 ? forwarded(command, inside) : command,
  });
  const [first = "", ...rest] = [...aroundWords(call.order), ...walled];
  return { program: first, words: rest, env: outer };
}

async function plannedView(ready: Ready, view: SandboxView, call: PreparedCall): Promise<ViewPlan> {
  const own = await settingsFolder(ready.all, { gitconfig: gitSettings(ready, view, inside) });
  const folder = packageFolder();
  return planView({
    ...call,
    system: ready.system.mounts,
    runtime: { node: process.execPath, folder, shown: packageParts(folder) },
    hidden: readAliases(ready.home),
    settings: { gitconfig: join(own, "gitconfig") },
    etc: ready.etc,
    programs: (view.programs ?? []).filter((one) => statSync(one, { throwIfNoEntry: false }) !== undefined),
    files: view.files ?? null,
    output: view.output ?? null,
    more: call.order === null ? [] : [{ type: "bind", at: inside.sockets, from: call.order.sockets, access: "read" }],
  });
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

function identityOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true });
  return `${dev}:${ino}`;
}
