// Attacks on the wall from inside of a real one: the kernel, other processes, descriptors, granted paths, the proxy.
// Needs bubblewrap and the right to make namespaces.

import assert from "node:assert/strict";
import { execFile, execFileSync, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { openSandbox } from "../../src/sandbox/index.ts";
import { atEnd, until } from "../process/stage.ts";
import { granting, newFolder, sandboxMissing, stageSandbox } from "./sandbox-stage.ts";

const skip = await sandboxMissing();
const python = (code: string) => `python3 - <<'END'\n${code}\nEND\n`;

test("the kernel's own interfaces are closed", { skip }, async (t) => {
  const { run } = stageSandbox(t);
  // Each writes back what it reads, so that a hole in the wall changes nothing.
  const files =
    "/proc/sys/kernel/core_pattern /proc/sys/kernel/hostname /proc/sys/vm/overcommit_memory /proc/sys/kernel/modprobe";
  const sysctls = await run(
    `for f in ${files}; do v=$(cat $f 2>/dev/null); (echo "$v" >$f) 2>/dev/null && echo WROTE $f; done; echo over`,
  );
  assert.equal(sysctls.said, "over\n");
  const commands = await run(
    `for c in 'unshare -U true' 'unshare -rm true' 'mount -t tmpfs x /tmp' 'mount --bind /usr /tmp' 'umount /proc/sys' 'chroot / true' 'mknod /tmp/d b 8 0' 'mknod /tmp/n c 1 1' 'nsenter -t 1 -m true' 'dmesg'; do
       $c >/dev/null 2>&1 && echo WORKED $c; done; grep -c 'Cap...:.0*$' /proc/self/status; grep -E 'NoNewPrivs|Seccomp:' /proc/self/status`,
  );
  assert.equal(commands.said, "5\nNoNewPrivs:\t1\nSeccomp:\t2\n");
  const calls = await run(
    python(`
import ctypes, platform, os
libc = ctypes.CDLL(None, use_errno=True)
arm = platform.machine() == "aarch64"
calls = {"add_key": (217 if arm else 248), "keyctl": (219 if arm else 250), "io_uring_setup": 425, "userfaultfd": (282 if arm else 323),
  "bpf": (280 if arm else 321), "perf_event_open": (241 if arm else 298), "setns": (268 if arm else 308), "open_by_handle_at": (265 if arm else 304),
  "kexec_load": (104 if arm else 246), "fsopen": 430, "open_tree": 428, "mount_setattr": 442}
for name, number in calls.items():
  if libc.syscall(number, 0, 0, 0, 0, 0) != -1 or ctypes.get_errno() != 1: print("OPEN", name, ctypes.get_errno())
libc.syscall(435, 0, 0)
print("clone3", ctypes.get_errno())
libc.syscall(220 if arm else 56, 0x10000000 | 17, 0, 0, 0, 0)
print("clone newuser", ctypes.get_errno())
import socket
for family in (socket.AF_VSOCK, socket.AF_ALG, socket.AF_PACKET, 29, 44):
  try: socket.socket(family, socket.SOCK_DGRAM); print("SOCKET", family)
  except OSError as e: print(e.errno, end=" ")
for protocol in (0, 4, 9, 12, 16):
  try: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol); print("netlink", protocol)
  except OSError as e: pass
for family in (socket.AF_INET, socket.AF_INET6, socket.AF_UNIX): socket.socket(family)
socket.socketpair()
import fcntl, pty
master, slave = pty.openpty()
try: fcntl.ioctl(slave, 0x5412, b"x"); print("TIOCSTI")
except OSError as e: print("tiocsti", e.errno)
`),
  );
  assert.equal(calls.said, "clone3 38\nclone newuser 1\n97 97 97 97 97 netlink 0\nnetlink 4\ntiocsti 1\n");
});

test("other processes, their sockets and inherited descriptors are out of reach", { skip }, async (t) => {
  const { run, sandbox, view } = stageSandbox(t);
  const name = `everturn-abstract-${process.pid}`;
  const server = createServer((socket) => socket.end("reached")).listen(`\0${name}`);
  const tcp = createServer((socket) => socket.end("reached")).listen(0, "127.0.0.1");
  atEnd(t, () => void [server.close(), tcp.close()]);
  await until(() => server.listening && tcp.listening, Boolean, "it listens");
  const address = tcp.address();
  const port = typeof address === "object" ? address?.port : 0;
  const tried = await run(
    `${python(`
import socket
for family, to in ((socket.AF_UNIX, "\\0${name}"), (socket.AF_INET, ("127.0.0.1", ${port}))):
  try: s = socket.socket(family); s.connect(to); print("REACHED", s.recv(9))
  except OSError as e: print(e.errno)
`)}kill -9 ${process.pid} 2>/dev/null && echo KILLED; ls /proc | grep -c '^[0-9]'; ls /proc/self/fd | tr '\\n' ' '; ls /run /proc/1/root/run | tr '\\n' ' '`,
  );
  assert.match(tried.said, /^111\n111\n[3-5]\n0 1 2 3 \/proc\/1\/root\/run: everturn {2}\/run: everturn $/);

  // A folder that was left open leads out of every namespace, so nothing is started with it.
  const folder = openSync("/", "r");
  const { program, words, env } = await sandbox.wrap(["ls", "/proc/self/fd/12"], view());
  const leaked = await new Promise<string>((resolve) => {
    const child = spawn(program, words, { env, stdio: ["ignore", "pipe", "pipe", ...Array(9).fill("ignore"), folder] });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data) => (said += String(data)));
    child.once("close", (code) => resolve(`${said}${code}`));
  });
  assert.equal(leaked, "sandbox: descriptor 12 was left open\n126");
});

test("a fork bomb and a hog end with their sandbox", { skip }, async (t) => {
  const { run, sandbox, view } = stageSandbox(t);
  const limits = await run("ulimit -u; ulimit -c; cat /proc/self/oom_score_adj");
  assert.equal(limits.said, "2048\n0\n1000\n");
  const { program, words, env } = await sandbox.wrap(
    ["sh", "-c", "for i in 1 2 3 4 5 6 7 8 9; do setsid sh -c 'trap \"\" TERM; sleep 6789' & done; echo up; wait"],
    view(),
  );
  const child = spawn(program, words, { env, stdio: ["ignore", "pipe", "ignore"] });
  await until(
    () => count("sleep\u00006789"),
    (n) => n === 9,
    "they run",
  );
  child.kill("SIGKILL");
  await until(
    () => count("sleep\u00006789"),
    (n) => n === 0,
    "all of them are gone",
  );
});

function count(words: string): number {
  return readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && readCommand(pid).startsWith(words)).length;
}

function readCommand(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error) return "";
    throw error;
  }
}

test("people do not meet, and a call with a grant starts with nothing", { skip }, async (t) => {
  const { run, home } = stageSandbox(t);
  assert.equal((await run("echo one >~/mine; echo two >/tmp/mine; cat ~/mine /tmp/mine")).said, "one\ntwo\n");
  assert.equal((await run("cat ~/mine /tmp/mine /var/tmp/mine")).said, "one\ntwo\ntwo\n");
  assert.equal(
    (await run("cat ~/mine /tmp/mine 2>/dev/null; ls -A ~ /tmp", { person: "api:x" })).said,
    "/home/sandbox:\n\n/tmp:\n",
  );
  const empty = await run("cat ~/mine /tmp/mine 2>/dev/null; ls -A ~ /tmp; echo x >~/left", { home: "empty" });
  assert.equal(empty.said, "/home/sandbox:\n\n/tmp:\n");
  assert.deepEqual(
    [readdirSync(join(home, "sandbox", "empty")), readdirSync(join(home, "sandbox", "sockets"))],
    [[], []],
  );
  assert.equal((await run("exit 7", { home: "empty" })).code, 7);
  assert.equal((await run("git config user.email", { person: "api:x" })).said, "agent@localhost\n");
});

test("granted paths are what was shown, and the gateway's home is never among them", { skip }, async (t) => {
  const { run, home, workspace, sandbox, view } = stageSandbox(t);
  const outside = newFolder(t, "outside");
  for (const folder of ["docs", "secret"]) mkdirSync(join(outside, folder));
  writeFileSync(join(outside, "docs", "a.txt"), "shown");
  writeFileSync(join(outside, "secret", "key"), "PLANTED");
  const docs = join(outside, "docs");
  const read = granting({ paths: [{ path: docs, access: "read" }] });
  assert.equal(
    (await run(`cat ${docs}/a.txt; ls ${outside}; touch ${docs}/x 2>/dev/null || echo closed`, read)).said,
    "showndocs\nclosed\n",
  );
  const file = granting({ paths: [{ path: join(docs, "a.txt"), access: "write" }] });
  assert.equal(
    (await run(`echo new >${docs}/.a && mv ${docs}/.a ${docs}/a.txt && cat ${docs}/a.txt`, file)).said,
    "new\n",
  );
  const made = granting({ paths: [{ path: join(docs, "b.txt"), access: "write" }] });
  assert.equal(
    (await run(`echo b >${docs}/b.txt; ln ${docs}/b.txt ~/b 2>&1 | grep -o 'cross-device'`, made)).said,
    "cross-device\n",
  );
  assert.equal(readFileSync(join(docs, "b.txt"), "utf8"), "b\n");

  symlinkSync(join(outside, "secret"), join(outside, "link"));
  mkdirSync(join(home, "jobs"));
  const refused = [
    ["/", "read", /whole machine/],
    ["/proc/1", "read", /belongs to the system/],
    ["/dev", "read", /belongs to the system/],
    ["/sys/kernel", "write", /belongs to the system/],
    ["/run", "read", /belongs to the system/],
    [home, "read", /gateway's own folder/],
    [join(home, "jobs"), "read", /gateway's own folder/],
    [join(home, "control.token"), "write", /gateway's own folder/],
    [join(home, ".."), "write", /(?:leads to|gateway's own folder is inside)/],
    [join(outside, "link"), "read", /it leads to .*secret/],
  ] as const;
  for (const [path, access, says] of refused)
    await assert.rejects(sandbox.wrap(["true"], view(granting({ paths: [{ path, access }] }))), says, path);

  // Reading a folder that holds the gateway's home shows an empty one there.
  writeFileSync(join(home, "control.token"), "PLANTED");
  const parent = granting({ paths: [{ path: join(home, "..").replace(/\/[^/]*\/\.\.$/, ""), access: "read" }] });
  assert.equal((await run(`cat ${home}/control.token 2>/dev/null; ls -A ${home}`, parent)).said, "workspace\n");
  assert.ok(existsSync(workspace));
});

test("a path that changes between the look and the start is not used", { skip }, async (t) => {
  const { sandbox, view } = stageSandbox(t);
  const outside = newFolder(t, "outside");
  for (const folder of ["docs", "secret"]) mkdirSync(join(outside, folder));
  writeFileSync(join(outside, "secret", "key"), "PLANTED");
  const docs = join(outside, "docs");
  const { program, words, env } = await sandbox.wrap(
    ["cat", `${docs}/key`],
    view(granting({ paths: [{ path: docs, access: "read" }] })),
  );
  renameSync(docs, join(outside, "before"));
  symlinkSync(join(outside, "secret"), docs);
  const said = await new Promise<string>((resolve) => {
    execFile(program, [...words], { env: { ...env } }, (_error, out, err) => resolve(`${out}${err}`));
  });
  assert.match(said, /^sandbox: .*docs changed after it was granted; try again\.\n$/);
});

test("a workspace that holds the gateway's home shows none of it, and cannot move it away", { skip }, async (t) => {
  const { run, home } = stageSandbox(t);
  const deep = join(home, "deep", "gateway");
  mkdirSync(deep, { recursive: true });
  writeFileSync(join(deep, "control.token"), "PLANTED");
  const inner = openSandbox({ choice: "bwrap", home: deep, userHome: null, environment: { PATH: "/usr/bin:/bin" } });
  const script = `cat deep/gateway/control.token 2>/dev/null; touch deep/gateway/x 2>/dev/null && echo WROTE; mv deep away 2>/dev/null && echo MOVED; mv deep/gateway away 2>/dev/null && echo MOVED; rm -rf deep 2>/dev/null; ls deep/gateway; touch ok`;
  const view = { person: "owner", workspace: home, cwd: home, ...granting({}), home: "person", env: {} } as const;
  const { program, words, env } = await inner.wrap(["bash", "-c", script], view);
  const said = await new Promise<string>((resolve) => {
    execFile(program, [...words], { env: { ...env } }, (_error, out, err) => resolve(`${out}${err}`));
  });
  assert.equal(said, "");
  assert.equal(readFileSync(join(deep, "control.token"), "utf8"), "PLANTED");
  assert.ok(existsSync(join(home, "ok")));
  assert.equal((await run("true")).code, 0);
});

test("another mount of the gateway's home shows none of it", {
  skip: process.getuid?.() === 0 ? skip : "it needs root",
}, async (t) => {
  const { run, home, sandbox, view } = stageSandbox(t);
  const outside = newFolder(t, "outside");
  const alias = join(outside, "alias");
  mkdirSync(alias);
  writeFileSync(join(home, "control.token"), "PLANTED");
  execFileSync("mount", ["--bind", home, alias]);
  atEnd(t, () => execFileSync("umount", [alias]));
  const path = (one: string) => granting({ paths: [{ path: one, access: "read" }] });
  assert.equal((await run(`ls -A ${alias}; cat ${alias}/control.token 2>/dev/null`, path(outside))).said, "");
  await assert.rejects(sandbox.wrap(["true"], view(path(alias))), /gateway's own folder/);
});
