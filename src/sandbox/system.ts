// What of this machine every program in the sandbox may read: programs, libraries and the settings they need. Nothing of
// any home except folders of PATH, and nothing that other users of the machine could not read as well.

import { execFile } from "node:child_process";
import { existsSync, lstatSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Mount, isBelow, isWithin } from "./mounts.ts";

const roots = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store", "/gnu/store"];
const others = ["/run/current-system/sw", "/sys/devices/system/cpu"];

/** Without keys and passwords, and without what tells about the people of this machine. */
export const settingsParts =
  "alternatives ca-certificates ca-certificates.conf crypto-policies debian_version fonts gai.conf host.conf ImageMagick-6 ImageMagick-7 inputrc java ld.so.cache ld.so.conf ld.so.conf.d ld-musl-x86_64.path ld-musl-aarch64.path localtime locale.alias locale.conf lsb-release magic magic.mime manpath.config mime.types networks os-release papersize perl pki/ca-trust pki/tls/certs pki/tls/cert.pem pki/tls/openssl.cnf pki/java profile protocols python3 rpc services shells ssl/cert.pem ssl/certs ssl/openssl.cnf terminfo texmf timezone xdg/mimeapps.list".split(
    " ",
  );

/** Managers of versions, whose programs need more than the folder that is in PATH; below the user's home. */
const managers = ".nvm .fnm .volta .pyenv .rbenv .sdkman .asdf .rustup .local/share/fnm .local/share/mise".split(" ");
const wholePrefixes = "miniconda3 anaconda3 miniforge3 .linuxbrew".split(" ");
const beside: Readonly<Record<string, readonly string[]>> = {
  ".cargo/bin": [".rustup/toolchains", ".rustup/settings.toml"],
  ".local/bin": [".local/share/pipx", ".local/share/uv/tools", ".local/share/uv/python"],
};

/** Pure: the folders that a folder of PATH stands for. `homes` are folders that belong to people. */
export function foldersOfPath(path: string, userHome: string | null, homes: readonly string[]): readonly string[] {
  const folders = path.split(":").filter((one) => one.startsWith("/") && one !== "/");
  const wanted = folders.flatMap((folder) => (roots.some((root) => isWithin(folder, root)) ? [] : [folder]));
  return wanted.flatMap((folder) => {
    if (userHome !== null && isBelow(folder, userHome)) return inHome(folder, userHome);
    const prefix = dirname(folder);
    const isInstall = basename(folder) === "bin" && prefix !== "/" && dirname(prefix) !== "/";
    return isInstall && !homes.some((home) => isWithin(home, prefix))
      ? [prefix]
      : homes.includes(folder)
        ? []
        : [folder];
  });
}

function inHome(folder: string, userHome: string): readonly string[] {
  const inside = folder.slice(userHome.length + 1);
  const whole = [...managers, ...wholePrefixes].find((one) => isWithin(inside, one));
  if (whole !== undefined) return [join(userHome, whole)];
  return [folder, ...(beside[inside] ?? []).map((one) => join(userHome, one))];
}

/** What such a manager installs is the same for everybody who downloads it, and takes seconds to look through. */
function isManaged(folder: string, userHome: string | null): boolean {
  const whole = [...managers, ...wholePrefixes, ...Object.values(beside).flat()];
  return userHome !== null && whole.some((one) => isWithin(folder, join(userHome, one)));
}

export type SystemView = {
  readonly mounts: readonly Mount[];
  readonly hiddenProc: readonly string[];
};

/** They tell root about the whole machine; other users cannot read them in the first place. */
const hiddenProc =
  "kpagecount kpageflags kpagecgroup timer_list sched_debug sysrq-trigger slabinfo vmallocinfo pagetypeinfo latency_stats"
    .split(" ")
    .map((name) => `/proc/${name}`);

export type SystemSources = {
  /** PATH of the gateway. */
  readonly path: string;
  readonly userHome: string | null;
  /** Folders that are never shown, whatever contains them. */
  readonly hidden: readonly string[];
};

export async function readSystem({ path, userHome, hidden }: SystemSources): Promise<SystemView> {
  const isRoot = process.getuid?.() === 0;
  const homes = ["/root", "/home", "/Users", "/tmp", "/var/tmp", ...hidden, ...(userHome === null ? [] : [userHome])];
  const folders = foldersOfPath(path, userHome, homes).filter((one) => !hidden.some((other) => isWithin(one, other)));
  const wanted = [...roots, ...others, ...folders];
  const mounts = wanted.flatMap(mountOf);
  const scanned = [...ownPrograms, ...folders].filter((one) => existsSync(one) && !isManaged(one, userHome));
  return {
    mounts: [...mounts, ...(scanned.length === 0 ? [] : await privateIn(scanned))],
    hiddenProc: (isRoot ? hiddenProc : []).filter((one) => lstatSync(one, { throwIfNoEntry: false }) !== undefined),
  };
}

/** A link to a place that is there anyway stays a link. */
function mountOf(path: string): readonly Mount[] {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isSymbolicLink()) return [{ type: "bind", at: path, from: path, access: "read" }];
  const to = readlinkSync(path);
  if (roots.includes(path)) return [{ type: "link", at: path, to }];
  try {
    return [{ type: "bind", at: path, from: realpathSync(path), access: "read" }];
  } catch (error) {
    // It leads nowhere.
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}

const scanMs = 60_000;

/** Where people put programs of their own; the rest of /usr comes from packages that everybody can read. */
const ownPrograms = ["/opt", "/usr/local"];

/**
 * What other users of the machine may not read is hidden, because the program runs with the file rights of the gateway's
 * user: a key in /opt that only this user may read would be open to it.
 */
async function privateIn(folders: readonly string[]): Promise<readonly Mount[]> {
  const test = ["(", "-type", "d", "!", "-perm", "-o=rx", "-o", "-type", "f", "!", "-perm", "-o=r", ")"];
  const words = [...folders, "-xdev", ...test, "-prune", "-print0"];
  const found = await new Promise<string>((resolve, reject) => {
    const options = { timeout: scanMs, maxBuffer: 16 * 1024 * 1024, env: { LC_ALL: "C", PATH: "/usr/bin:/bin" } };
    execFile("find", words, options, (error, out) => {
      // It also fails for a folder that this user may not read; the sandbox cannot either.
      if (error === null || (error.killed !== true && error.code === 1)) resolve(out);
      else reject(error);
    });
  });
  return found
    .split("\0")
    .filter(Boolean)
    .map((at) => (statSync(at).isDirectory() ? { type: "memory", at, isSealed: true } : { type: "cover", at }));
}
