// The other kinds of sandbox, made from the same facts: Seatbelt, where paths stay what they are, and containers, where the
// image has the programs. Both are tried before they are used; see state.ts.

import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { SandboxView, WalledCommand } from "../ports/sandbox.ts";
import { readAliases } from "./aliases.ts";
import {
  type PreparedCall,
  type SandboxBase,
  aroundWords,
  gitSettings,
  insideEnvironment,
  packageFolder,
  packageParts,
  prepareCall,
  prepareOrdered,
  resourceLimits,
} from "./call.ts";
import { containerWords, defaultImage } from "./container.ts";
import { settingsFolder } from "./folders.ts";
import { boundPath, checkGranted } from "./grants.ts";
import { type Mount, isWithin } from "./mounts.ts";
import { type InsidePaths, forwarded, ownPort } from "./network.ts";
import { seatbeltProfile, seatbeltWords } from "./seatbelt.ts";
import type { RunnerOrder } from "./runner/order.ts";
import { insideRuntime } from "./view.ts";

/** Where the image has Node. */
export const containerRuntime = { node: "/usr/local/bin/node", folder: insideRuntime.folder } as const;

export type SeatbeltBase = SandboxBase & { readonly kind: "seatbelt"; readonly folders: readonly string[] };
export type ContainerBase = SandboxBase & { readonly kind: "docker" | "podman" };

/** What was granted beside the workspace, as it is bound. */
function grantedPaths({ granted, workspace }: PreparedCall, hidden: readonly string[]) {
  const outside = granted.filter(({ real }) => !isWithin(real, workspace));
  for (const one of outside) checkGranted(one, hidden);
  return outside.map((one) => ({ path: boundPath(one), access: one.access }));
}

/** Programs share the network of the machine, so every call has a port of its own, and may reach that one alone. */
function anyPort(): number {
  return 20_000 + Math.floor(Math.random() * 40_000);
}

function outputOf({ output }: SandboxView): readonly string[] {
  return output === undefined ? [] : [output];
}

export async function wrapInSeatbelt(
  base: SeatbeltBase,
  command: readonly [string, ...string[]],
  view: SandboxView,
): Promise<WalledCommand> {
  const call = await prepareCall(base, view);
  const { workspace, folders } = call;
  const [port, folder] = [view.grant.hosts.length > 0 ? anyPort() : null, packageFolder()];
  const order = call.order === null ? null : { ...call.order, port };
  const inside: InsidePaths = { node: process.execPath, folder, sockets: order?.sockets ?? "/", port: port ?? 0 };
  const etc = await settingsFolder(base.all, { gitconfig: gitSettings(base, view, inside) });
  const granted = grantedPaths(call, readAliases(base.home));
  const of = (access: "read" | "write") => granted.filter((one) => one.access === access).map(({ path }) => path);
  const own = packageParts(folder).map((name) => join(folder, name));
  const more = [...(view.programs ?? []), ...(view.files === undefined ? [] : [view.files])];
  const sockets = order === null ? [] : [order.sockets];
  const profile = seatbeltProfile({
    readable: [...base.folders, dirname(process.execPath), ...own, etc, ...more, ...sockets, ...of("read")],
    writable: [workspace, folders.home, folders.tmp, ...outputOf(view), ...of("write")],
    hidden: readAliases(base.home),
    sockets,
    proxyPort: port,
  });
  const env = insideEnvironment(view, inside, {
    HOME: folders.home,
    TMPDIR: folders.tmp,
    GIT_CONFIG_SYSTEM: join(etc, "gitconfig"),
  });
  const started = ["/bin/sh", "-c", 'ulimit -c 0; cd "$1" && shift && exec "$@"', "sandbox", view.cwd, ...command];
  const [first = "", ...rest] = [...aroundWords(order), ...seatbeltWords(profile, started)];
  return { program: first, words: rest, env };
}

export async function wrapInContainer(
  base: ContainerBase,
  command: readonly [string, ...string[]],
  view: SandboxView,
): Promise<WalledCommand> {
  // Without a runner nothing would end the container when its client is ended.
  const call = await prepareOrdered(base, view);
  const { workspace, folders } = call;
  const name = `everturn-${randomUUID()}`;
  const folder = packageFolder();
  const inside: InsidePaths = { ...containerRuntime, sockets: "/run/everturn/sockets", port: ownPort };
  const etc = await settingsFolder(base.all, { gitconfig: gitSettings(base, view, inside) });
  const bind = (from: string, at: string, access: "read" | "write"): Extract<Mount, { type: "bind" }> => ({
    type: "bind",
    from,
    at,
    access,
  });
  const granted = grantedPaths(call, readAliases(base.home));
  const more = [...(view.programs ?? []), ...(view.files === undefined ? [] : [view.files])];
  const order: RunnerOrder = { ...call.order, container: [base.kind, name] };
  const env = insideEnvironment(view, inside, { HOME: "/home/sandbox", TMPDIR: "/tmp" });
  const isSecret = (variable: string) => Object.hasOwn(view.env, variable) && !Object.hasOwn(base.user, variable);
  const words = containerWords({
    program: base.kind,
    image: defaultImage,
    name,
    mounts: [
      bind(workspace, workspace, "write"),
      bind(folders.home, "/home/sandbox", "write"),
      bind(folders.tmp, "/tmp", "write"),
      bind(join(etc, "gitconfig"), "/etc/gitconfig", "read"),
      bind(order.sockets, inside.sockets, "read"),
      ...packageParts(folder).map((part) => bind(join(folder, part), `${inside.folder}/${part}`, "read")),
      ...more.filter((path) => existsSync(path)).map((path) => bind(path, path, "read")),
      ...outputOf(view).map((path) => bind(path, path, "write")),
      ...granted.map(({ path, access }) => bind(path, path, access)),
    ],
    cwd: view.cwd,
    variables: Object.entries(env).map(([key, value]) => (isSecret(key) ? key : `${key}=${value}`)),
    user: `${process.getuid?.() ?? 1000}:${process.getgid?.() ?? 1000}`,
    memoryKb: resourceLimits().dataKb,
    processes: resourceLimits().processes,
    command: view.grant.hosts.length > 0 ? forwarded(command, inside) : command,
  });
  const [first = "", ...rest] = [...aroundWords(order), ...words];
  // The client of the container is a program of the user; it hands on what is named without a value.
  const secrets = Object.fromEntries(Object.entries(env).filter(([key]) => isSecret(key)));
  return { program: first, words: rest, env: { ...secrets, ...base.user } };
}
