// What is decided about a view: mounts, granted paths, folders of PATH, the state and the system call filter.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { aliasesIn } from "./aliases.ts";
import { bubblewrapWords } from "./bubblewrap.ts";
import { isInherited } from "./descriptors.ts";
import { boundPath, checkGranted } from "./grants.ts";
import { type Mount, arrangeMounts } from "./mounts.ts";
import { seccompFilter } from "./seccomp.ts";
import { agentIdentity, gitConfig } from "./settings.ts";
import { type SandboxChoice, type Trial, adviceFor, decideState, kindOf, shownState } from "./state.ts";
import { foldersOfPath } from "./system.ts";
import { type ViewFacts, planView } from "./view.ts";

const bind = (at: string, access: "read" | "write" = "read", from = at): Mount => ({ type: "bind", at, from, access });
const shown = (mount: Mount) =>
  mount.type === "bind"
    ? `${mount.access} ${mount.at}${mount.from === mount.at ? "" : ` (${mount.from})`}`
    : `${mount.type} ${mount.at}`;

describe("mounts", () => {
  const memory = (at: string): Mount => ({ type: "memory", at, isSealed: true });
  const cases: readonly (readonly [name: string, mounts: readonly Mount[], order: readonly string[]])[] = [
    ["outer ones first", [bind("/a/b/c"), bind("/a", "read", "/x")], ["read /a (/x)", "read /a/b/c"]],
    ["what is shown already is left out", [bind("/a"), bind("/a/b")], ["read /a"]],
    ["but not where more is allowed", [bind("/a"), bind("/a/b", "write")], ["read /a", "write /a/b"]],
    [
      "nor behind something that hides it",
      [bind("/a", "write"), memory("/a/b"), bind("/a/b/c", "write")],
      ["write /a", "memory /a/b", "write /a/b/c"],
    ],
    [
      "folders between are pinned in a writable one",
      [bind("/w", "write"), memory("/w/x/y/home")],
      ["write /w", "write /w/x", "write /w/x/y", "memory /w/x/y/home"],
    ],
    ["and not in one that can only be read", [bind("/w"), memory("/w/x/y/home")], ["read /w", "memory /w/x/y/home"]],
    ["the first at a path counts", [memory("/a"), bind("/a")], ["memory /a"]],
  ];
  for (const [name, mounts, order] of cases)
    test(name, () => assert.deepEqual(arrangeMounts(mounts).map(shown), order));
});

describe("a view", () => {
  const facts: ViewFacts = {
    system: [bind("/usr")],
    runtime: { node: "/opt/node/bin/node", folder: "/opt/everturn", shown: ["bin"] },
    hidden: ["/home/ann/.everturn"],
    workspace: "/home/ann/.everturn/workspace",
    folders: { home: "/home/ann/.everturn/sandbox/people/1/home", tmp: "/home/ann/.everturn/sandbox/people/1/tmp" },
    settings: { gitconfig: "/home/ann/.everturn/sandbox/etc/1/gitconfig" },
    etc: { folder: "/home/ann/.everturn/sandbox/etc/2", names: ["passwd", "gitconfig"] },
    granted: [],
    programs: [],
    files: null,
    output: null,
    more: [],
  };
  const view = (change: Partial<ViewFacts>) => planView({ ...facts, ...change });
  const at = (change: Partial<ViewFacts>) => view(change).mounts.map(shown);

  test("the workspace is in the gateway's home, which is not shown", () => {
    const mounts = at({});
    assert.ok(mounts.includes("write /home/ann/.everturn/workspace"));
    assert.equal(
      mounts.some((one) => /\/home\/ann(?:\/.everturn)?$/.test(one)),
      false,
    );
    assert.ok(mounts.includes("write /home/sandbox (/home/ann/.everturn/sandbox/people/1/home)"));
  });
  test("a workspace around the gateway's home hides it", () =>
    assert.ok(at({ workspace: "/home/ann" }).includes("memory /home/ann/.everturn")));
  test("so does a program folder, under the path that it has inside", () => {
    const runtime = { ...facts.runtime, folder: "/home/ann", shown: [".everturn"] };
    assert.ok(at({ runtime }).includes("memory /run/everturn/package/.everturn"));
  });
  test("HOME is where nothing else is mounted", () => {
    assert.equal(view({}).home, "/home/sandbox");
    assert.equal(view({ workspace: "/home/sandbox" }).home, "/home/sandbox-home");
  });
  test("/tmp is in memory where something is mounted below it, because programs can write it", () => {
    assert.equal(view({}).tmp, "/tmp");
    const below = view({ workspace: "/tmp/work" });
    assert.equal(below.tmp, "/var/tmp");
    assert.ok(below.mounts.map(shown).includes("memory /tmp"));
    const both = view({ workspace: "/var/tmp/work", programs: ["/tmp/tool"] });
    assert.deepEqual([both.tmp, both.mounts.map(shown).includes("memory /var/tmp")], ["/dev/shm", true]);
  });
  test("/etc is one folder, and comes in parts where something else lies in it", () => {
    assert.ok(at({}).includes("read /etc (/home/ann/.everturn/sandbox/etc/2)"));
    const mounts = at({ granted: [{ path: "/etc/nginx", real: "/etc/nginx", access: "read", isFolder: true }] });
    assert.ok(mounts.includes("read /etc/passwd (/home/ann/.everturn/sandbox/etc/2/passwd)"));
    assert.ok(mounts.includes("read /etc/gitconfig (/home/ann/.everturn/sandbox/etc/1/gitconfig)"));
    assert.equal(
      mounts.some((one) => one.startsWith("read /etc (")),
      false,
    );
  });
  test("a granted path in the workspace is there already", () => {
    const path = "/home/ann/.everturn/workspace/a";
    assert.deepEqual(view({ granted: [{ path, real: path, access: "write", isFolder: true }] }).bound, []);
  });
});

describe("granted paths", () => {
  const granted = (path: string, access: "read" | "write", isFolder = true, real = path) => ({
    path,
    real,
    access,
    isFolder,
  });
  test("a file that is written needs its folder", () => {
    assert.equal(boundPath(granted("/srv/a.txt", "write", false)), "/srv");
    assert.equal(boundPath(granted("/srv/a.txt", "read", false)), "/srv/a.txt");
    assert.equal(boundPath(granted("/srv/a", "write")), "/srv/a");
  });
  const home = "/home/ann/.everturn";
  const cases: readonly (readonly [path: Parameters<typeof checkGranted>[0], why: RegExp | null])[] = [
    [granted("/srv/a", "write"), null],
    [granted("/home/ann", "read"), null],
    [granted("/home/ann", "write"), /gateway's own folder is inside/],
    [granted("/home/ann/x.txt", "write", false), /gateway's own folder is inside/],
    [granted(home, "read"), /gateway's own folder/],
    [granted(`${home}/config.yaml`, "read", false), /gateway's own folder/],
    [granted("/", "read"), /whole machine/],
    [granted("/vmlinuz", "write", false), /whole machine/],
    [granted("/proc/self", "read"), /belongs to the system/],
    [granted("/run/docker.sock", "read", false), /belongs to the system/],
    [granted("/srv/a", "read", true, "/srv/b"), /leads to \/srv\/b/],
  ];
  for (const [one, why] of cases)
    test(`${one.access} ${one.path}`, () => {
      const check = () => checkGranted(one, [home]);
      if (why === null) check();
      else assert.throws(check, why);
    });
});

describe("other paths of the gateway's home", () => {
  const info = (...mounts: readonly (readonly [device: string, root: string, at: string])[]) =>
    mounts.map(([device, root, at], n) => `${n} 1 ${device} ${root} ${at} rw - ext4 /dev/x rw`).join("\n");
  const root = ["8:1", "/", "/"] as const;
  const home = "/home/ann/.everturn";
  const cases: readonly (readonly [name: string, mountinfo: string, paths: readonly string[]])[] = [
    ["none", info(root, ["8:2", "/", "/srv"]), [home]],
    ["the home itself", info(root, ["8:1", home, "/srv/alias"]), [home, "/srv/alias"]],
    ["a folder around it", info(root, ["8:1", "/home", "/srv/homes"]), [home, "/srv/homes/ann/.everturn"]],
    ["the whole file system", info(root, ["8:1", "/", "/mnt/all"]), [home, `/mnt/all${home}`]],
    ["a part of it", info(root, ["8:1", `${home}/jobs`, "/srv/jobs"]), [home, "/srv/jobs"]],
    ["another folder of that file system", info(root, ["8:1", "/var", "/srv/var"]), [home]],
    [
      "a home on a disk of its own",
      info(root, ["8:3", "/ann", "/home/ann"], ["8:3", "/", "/mnt/a\\040b"]),
      [home, "/mnt/a b/ann/.everturn"],
    ],
    ["a workspace mounted into it", info(root, ["8:1", "/srv/work", `${home}/workspace`]), [home]],
  ];
  for (const [name, mountinfo, paths] of cases) test(name, () => assert.deepEqual(aliasesIn(mountinfo, home), paths));
});

describe("folders of PATH", () => {
  const cases: readonly (readonly [path: string, folders: readonly string[]])[] = [
    ["/usr/bin:/bin:/usr/local/bin:/opt/x/bin", []],
    ["/srv/tools/bin", ["/srv/tools"]],
    ["/tools/bin", ["/tools/bin"]],
    ["/home/ann/.nvm/versions/node/v26/bin", ["/home/ann/.nvm"]],
    ["/home/ann/bin", ["/home/ann/bin"]],
    [
      "/home/ann/.cargo/bin",
      ["/home/ann/.cargo/bin", "/home/ann/.rustup/toolchains", "/home/ann/.rustup/settings.toml"],
    ],
    ["/users/bob/bin", ["/users/bob/bin"]],
    ["relative:.:/:", []],
  ];
  for (const [path, folders] of cases)
    test(path, () => assert.deepEqual(foldersOfPath(path, "/home/ann", ["/home", "/home/ann", "/users/bob"]), folders));
});

describe("the state", () => {
  const works: Trial = { type: "works" };
  const fails: Trial = { type: "fails", why: "it is broken." };
  const cases: readonly (readonly [choice: SandboxChoice, platform: string, trial: Trial, state: string])[] = [
    ["auto", "linux", works, "on bubblewrap"],
    ["auto", "darwin", works, "on seatbelt"],
    ["auto", "win32", works, "off"],
    ["auto", "linux", fails, "off"],
    ["bwrap", "linux", works, "on bubblewrap"],
    ["bwrap", "linux", fails, "missing"],
    ["docker", "linux", works, "on docker"],
    ["podman", "win32", fails, "missing"],
    ["off", "linux", works, "missing"],
  ];
  for (const [choice, platform, trial, state] of cases)
    test(`${choice} on ${platform}, where it ${trial.type}`, () => {
      const found = decideState(choice, kindOf(choice, platform), trial, false);
      assert.equal(found.type === "on" ? `on ${found.kind}` : found.type, state);
    });
  test("as root without a sandbox tools are refused, unless that is allowed", () => {
    const off = { type: "off", why: "None.", isAccepted: true } as const;
    const refused = shownState(off, true, false);
    assert.ok(refused.type === "off" && refused.isRefused === true);
    assert.match(refused.why, /^None\. The gateway runs as root: .*allowRoot: true\.$/);
    assert.equal(shownState(off, true, true), off);
    assert.equal(shownState(off, false, false), off);
    const on = { type: "on", kind: "bubblewrap" } as const;
    assert.equal(shownState(on, true, false), on);
  });
  test("what to do is said", () => {
    assert.match(adviceFor("not-installed", false), /apt install bubblewrap/);
    const denied = "bwrap: setting up uid map: Permission denied";
    assert.match(adviceFor(denied, false), /apparmor_restrict_unprivileged_userns=0/);
    assert.match(adviceFor(denied, true), /--security-opt/);
    assert.match(adviceFor(denied, false, true), /NoNewPrivs.*setuid bwrap.*install --force/);
    assert.doesNotMatch(adviceFor(denied, false), /NoNewPrivs/);
    assert.doesNotMatch(adviceFor("not-installed", false, true), /NoNewPrivs/);
    assert.match(adviceFor("bwrap: Unknown option --x", false), /too old/);
  });
});

describe("the command line of bubblewrap", () => {
  const words = bubblewrapWords({
    mounts: [bind("/usr")],
    cwd: "/w",
    setenv: { NODE_OPTIONS: "x" },
    canDisableUserns: true,
    hiddenProc: [],
  }).join(" ");
  for (const part of [
    "--unshare-user --disable-userns --uid 1000",
    "--unshare-pid --unshare-net --unshare-ipc --unshare-uts",
    "--cap-drop ALL --new-session --die-with-parent",
    "--seccomp 9",
    "--ro-bind /proc/sys /proc/sys",
    "--setenv NODE_OPTIONS x --chdir /w --",
  ])
    test(part, () => assert.ok(words.includes(part), words));
  test("nothing can be written that is not a bind, also where it is empty", () =>
    assert.match(words, /--remount-ro \/dev --remount-ro \/ --setenv/));
});

/** As the kernel runs it, for the few instructions there are. */
function verdict(
  filter: Uint8Array,
  data: { readonly arch: number; readonly number: number; readonly args?: readonly number[] },
): number {
  const view = new DataView(filter.buffer, filter.byteOffset);
  const load = (offset: number) =>
    offset === 0 ? data.number : offset === 4 ? data.arch : (data.args?.[(offset - 16) / 8] ?? 0);
  let value = 0;
  for (let at = 0; ; at++) {
    const [code, yes, no, k] = [
      view.getUint16(at * 8, true),
      view.getUint8(at * 8 + 2),
      view.getUint8(at * 8 + 3),
      view.getUint32(at * 8 + 4, true),
    ];
    if (code === 0x06) return k;
    if (code === 0x20) value = load(k);
    else at += (code === 0x15 ? value === k : code === 0x35 ? value >= k : (value & k) !== 0) ? yes : no;
  }
}

describe("the system call filter", () => {
  const [allow, kill, eperm, enosys, eafnosupport] = [0x7fff0000, 0x80000000, 0x50001, 0x50026, 0x50061];
  const x64 = 0xc000003e;
  const arm64 = 0xc00000b7;
  const cases: readonly (readonly [
    name: string,
    arch: "x64" | "arm64",
    data: Parameters<typeof verdict>[1],
    gives: number,
  ])[] = [
    ["read", "x64", { arch: x64, number: 0 }, allow],
    ["another architecture", "x64", { arch: 0x40000003, number: 0 }, kill],
    ["a call of x32", "x64", { arch: x64, number: 0x40000000 }, kill],
    ["mount", "x64", { arch: x64, number: 165 }, eperm],
    ["mount", "arm64", { arch: arm64, number: 40 }, eperm],
    ["keyctl", "arm64", { arch: arm64, number: 219 }, eperm],
    ["io_uring_setup", "arm64", { arch: arm64, number: 425 }, eperm],
    ["x86-64 on arm64", "arm64", { arch: x64, number: 0 }, kill],
    ["clone3", "x64", { arch: x64, number: 435 }, enosys],
    ["clone of a thread", "x64", { arch: x64, number: 56, args: [0x3d0f00] }, allow],
    ["clone of a user namespace", "x64", { arch: x64, number: 56, args: [0x10000011] }, eperm],
    ["clone of a mount namespace", "arm64", { arch: arm64, number: 220, args: [0x20011] }, eperm],
    ["TIOCSTI", "x64", { arch: x64, number: 16, args: [0, 0x5412] }, eperm],
    ["TCGETS", "x64", { arch: x64, number: 16, args: [0, 0x5401] }, allow],
    ["a TCP socket", "x64", { arch: x64, number: 41, args: [2, 1, 0] }, allow],
    ["an IPv6 socket", "arm64", { arch: arm64, number: 198, args: [10, 1, 0] }, allow],
    ["VSOCK", "x64", { arch: x64, number: 41, args: [40, 1, 0] }, eafnosupport],
    ["netlink routes", "x64", { arch: x64, number: 41, args: [16, 3, 0] }, allow],
    ["netlink netfilter", "x64", { arch: x64, number: 41, args: [16, 3, 12] }, eafnosupport],
    ["a pair of unix sockets", "x64", { arch: x64, number: 53, args: [1, 1, 0] }, allow],
  ];
  for (const [name, arch, data, gives] of cases)
    test(`${name} (${arch})`, () => assert.equal(verdict(seccompFilter(arch), data), gives));
});

test("names of people do not break the settings of git", () => {
  assert.equal(
    gitConfig({ name: 'A "B"\n[core]\n\tpager = x', email: "a\\b" }).split("\n").length,
    gitConfig(agentIdentity).split("\n").length,
  );
  assert.ok(gitConfig({ name: 'A "B"', email: "a\\b" }).includes('name = "A \\"B\\""'));
});

test("a descriptor without close-on-exec is inherited", () => {
  assert.equal(isInherited("pos:\t0\nflags:\t0100000\nmnt_id:\t9\n"), true);
  assert.equal(isInherited("pos:\t0\nflags:\t02100000\nmnt_id:\t9\n"), false);
});
