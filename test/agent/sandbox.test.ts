// Commands in a real sandbox: what they can change, what they can see, whom they can reach, and that nothing of them is
// left. Needs bubblewrap and the right to make name spaces.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createServer as createSocket } from "node:net";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { ToolResult } from "../../src/core/journal.ts";
import type { Tool } from "../../src/ports/tool.ts";
import { openSandbox, tryBwrap } from "../../src/tools/terminal/sandbox/sandbox.ts";
import { atEnd, until } from "../process/stage.ts";
import { context, marksOf, newJobsHome, stageTools } from "./jobs-stage.ts";

const outputOf = (result: ToolResult) => (result.type === "ok" ? String(result.output) : assert.fail(result.why));

const trial = await tryBwrap();
const cannot = trial.works ? false : `no sandbox works here: ${trial.why}`;
const cannotAsUser = process.getuid?.() === 0 ? cannot : "it needs root";

/** Not below /tmp, which a sandbox has anew, and where this clone may be. */
const apart = homedir();

/** A user with secrets. */
function newUser(t: TestContext): string {
  const userHome = mkdtempSync(join(apart, "everturn-user-"));
  atEnd(t, () => rmSync(userHome, { recursive: true, force: true }));
  for (const folder of [".ssh", ".config/gh", "src"]) mkdirSync(join(userHome, folder), { recursive: true });
  writeFileSync(join(userHome, ".ssh", "id_ed25519"), "PLANTED-KEY");
  writeFileSync(join(userHome, ".config/gh", "hosts.yml"), "PLANTED-TOKEN");
  writeFileSync(join(userHome, ".netrc"), "PLANTED-PASSWORD");
  writeFileSync(join(userHome, "src", "code.txt"), "plain code");
  return userHome;
}

test("the workspace and /tmp can be written, nothing else", { skip: cannot }, async (t) => {
  const { terminal, home, workspace } = newJobsHome(t, { choice: "bwrap" });
  const elsewhere = mkdtempSync(join(tmpdir(), "everturn-elsewhere-"));
  atEnd(t, () => rmSync(elsewhere, { recursive: true, force: true }));
  const places = [elsewhere, home, join(home, "jobs"), "/etc", "/usr", "/var/lib", "/root", "/", "/proc/sys/kernel"];
  const own = `everturn-own-${process.pid}`;
  const tries = places.map((place) => `touch ${place}/planted 2>/dev/null && echo WROTE ${place}`).join("; ");
  const command = `${tries}; echo kept >mine; mkdir sub; echo x >/tmp/${own} && cat mine /tmp/${own}; id -u`;
  const output = outputOf(await terminal.run({ command }, context("k1")));
  assert.doesNotMatch(output, /WROTE/);
  assert.match(output, /\]\nkept\nx\n1000$/);
  assert.equal(readFileSync(join(workspace, "mine"), "utf8"), "kept\n");
  for (const place of places) assert.equal(existsSync(join(place, "planted")), false, place);
  assert.equal(existsSync(`/tmp/${own}`), false, "its /tmp is its own");
  const again = outputOf(await terminal.run({ command: `cat /tmp/${own}; stat -c %a /tmp` }, context("k2")));
  assert.match(
    again,
    /^\[exit code 0 .*; in a sandbox, without network\]\nx\n700$/,
    "and the same for the next command",
  );
  const other = context("k3", { address: { platform: "web", account: "main", chat: "c2" } });
  assert.match(
    outputOf(await terminal.run({ command: `cat /tmp/${own}` }, other)),
    /No such file/,
    "but nobody else's",
  );
});

test("what needs more than the sandbox gives is asked for outside of it, and done there", {
  skip: cannot,
}, async (t) => {
  const { terminal, home, jobs } = newJobsHome(t, { choice: "bwrap", approvals: "dangerous" });
  const elsewhere = mkdtempSync(join(apart, "everturn-elsewhere-"));
  atEnd(t, () => rmSync(elsewhere, { recursive: true, force: true }));
  const { session, address, requester, now } = context("k");
  const vet = async (tool: Tool, command: string) =>
    tool.vet?.({ command }, { session, address, requester, now, outside: false });
  const command = `echo precious >${elsewhere}/report.txt && echo saved`;
  const asked = await vet(terminal, command);
  assert.ok(asked?.type === "approve", JSON.stringify(asked));
  assert.match(asked.what, /\n\(in .*\/workspace, outside the sandbox\)$/);
  assert.match(asked.subject ?? "", /outside the sandbox/);
  const result = outputOf(await terminal.run({ command }, context("k1")));
  assert.match(result, /^\[exit code 0 .*; outside the sandbox\]\nsaved$/);
  assert.equal(readFileSync(join(elsewhere, "report.txt"), "utf8"), "precious\n");
  // A new gateway tells the same of it.
  assert.equal(outputOf((await terminal.check?.({ command }, context("k1"))) ?? assert.fail()), result);

  const removal = await vet(terminal, "rm -rf build");
  assert.match(removal?.type === "approve" ? removal.what : "", /, in a sandbox, without network\)$/);
  assert.deepEqual(await vet(terminal, `sh x.sh; touch y`), { type: "run" });

  // Where nobody is asked it holds, and the result says so.
  const never = stageTools(home, jobs, { choice: "bwrap", approvals: "never" }).terminal;
  const place = mkdtempSync(join(apart, "everturn-place-"));
  atEnd(t, () => rmSync(place, { recursive: true, force: true }));
  const write = `echo precious >${place}/report.txt`;
  assert.deepEqual(await vet(never, write), { type: "run" });
  const refused = outputOf(await never.run({ command: write }, context("k2")));
  assert.match(
    refused,
    /^\[exit code [12] .*; in a sandbox, without network\]\n.*Read-only file system\n\(This ran in a sandbox: /,
  );
  assert.equal(existsSync(join(place, "report.txt")), false);
});

test("its /tmp is written without a question, and the network is had by asking", { skip: cannot }, async (t) => {
  const server = createServer((_, response) => response.end("reached")).listen(0, "127.0.0.1");
  atEnd(t, () => server.close());
  await until(() => server.listening, Boolean, "it listens");
  const { port } = server.address() as AddressInfo;
  const { terminal, home, jobs } = newJobsHome(t, { choice: "bwrap", approvals: "dangerous" });
  const { session, address, requester, now } = context("k");
  const vet = async (tool: Tool, command: string) =>
    tool.vet?.({ command }, { session, address, requester, now, outside: false });

  const own = `everturn-free-${process.pid}`;
  const write = `echo x > /tmp/${own} && echo y >> $TMPDIR/${own}`;
  assert.deepEqual(await vet(terminal, write), { type: "run" });
  assert.match(outputOf(await terminal.run({ command: write }, context("k1"))), /^\[exit code 0 .*; in a sandbox, /);
  assert.equal(existsSync(`/tmp/${own}`), false, "nothing of it is in the real one");
  const read = `cat /tmp/${own}`;
  assert.deepEqual(await vet(terminal, read), { type: "run" });
  assert.match(outputOf(await terminal.run({ command: read }, context("k2"))), /\]\nx\ny$/);

  const fetch = `curl -s http://127.0.0.1:${port}`;
  const asked = await vet(terminal, fetch);
  assert.ok(asked?.type === "approve", JSON.stringify(asked));
  assert.equal(asked.why, "it needs the network, which the sandbox does not give");
  assert.match(asked.what, /, outside the sandbox\)$/);
  assert.match(
    outputOf(await terminal.run({ command: fetch }, context("k3"))),
    /^\[exit code 0 .*; outside the sandbox\]\nreached$/,
  );
  const open = stageTools(home, jobs, { choice: "bwrap", approvals: "dangerous", network: true }).terminal;
  assert.deepEqual(await vet(open, fetch), { type: "run" });
  assert.match(outputOf(await open.run({ command: fetch }, context("k4"))), /; in a sandbox, with network\]\nreached$/);
  const never = stageTools(home, jobs, { choice: "bwrap", approvals: "never" }).terminal;
  assert.deepEqual(await vet(never, fetch), { type: "run" });
  assert.match(
    outputOf(await never.run({ command: fetch }, context("k5"))),
    /^\[exit code 7 .*; in a sandbox, without network/,
  );
});

test("secrets and the gateway's own folder are not there", { skip: cannot }, async (t) => {
  const userHome = newUser(t);
  const { jobs } = newJobsHome(t);
  const home = join(userHome, ".everturn");
  mkdirSync(home);
  const { terminal } = stageTools(home, jobs, { choice: "bwrap", userHome });
  writeFileSync(join(home, "control.token"), "PLANTED-CONTROL");
  writeFileSync(join(home, ".env"), "OPENAI_API_KEY=PLANTED-ENV");
  const command = [
    `cat ${userHome}/.ssh/id_ed25519 ${userHome}/.netrc ${userHome}/.config/gh/* ${home}/control.token ${home}/.env`,
    `grep -r PLANTED ${userHome} ${home} /proc/*/environ`,
    `ls -A ${home}`,
    `cat ${userHome}/src/code.txt`,
  ].join("; ");
  const output = outputOf(await terminal.run({ command }, context("k1")));
  assert.doesNotMatch(output, /PLANTED-/);
  assert.match(output, /\nworkspace\nplain code$/);
});

test("no network unless it is allowed", { skip: cannot }, async (t) => {
  const server = createServer((_, response) => response.end("reached")).listen(0, "127.0.0.1");
  atEnd(t, () => server.close());
  await until(() => server.listening, Boolean, "it listens");
  const { port } = server.address() as AddressInfo;
  const one = newJobsHome(t, { choice: "bwrap" });
  const command = `exec 3<>/dev/tcp/127.0.0.1/${port} && printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3 && cat <&3`;
  assert.doesNotMatch(outputOf(await one.terminal.run({ command }, context("k1"))), /reached/);
  const open = stageTools(one.home, one.jobs, { choice: "bwrap", network: true });
  assert.match(outputOf(await open.terminal.run({ command }, context("k2"))), /reached$/);
});

test("sockets of other programs cannot be reached", { skip: cannotAsUser }, async (t) => {
  const path = `/run/everturn-test-${process.pid}.sock`;
  const server = createSocket((socket) => socket.end("reached")).listen(path);
  atEnd(t, () => server.close());
  await until(() => existsSync(path), Boolean, "it listens");
  const { terminal, workspace } = newJobsHome(t, { choice: "bwrap", network: true });
  copyFileSync(process.execPath, join(workspace, "node"));
  const script = `require("net").connect("${path}").on("data", (d) => console.log(String(d))).on("error", (e) => console.log(e.code))`;
  const output = outputOf(await terminal.run({ command: `./node -e '${script}'` }, context("k1")));
  assert.match(output, /\]\nENOENT$/);
});

test("no rights, and no way to other processes", { skip: cannot }, async (t) => {
  const { terminal } = newJobsHome(t, { choice: "bwrap" });
  const command = `grep Cap /proc/self/status; kill -9 ${process.pid}; ls /proc | grep -c '^[0-9]'; mount -t tmpfs x /tmp; chroot / true; echo over`;
  const output = outputOf(await terminal.run({ command }, context("k1")));
  assert.doesNotMatch(output, /Cap\w+:\t0*[1-9a-f]/);
  assert.match(
    output,
    /No such process[\s\S]*\n[1-9]\n[\s\S]*over\n\(This ran in a sandbox: .*\)$/,
    "it sees its own processes alone",
  );
});

test("daemons, forks and deaf ones end with it: at the end, at the limit, and when the turn is stopped", {
  skip: cannot,
}, async (t) => {
  const one = newJobsHome(t, { choice: "bwrap" });
  const { terminal, workspace } = one;
  const left = (key: string) => marksOf(one, key);
  const daemon = "setsid sh -c 'trap \"\" TERM; sleep 600' >/dev/null 2>&1 & echo begun";
  assert.match(outputOf(await terminal.run({ command: daemon }, context("k1"))), /^\[exit code 0 .*\nbegun$/);
  assert.deepEqual(await left("k1"), []);
  const limit = await terminal.run(
    { command: `${daemon}; trap '' TERM; sleep 600; sleep 600`, timeoutSeconds: 1 },
    context("k2"),
  );
  assert.match(outputOf(limit), /time limit was over/);
  assert.deepEqual(await left("k2"), []);
  const stop = new AbortController();
  const running = terminal.run(
    { command: `${daemon}; touch there; sleep 600` },
    context("k3", { signal: stop.signal }),
  );
  await until(() => existsSync(join(workspace, "there")), Boolean, "it runs");
  stop.abort(Object.assign(new Error("broken off"), { why: "cancelled" }));
  await assert.rejects(running, /broken off/);
  assert.deepEqual(await left("k3"), []);
});

test("exit codes, output and folders are as without one", { skip: cannot }, async (t) => {
  const { terminal, workspace } = newJobsHome(t, { choice: "bwrap" });
  mkdirSync(join(workspace, "sub"));
  const cases: readonly (readonly [input: object, says: RegExp])[] = [
    [{ command: "pwd; exit 3", cwd: "sub" }, /^\[exit code 3 after .*\/workspace\/sub$/s],
    [{ command: "echo a >/dev/stderr; echo b" }, /\]\na\nb$/],
    [{ command: "kill -KILL $$" }, /^\[exit code 137 \(as after SIGKILL/],
    [{ command: "pwd", cwd: "/usr" }, /\]\n\/usr$/],
    [
      {
        command:
          "git init -q . && git -c user.name=a -c user.email=b commit -qm x --allow-empty && git log --oneline | wc -l",
      },
      /\]\n1$/,
    ],
  ];
  for (const [input, says] of cases)
    assert.match(outputOf(await terminal.run(input, context(JSON.stringify(input)))), says);
});

test("demanded and missing, nothing is run, and it says what to install", { skip: cannot }, async (t) => {
  const { home } = newJobsHome(t);
  const places = { workspace: join(home, "workspace"), home, userHome: null };
  const broken = openSandbox("bwrap", places, () => Promise.resolve({ works: false, why: "it is not installed" }));
  const state = await broken.state();
  assert.ok(state.type === "missing");
  assert.match(state.why, /apt install bubblewrap/);
});

test("an ordinary user can have it too", { skip: cannotAsUser }, (t) => {
  const trial = `import("${join(import.meta.dirname, "../../src/tools/terminal/sandbox/sandbox.ts")}").then((m) => m.tryBwrap()).then((r) => console.log(JSON.stringify(r)))`;
  try {
    const said = execFileSync("setpriv", [
      "--reuid=65534",
      "--regid=65534",
      "--clear-groups",
      process.execPath,
      "-e",
      trial,
    ]);
    t.diagnostic(`as nobody: ${String(said).trim()}`);
    assert.match(String(said), /"works":/);
  } catch (error) {
    // The sources of this checkout may be closed to others.
    assert.match(String(error), /EACCES|permission|ERR_MODULE_NOT_FOUND/i);
  }
});
