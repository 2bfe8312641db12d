// The command line of bubblewrap. Pure.

import type { Mount } from "./mounts.ts";

export type BubblewrapPlan = {
  /** As `arrangeMounts` gives them. */
  readonly mounts: readonly Mount[];
  readonly cwd: string;
  /** Set inside only; the rest of the environment is passed on. */
  readonly setenv: Readonly<Record<string, string>>;
  /** From 0.8.0 on bubblewrap can refuse namespaces inside of namespaces; the system call filter does so in any case. */
  readonly canDisableUserns: boolean;
  /** Files of /proc that exist here and tell about the whole machine. */
  readonly hiddenProc: readonly string[];
};

/** Inside of its user namespace; files that the program makes belong to the user that runs the gateway. */
export const insideId = "1000";
export const seccompFd = "9";

export function bubblewrapWords(plan: BubblewrapPlan): readonly string[] {
  const { mounts, cwd, setenv, canDisableUserns, hiddenProc } = plan;
  const sealed = mounts.flatMap((mount) => (mount.type === "memory" && mount.isSealed ? [mount.at] : []));
  return [
    ["--unshare-user", ...(canDisableUserns ? ["--disable-userns"] : []), "--uid", insideId, "--gid", insideId],
    ["--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    ["--cap-drop", "ALL", "--new-session", "--die-with-parent", "--hostname", "sandbox", "--seccomp", seccompFd],
    // Settings of the kernel belong to root, so a gateway of root could change them from inside without any capability.
    ["--dev", "/dev", "--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys"],
    hiddenProc.flatMap((path) => ["--ro-bind", "/dev/null", path]),
    mounts.flatMap(mountWords),
    // Last, because mount points inside of them have to be made first.
    [...sealed, "/dev", "/"].flatMap((path) => ["--remount-ro", path]),
    Object.entries(setenv).flatMap(([name, value]) => ["--setenv", name, value]),
    ["--chdir", cwd, "--"],
  ].flat();
}

function mountWords(mount: Mount): readonly string[] {
  switch (mount.type) {
    case "bind":
      return [mount.access === "write" ? "--bind" : "--ro-bind", mount.from, mount.at];
    case "link":
      return ["--symlink", mount.to, mount.at];
    case "memory":
      return ["--tmpfs", mount.at];
    case "cover":
      return ["--ro-bind", "/dev/null", mount.at];
  }
}

/** In kilobytes; `file` in blocks of 512 bytes, as POSIX has it. */
export type ResourceLimits = {
  readonly processes: number;
  readonly dataKb: number;
  readonly fileBlocks: number;
  readonly openFiles: number;
};

/**
 * The outer shell hands the filter over and makes the program the first that ends when memory is short. The inner one
 * sets the limits: the number of processes counts in the user namespace only when it is set inside of it. `$1` names paths
 * with what they must be (device:inode): a path that leads elsewhere since it was looked at is not used.
 */
const outerScript = `exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- ${seccompFd}<"$1" || exit 126
shift
echo 1000 2>/dev/null >/proc/self/oom_score_adj
exec "$@"`;

export function innerScript({ processes, dataKb, fileBlocks, openFiles }: ResourceLimits): string {
  return `for fd in /proc/self/fd/*; do
  fd=\${fd##*/}
  [ "$fd" -gt 2 ] 2>/dev/null && [ -e "/proc/self/fd/$fd" ] && { echo "sandbox: descriptor $fd was left open" >&2; exit 126; }
done
ulimit -c 0
ulimit -f ${fileBlocks}
ulimit -d ${dataKb}
ulimit -n ${openFiles} 2>/dev/null
ulimit -u ${processes} 2>/dev/null || ulimit -p ${processes} 2>/dev/null
n=$1; shift
while [ "$n" -gt 0 ]; do
  [ "$(stat -L -c %d:%i -- "$2")" = "$1" ] || { echo "sandbox: $2 changed after it was granted; try again." >&2; exit 126; }
  shift 2; n=$((n-1))
done
exec "$@"`;
}

/** A granted path and its identity, as `device:inode`. */
export type PathIdentity = { readonly path: string; readonly identity: string };

export type WrapParts = {
  readonly program: string;
  readonly filter: string;
  readonly words: readonly string[];
  readonly limits: ResourceLimits;
  readonly paths: readonly PathIdentity[];
  readonly command: readonly string[];
};

export function wrapWords({ program, filter, words, limits, paths, command }: WrapParts): readonly string[] {
  const checks = paths.flatMap(({ path, identity }) => [identity, path]);
  const inner = ["/bin/sh", "-c", innerScript(limits), "sandbox", String(paths.length), ...checks, ...command];
  return ["/bin/sh", "-c", outerScript, "sandbox", filter, program, ...words, ...inner];
}
