// Which service keeps the gateway of a home running on this machine, and carrying its commands out.
// What could be there follows from facts that are passed in (`Here`); looking whether it is, and running programs, are
// the only effects. A command that fails becomes a sentence that says why and what to do.

import { execFile, execFileSync } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { userInfo } from "node:os";
import { delimiter, dirname, isAbsolute, join } from "node:path";
import { type Environment, environment } from "../config/load.ts";
import { Fault, sentenceOf } from "../core/fault.ts";
import { shellWord } from "../core/shell.ts";
import { type Answer, type Command, type Place, type Service, nameOf, noNeeds } from "./kinds.ts";
import { launchdService } from "./launchd.ts";
import { s6Service } from "./s6.ts";
import { type Scope, systemdService } from "./systemd.ts";
import { windowsService } from "./windows.ts";

/** All that decides which service belongs to a home. */
export type Here = {
  readonly system: NodeJS.Platform;
  readonly home: string;
  readonly node: string;
  readonly main: string;
  readonly env: Environment;
  /** Who asks. */
  readonly user: Place["user"];
  /** Whom a service of the whole system runs as: the owner of the home. */
  readonly owner: Place["user"];
  /** What is found on the disk. */
  exists(path: string): boolean;
};

/** Where s6 looks for services, when nothing else is said. */
const usualScan = "/run/service";
const unitFolder = "/etc/systemd/system";
const daemonFolder = "/Library/LaunchDaemons";
/** Variables of the user's shell that a gateway and its tools would miss. */
const passedOn = ["NODE_EXTRA_CA_CERTS", "NODE_OPTIONS", "PATH"] as const;

export function here(home: string): Here {
  const env = environment();
  const { username, uid, homedir } = userInfo();
  // As the system has it: HOME may be that of whoever called sudo.
  const user = { name: username, uid: uid < 0 ? null : uid, home: homedir };
  const [, main = ""] = process.argv;
  const owner = ownerOf(home, user, env);
  return { system: process.platform, home, node: process.execPath, main, env, user, owner, exists: existsSync };
}

function ownerOf(home: string, user: Place["user"], env: Environment): Place["user"] {
  // Windows knows no owners by number, and calls all of them 0.
  if (user.uid === null) return user;
  const caller = { name: env["SUDO_USER"] ?? "", uid: Number(env["SUDO_UID"] ?? Number.NaN) };
  const isCalled = caller.name !== "" && Number.isSafeInteger(caller.uid);
  const facts = statSync(home, { throwIfNoEntry: false });
  const uid = facts?.uid ?? (isCalled ? caller.uid : user.uid);
  if (uid === user.uid || uid === null) return user;
  return { name: isCalled && uid === caller.uid ? caller.name : userName(uid), uid, home: dirname(home) };
}

function userName(uid: number): string {
  try {
    return execFileSync("id", ["-nu", String(uid)], { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
  } catch (error) {
    // systemd and launchd take a number where no name is known.
    if (error instanceof Error) return String(uid);
    throw error;
  }
}

/** All services that this home could have on such a machine, the likeliest first. */
export function servicesOf(all: Here): readonly Service[] {
  switch (all.system) {
    case "linux":
      return [systemd(all, "user"), systemd(all, "system"), s6(all)];
    case "darwin":
      return [launchd(all, "user"), launchd(all, "system")];
    case "win32":
      return [windowsService(placeOf(all, "user"))];
    default:
      return [];
  }
}

/** The installed one, or null. */
export function findService(all: Here): Service | null {
  return servicesOf(all).find((one) => isInstalled(one, all)) ?? null;
}

/** Whom the gateway of a service runs as. */
export function runsAs({ kind }: Service, { user, owner }: Here): Place["user"] {
  return kind.endsWith("-system") ? owner : user;
}

export function isInstalled(service: Service, { exists }: Here): boolean {
  const [first] = service.files(noNeeds);
  return first !== undefined && exists(first.path);
}

/**
 * The one to install; a Fault where there is none for this machine. A trial asks for less: what would be written can be
 * looked at by anybody, also where it could not be used.
 */
export function serviceToInstall(all: Here, scope: Scope, isTrial: boolean): Service {
  const { system, user, exists } = all;
  if (scope === "system" && user.uid !== null && user.uid !== 0 && !isTrial)
    throw new Fault(
      "not-possible",
      `A service for the whole system can only be installed by its administrator. Try \`sudo everturn gateway install --system --home ${shellWord(all.home)}\`, or leave --system away for a service of ${user.name} alone.`,
    );
  const [usual, whole, other] = servicesOf(all);
  // A service of root's own session would end with it; nobody means that.
  const wanted = scope === "system" || user.uid === 0 ? (whole ?? usual) : usual;
  if (system === "linux" && !exists("/run/systemd/system")) {
    if (other !== undefined && exists(join(scanOf(all), ".s6-svscan"))) return other;
    if (!isTrial) throw noService("neither systemd nor s6 runs here");
  }
  if (wanted === undefined) throw noService(`there is none for ${system} yet`);
  return wanted;
}

function noService(why: string): Fault {
  return new Fault(
    "not-possible",
    `No service can be installed on this machine: ${why}. \`everturn gateway start\` runs the gateway without one; in a container, let the container run \`everturn gateway run\`.`,
  );
}

function systemd(all: Here, scope: Scope): Service {
  const { env, user } = all;
  const config = env["XDG_CONFIG_HOME"] ?? "";
  const own = join(isAbsolute(config) ? config : join(user.home, ".config"), "systemd", "user");
  return systemdService(placeOf(all, scope), scope, scope === "user" ? own : unitFolder);
}

function launchd(all: Here, scope: Scope): Service {
  const folder = scope === "user" ? join(all.user.home, "Library", "LaunchAgents") : daemonFolder;
  return launchdService(placeOf(all, scope), scope, folder);
}

function s6(all: Here): Service {
  return s6Service(placeOf(all, "user"), scanOf(all));
}

export function scanOf({ env }: Here): string {
  const scan = env["EVERTURN_S6_SCAN"] ?? "";
  return scan === "" ? usualScan : scan;
}

export function placeOf(all: Here, scope: Scope): Place {
  const { home, node, main, env, user, owner } = all;
  // In the list of the whole system the usual home of everybody but its administrator is one among many.
  const isUsual = scope === "user" || user.uid === 0;
  return {
    home,
    name: nameOf(home, isUsual ? join(user.home, ".everturn") : null),
    node,
    main,
    passOn: passOn(env),
    user: scope === "user" ? user : owner,
  };
}

/** What a start outside of the user's shell would miss. */
export function passOn(env: Environment): Readonly<Record<string, string>> {
  const pairs = passedOn.map((name) => [name, name === "PATH" ? cleanPath(env[name] ?? "") : (env[name] ?? "")]);
  return Object.fromEntries(pairs.filter(([, value]) => value !== ""));
}

/** Tools are looked for where the user has them, but not where npm looks while it runs a script. */
function cleanPath(path: string): string {
  const folders = path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && !/[\\/]node_modules[\\/]/.test(`${folder}/`));
  return [...new Set(folders)].join(delimiter);
}

// ----------------------------------------------------------------------------------------------------- carrying out

/** Longer than any stop that a supervisor may wait for; only what hangs meets it. */
const commandMs = 24 * 3_600_000;

export type Tried = Answer | { readonly code: "missing" };

/** Runs one command to its end; it may last as long as a stop does. */
export function tryCommand({ program, words }: Command, all: Here): Promise<Tried> {
  return new Promise((done) => {
    const options = { env: { ...all.env, ...userBus(all) }, timeout: commandMs, windowsHide: true };
    execFile(program, [...words], options, (error, out, err) => {
      if (error === null) done({ code: 0, out, err });
      else if (error.code === "ENOENT") done({ code: "missing" });
      else done({ code: typeof error.code === "number" ? error.code : 1, out, err: err || sentenceOf(error) });
    });
  });
}

/** A shell that was opened by `su` or over a bare connection lacks the address of the user's own systemd. */
function userBus({ env, user, exists }: Here): Readonly<Record<string, string>> {
  const folder = `/run/user/${user.uid}`;
  if ((env["XDG_RUNTIME_DIR"] ?? "") !== "" || user.uid === null || !exists(folder)) return {};
  return { XDG_RUNTIME_DIR: folder };
}

/**
 * Whether its supervisor is there to be in charge. A container may have prepared a folder for an s6 that does not run; the
 * others tell by themselves, with advice of their own, why they do not answer.
 */
export async function isAttended({ kind, check }: Pick<Service, "kind" | "check">, all: Here): Promise<boolean> {
  if (kind !== "s6") return true;
  for (const command of check) if ((await tryCommand(command, all)).code !== 0) return false;
  return true;
}

/** One after another; the first that fails and may not ends it with a Fault. */
export async function carryOut(commands: readonly Command[], all: Here): Promise<void> {
  for (const command of commands) {
    const tried = await tryCommand(command, all);
    if (tried.code !== 0 && command.mayFail !== true) throw new Fault("not-possible", complaint(command, tried, all));
  }
}

/** What went wrong with a command, and what to do. Pure. */
export function complaint({ program, words, what }: Command, tried: Tried, { user, home }: Here): string {
  const typed = `\`${[program, ...words].join(" ")}\``;
  if (tried.code === "missing")
    return `Cannot ${what}: the program ${program} is not on this machine. \`everturn gateway start\` runs the gateway without a service.`;
  const said = tried.err.trim() || tried.out.trim() || `it ended with ${tried.code}`;
  const first = `Cannot ${what}: ${typed} said: ${said.replace(/([^.!?])$/, "$1.")}`;
  // In the user's language, so the word for it is not looked for.
  if (program === "schtasks" && words.includes("/Create"))
    return `${first} A task that starts with the machine can only be registered by an administrator: open a terminal as administrator and try again. \`everturn gateway start\` runs the gateway without a task.`;
  const isBusGone = /failed to connect to (?:user scope )?bus|XDG_RUNTIME_DIR.* not (?:defined|set)/i.test(said);
  if (isBusGone && words.includes("--user"))
    return `${first} There is no session of ${user.name} that systemd knows. Log in as ${user.name} itself instead of changing to that user, or have it kept without a login (\`sudo loginctl enable-linger ${user.name}\`) and try again; or install for the whole system: \`sudo everturn gateway install --system --home ${shellWord(home)}\`.`;
  if (/access denied|permission denied|not permitted|authentication (?:is )?required|not privileged/i.test(said))
    return `${first} ${user.name} may not do that; run the same command with sudo, or leave --system away for a service of your own.`;
  if (isBusGone)
    return `${first} systemd does not answer on this machine; \`everturn gateway start\` runs the gateway without a service.`;
  return program === "systemctl" && words.includes("start")
    ? `${first} \`journalctl ${words.includes("--user") ? "--user " : ""}-u ${words.at(-1)} -n 50\` shows what the gateway said.`
    : first;
}
