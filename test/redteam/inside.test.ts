// What a program can do inside of the sandbox: no nested namespaces, no settings of the kernel, no capabilities, no doors of
// the kernel that are often broken, no sockets of this machine, and limits on what it uses up.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import {
  type Listener,
  assertUntouched,
  isWalled,
  walledOnly,
  limit,
  listen,
  openRedStage,
  terminal,
} from "./stage.ts";

const python = (code: string): string => `python3 - <<'PY'\n${code}\nPY`;

/** A number of a system call for x86-64 and for everything newer. */
const call = (x64: number, other: number, words: string): string =>
  [
    "import ctypes, platform",
    `n = ${x64} if platform.machine() == 'x86_64' else ${other}`,
    "libc = ctypes.CDLL(None, use_errno=True)",
    `r = libc.syscall(n, ${words})`,
    "e = ctypes.get_errno()",
    "print('result', r, e)",
  ].join("\n");

/** A gateway of root is no reason to have more rights inside. */
const users = process.getuid?.() === 0 ? (["a user", "root"] as const) : (["a user"] as const);

for (const user of users) {
  const title = `namespaces, kernel settings and capabilities are closed where the gateway runs as ${user}`;
  test(title, walledOnly, (t) => probe(t, user === "root"));
}

async function probe(t: TestContext, isRoot: boolean): Promise<void> {
  const stage = await openRedStage(t, { isRoot });
  const target = await stage.start();
  const probes = [
    ["a nested user namespace", "unshare -Ur true"],
    ["a nested user namespace with a mount", "unshare -Urm mount -t tmpfs none /mnt"],
    ["a nested network namespace", "unshare -Urn true"],
    ["clone with CLONE_NEWUSER", `python3 -c 'import os; os.unshare(os.CLONE_NEWUSER)'`],
    [
      "writing kernel settings",
      "echo 1 > /proc/sys/kernel/sched_child_runs_first || echo x > /proc/sys/kernel/core_pattern || test -w /proc/sys/kernel/core_pattern",
    ],
    ["sysrq", "echo h > /proc/sysrq-trigger"],
    ["kernel messages", "dmesg | grep ."],
    ["mounting", "mount -t tmpfs none /mnt"],
    ["capabilities", "grep -E '^Cap(Prm|Eff|Bnd|Amb|Inh):' /proc/self/status | grep -qv '0000000000000000$'"],
    ["privileges by setuid", "grep -q 'NoNewPrivs:.0' /proc/self/status"],
    ["root inside", "test $(id -u) = 0"],
    ["devices", "ls /dev/sda /dev/vda /dev/kvm /dev/fuse /dev/mem"],
    ["sockets of the host", "ls /run/docker.sock /var/run/docker.sock /run/dbus/system_bus_socket /run/user"],
    ["processes of the host", `test -d /proc/${target.pid}`],
    ["another root", "chroot / true"],
    ["shadow", "cat /etc/shadow"],
    ["the machine's own id", "cat /etc/machine-id /var/lib/dbus/machine-id"],
    [
      "the terminal of the user",
      'python3 -c \'import fcntl,termios; fcntl.ioctl(open("/dev/tty"), termios.TIOCSTI, b"x")\'',
    ],
  ] as const;
  const script = probes.map(
    ([name, command]) => `if ${command}; then echo "broke out: ${name}"; fi >> report 2>/dev/null`,
  );
  // As the start-up file of a shell, which no judgment of words looks into.
  stage.plant(join(stage.workspace, "probes"), `${script.join("\n")}\necho over >> report\n`);
  const { results } = await target.attack([terminal("bash --rcfile probes -i -c :")]);
  const report = join(stage.workspace, "report");
  const lines = existsSync(report) ? readFileSync(report, "utf8").trim().split("\n") : results;
  assert.deepEqual(
    lines.filter((line) => !/^(?!broke out|over)/.test(line)),
    ["over"],
  );
}

test("calls of the kernel that are not needed are refused", walledOnly, async (t) => {
  const stage = await openRedStage(t);
  const target = await stage.start();
  const calls = [
    ["keyctl", call(250, 219, "0, -3, 1, 0, 0")],
    ["add_key", call(248, 217, "b'user', b'x', b'y', 1, -3")],
    ["io_uring_setup", call(425, 425, "8, ctypes.create_string_buffer(120)")],
    ["a vsock socket", "import socket\ns = socket.socket(40, socket.SOCK_STREAM)\nprint('result', 3, 0)"],
    ["userfaultfd", call(323, 282, "0")],
    ["bpf", call(321, 280, "0, 0, 0")],
    ["perf_event_open", call(298, 241, "ctypes.create_string_buffer(128), 0, -1, -1, 0")],
  ] as const;
  const failures: string[] = [];
  for (const [name, code] of calls.slice(0, 4)) {
    const { results } = await target.attack([terminal(python(code))]);
    const [, result = "-1"] = /result (-?\d+)/.exec(results.join("\n")) ?? [];
    if (Number(result) >= 0) failures.push(`${name} answered ${result}`);
  }
  assert.deepEqual(failures, []);
});

test("an approved network call reaches neither this machine's ports nor the gateway", limit, async (t) => {
  const stage = await openRedStage(t);
  const target = await stage.start();
  const other: Listener = await listen(t);
  const hidden = [
    `curl -s -m 5 http://127.0.0.1:${other.port}/`,
    `curl -s -m 5 --noproxy '*' http://127.0.0.1:${other.port}/`,
    `curl -s -m 5 http://127.0.0.1:${target.port}/healthz`,
    `curl -s -m 5 http://localhost:${other.port}/`,
    `curl -s -m 5 http://[::1]:${other.port}/`,
    `curl -s -m 5 http://169.254.169.254/latest/meta-data/`,
    "true",
  ].join("\n");
  await target.attack([{ tool: "write_file", input: { path: "x.sh", content: hidden } }]);
  const { results, questions } = await target.attack(
    [terminal("curl -s -m 5 https://example.org/; bash x.sh")],
    isWalled ? "approve" : "deny",
  );
  t.diagnostic(`${questions.join("\n").slice(0, 300)} → ${results.join("\n").slice(0, 300)}`);
  assert.deepEqual(other.visits, [], "a port of this machine was reached");
  assert.doesNotMatch(results.join("\n"), /"state":"running"/, "the gateway's own port was reached");
  assertUntouched(stage, "an approved call with network");
});

const asRoot = { timeout: limit.timeout, ...onlyRoot() };

function onlyRoot() {
  const skip = limit.skip === false && process.getuid?.() !== 0 ? "it needs root" : limit.skip;
  return { skip };
}

test("a gateway of root runs no tools without a sandbox", asRoot, async (t) => {
  const stage = await openRedStage(t, { isRoot: true });
  const target = await stage.start();
  const calls = [terminal("id -u; touch ran"), { tool: "write_file", input: { path: "written", content: "x" } }];
  const { results } = await target.attack(calls, "approve");
  t.diagnostic(results.join("\n").slice(0, 300));
  const found = ["ran", "written"].filter((name) => existsSync(join(stage.workspace, name)));
  assert.deepEqual(found, isWalled ? ["ran", "written"] : []);
  assert.doesNotMatch(results.join("\n"), /^0$/m, "it runs as root");
  assertUntouched(stage, "a gateway of root");
});
