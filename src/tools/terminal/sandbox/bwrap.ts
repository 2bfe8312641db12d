// The words for bubblewrap: what a command in the sandbox sees of this machine, and what it may change. Pure; whoever
// calls has looked at the disk. The command runs without rights, as nobody in particular, in name spaces that end with it:
// the workspace and a private /tmp can be written, everything else can only be read, secrets and the gateway's own folder
// are not there at all, and neither is the network unless it is allowed.

export type View = {
  /** Absolute, with links resolved; as are all paths here. */
  readonly workspace: string;
  readonly cwd: string;
  /** What is its /tmp; null for one that ends with it. */
  readonly scratch: string | null;
  readonly network: boolean;
  /** What is not to be seen, as far as it exists. */
  readonly hidden: readonly Hidden[];
};

export type Hidden = { readonly path: string; readonly kind: "folder" | "file" };

type Mount = { readonly at: string; readonly words: readonly string[] };

/** Sockets of other programs are there: whoever reaches them can have things done by others, out of the sandbox. */
const runtime = ["/run", "/var/run"];
/** Parts of it that hold no sockets: how names are looked up, and where some systems keep all their programs. */
const runtimeKept = [
  "/run/systemd/resolve/resolv.conf",
  "/run/systemd/resolve/stub-resolv.conf",
  "/run/resolvconf",
  "/run/current-system",
];

export function bwrapWords({ workspace, cwd, scratch, network, hidden }: View): readonly string[] {
  const covers = hidden.filter(({ path }) => !runtime.includes(path));
  const mounts: readonly Mount[] = [
    { at: "/tmp", words: scratch === null ? ["--tmpfs", "/tmp"] : ["--bind", scratch, "/tmp"] },
    ...["/var/tmp", "/dev/shm", "/run"].map((at) => ({ at, words: ["--tmpfs", at] })),
    ...runtimeKept.map((at) => ({ at, words: ["--ro-bind-try", at, at] })),
    ...covers.map(coverOf),
    { at: workspace, words: ["--bind", workspace, workspace] },
  ];
  return [
    ["--unshare-user", "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL"],
    ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
    network ? [] : ["--unshare-net"],
    ["--new-session", "--die-with-parent", "--hostname", "sandbox"],
    ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"],
    // What lies inside of something else comes after it.
    inDepth(mounts).flatMap((mount) => mount.words),
    // Nothing is to be found there, and nothing to be left there; but what lies inside had to be made first.
    covers.flatMap(({ path, kind }) => (kind === "folder" ? ["--remount-ro", path] : [])),
    ["--setenv", "TMPDIR", "/tmp", "--setenv", "XDG_CACHE_HOME", "/tmp/.cache"],
    ["--setenv", "npm_config_cache", "/tmp/.npm", "--chdir", cwd, "--"],
  ].flat();
}

function coverOf({ path, kind }: Hidden): Mount {
  return kind === "folder"
    ? { at: path, words: ["--tmpfs", path] }
    : { at: path, words: ["--ro-bind", "/dev/null", path] };
}

function inDepth(mounts: readonly Mount[]): readonly Mount[] {
  const depth = ({ at }: Mount) => at.split("/").filter(Boolean).length;
  return mounts.toSorted((a, b) => depth(a) - depth(b));
}
