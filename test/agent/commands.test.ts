// Commands that behave badly, as real processes: they never end, fork, flood, fill the disk, speak in bytes, or leave
// things behind. Whatever they do, the call ends with the truth, and nothing of them is left.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { ToolResult } from "../../src/core/journal.ts";
import { jobId } from "../../src/host/jobs/folder.ts";
import { headBytes, pieceBytes } from "../../src/host/jobs/output.ts";
import { openJobs } from "../../src/host/jobs/jobs.ts";
import { anOwner } from "../../src/testing/samples.ts";
import { atEnd, until } from "../process/stage.ts";
import { context, marksOf, newJobsHome, stageTools } from "./jobs-stage.ts";

const outputOf = (result: ToolResult) => (result.type === "ok" ? String(result.output) : assert.fail(result.why));
const folderOf = (home: string, key: string) => join(home, "jobs", jobId(key));

test("a command says how it ended, in order and in words", async (t) => {
  const { terminal, workspace } = newJobsHome(t);
  const cases: readonly (readonly [command: string, says: RegExp])[] = [
    ["echo out; echo err >&2; echo out", /^\[exit code 0 after [\d.]+ s\]\nout\nerr\nout$/],
    ["echo to a file >/dev/stderr; echo again >/dev/stdout", /\]\nto a file\nagain$/],
    ["exit 2", /^\[exit code 2 after [\d.]+ s; it said nothing\]$/],
    ["kill -SEGV $$", /^\[killed by SIGSEGV after/],
    ["there-is-no-such-command", /^\[exit code 127 \(there is no such command\) after .*\n.*not found/],
    ["read x; echo got:$x", /\]\ngot:$/],
    ["pwd", new RegExp(`\\]\\n${workspace}$`)],
    ["tty || true; test -t 1 || echo no terminal", /no terminal/],
  ];
  for (const [command, says] of cases) assert.match(outputOf(await terminal.run({ command }, context(command))), says);
});

test("a command that never ends is ended at its limit, politely and then not", async (t) => {
  const one = newJobsHome(t);
  const { terminal } = one;
  const limit = { timeoutSeconds: 1 };
  const polite = await terminal.run(
    { command: "trap 'echo bye; exit 7' TERM; sleep 600 & wait", ...limit },
    context("k1"),
  );
  assert.match(outputOf(polite), /^\[killed because its time limit was over, after \d\.\d s\]\nbye$/);
  const deaf = await terminal.run({ command: "trap '' TERM; while :; do sleep 0.1; done", ...limit }, context("k2"));
  assert.match(outputOf(deaf), /^\[killed by SIGKILL because its time limit was over, after/);
  const daemon = await terminal.run({ command: "setsid sleep 600 & sleep 600", ...limit }, context("k3"));
  assert.match(outputOf(daemon), /time limit/);
  assert.deepEqual([...(await marksOf(one, "k1")), ...(await marksOf(one, "k2")), ...(await marksOf(one, "k3"))], []);
});

test("what a command leaves in its group ends with it, in time", async (t) => {
  const one = newJobsHome(t);
  const { terminal } = one;
  const command = `sleep 600 & sh -c 'trap "" TERM; sleep 601' & echo started`;
  assert.match(outputOf(await terminal.run({ command }, context("k1"))), /^\[exit code 0 after .*\nstarted$/);
  assert.deepEqual(await marksOf(one, "k1"), []);
});

test("one that forks without end is ended with all of them", async (t) => {
  const one = newJobsHome(t);
  const { terminal } = one;
  // Bounded, because a real one would take the machine with it: 2⁷ shells, each waiting for two more.
  const bomb = `f() { [ "$1" -gt 6 ] && sleep 600; f $(($1 + 1)) & f $(($1 + 1)) & wait; }; f 0`;
  const running = terminal.run({ command: bomb, timeoutSeconds: 4 }, context("k1"));
  let most = 0;
  await until(
    async () => (most = Math.max(most, (await marksOf(one, "k1")).length)),
    (n) => n > 100,
    () => `it has forked ${most} times`,
  );
  assert.match(outputOf(await running), /time limit was over/);
  assert.deepEqual(await marksOf(one, "k1"), []);
});

test("a flood is counted, kept within bounds, and does not hold the command up", async (t) => {
  const { terminal, processes, home } = newJobsHome(t);
  const bytes = headBytes + 5 * pieceBytes + 12_345;
  const command = `head -c ${bytes - 4} /dev/zero | tr '\\0' 'x'; echo; echo end`;
  const output = outputOf(await terminal.run({ command }, context("k1")));
  assert.ok(output.length < 40_000, `${output.length}`);
  assert.match(output, /^\[exit code 0/);
  assert.match(output, new RegExp(`of ${bytes + 1} bytes are left out here`));
  assert.match(output, /x\nend$/);
  const kept = readdirSync(folderOf(home, "k1")).filter((name) => name.startsWith("output"));
  const sizes = kept.map((name) => statSync(join(folderOf(home, "k1"), name)).size);
  assert.ok(
    sizes.reduce((sum, size) => sum + size, 0) <= headBytes + 2 * pieceBytes,
    `${kept.join()}: ${sizes.join()}`,
  );
  const read = (from: number) => processes.run({ action: "read", id: jobId("k1"), from }, context(`r${from}`));
  assert.match(outputOf(await read(100)), /^\[exit code 0 after [^;]*; bytes 100 to 30100 of/);
  assert.match(outputOf(await read(-4)), /\]\nend$/);
  // A part that is gone is skipped, and said so.
  assert.match(outputOf(await read(headBytes + 10)), new RegExp(`; bytes ${headBytes + 4 * pieceBytes} to`));
});

test("bytes are told as bytes, and control characters do not reach the result", async (t) => {
  const { terminal } = newJobsHome(t);
  const binary = outputOf(await terminal.run({ command: "printf '\\211PNG\\r\\n\\032\\n\\0\\0'" }, context("k1")));
  assert.match(binary, /10 bytes that are not text, beginning with 89 50 4e 47/);
  const painted = `printf '\\033[1;31mred\\033[0m\\a\\033]0;title\\a 10%%\\r 20%%\\r100%%\\n'`;
  assert.match(outputOf(await terminal.run({ command: painted }, context("k2"))), /\]\n100%10%$/);
});

test("on a full disk a command still ends properly", { skip: process.getuid?.() !== 0 }, async (t) => {
  const { home } = newJobsHome(t);
  const small = join(home, "small");
  mkdirSync(small);
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", small]);
  atEnd(t, () => execFileSync("umount", ["-l", small]));
  const { terminal } = stageTools(small, openJobs({ folder: join(small, "jobs") }));
  const command = "head -c 2000000 /dev/zero | tr '\\0' 'y'; echo; echo end; exit 5";
  const output = outputOf(await terminal.run({ command }, context("k1")));
  assert.match(output, /^\[exit code 5 after .*; part of what it said could not be kept \(ENOSPC\)\]/);
  const free = await terminal.run({ command: "echo x" }, context("k2"));
  assert.ok(free.type !== "unknown", "there is no room for another folder, or just enough");
});

test("what runs in the background goes on, is listed, read, waited for and ended", async (t) => {
  const { terminal, processes, workspace } = newJobsHome(t);
  const command = "while [ ! -e go ]; do echo tick; sleep 0.1; done; echo gone";
  const started = outputOf(await terminal.run({ command, background: true }, context("k1")));
  assert.match(started, /^\[runs in the background as [0-9a-f]{12}\]\ntick/);
  const id = jobId("k1");
  const act = async (input: object, person = anOwner.person) =>
    processes.run({ id, ...input }, context(JSON.stringify(input), { requester: { ...anOwner, person } }));
  assert.match(outputOf(await act({ action: "list" })), new RegExp(`^${id}  running for .*  while \\[`));
  assert.match(outputOf(await act({ action: "wait", seconds: 1 })), /^\[still running after [\d.]+ s; bytes 0 to \d+/);
  assert.equal((await act({ action: "read" }, "web/main/other")).type, "failed", "another person does not see it");
  assert.match(outputOf(await act({ action: "list" }, "web/main/other")), /^No command/);
  writeFileSync(join(workspace, "go"), "");
  assert.match(outputOf(await act({ action: "wait" })), /^\[exit code 0 .*gone$/s);
  assert.match(outputOf(await act({ action: "kill" })), /^\[exit code 0/, "what has ended stays as it ended");
});

test("a background command ends when all it started has, or is ended with it", async (t) => {
  const one = newJobsHome(t);
  const { terminal, processes, jobs } = one;
  await terminal.run({ command: "sleep 600 & echo $!", background: true }, context("k1"));
  assert.equal((await jobs.state(jobId("k1"))).type, "running", "its first process is gone, but not the rest");
  const kill = () => processes.run({ action: "kill", id: jobId("k1") }, context("k2"));
  assert.match(outputOf(await kill()), /^\[killed after .* \(it was asked for\)/);
  assert.deepEqual(await marksOf(one, "k1"), []);
  assert.match(outputOf(await kill()), /^\[killed after .* \(it was asked for\)/, "twice is once");
});

test("a command that fails at once is told so, in the background too", async (t) => {
  const { terminal } = newJobsHome(t);
  const result = await terminal.run({ command: "echo wrong; exit 4", background: true }, context("k1"));
  assert.match(outputOf(result), /^\[exit code 4 after .*\nwrong$/);
});

test("what cannot be run is refused with what to do", async (t) => {
  const { terminal, workspace } = newJobsHome(t);
  const cases: readonly (readonly [input: object, why: RegExp])[] = [
    [{ command: "vim notes" }, /Not run: `vim` opens an editor/],
    [{ command: "ls", cwd: "nowhere" }, new RegExp(`no folder ${workspace}/nowhere`)],
    [{ command: "ls", timeoutSeconds: 4_000 }, /"background": true/],
    [{ command: "  " }, /"command" must not be empty/],
    [{ command: "echo \0" }, /zero byte/],
    [{ command: "ls", shell: "zsh" }, /"shell" is not a part of it/],
  ];
  for (const [input, why] of cases) {
    const result = await terminal.run(input, context(JSON.stringify(input)));
    assert.ok(result.type === "failed", JSON.stringify(result));
    assert.match(result.why, why);
  }
});

test("a long command shows its last line while it runs", async (t) => {
  const { terminal } = newJobsHome(t);
  const told: string[] = [];
  const command = "echo one; sleep 1; echo two; sleep 1; echo three; sleep 1";
  await terminal.run({ command }, context("k1", { tell: (line) => told.push(line) }));
  assert.ok(told.length >= 2 && told.length <= 12, told.join());
  assert.equal(told.at(-1), "three");
});

test("nothing of the gateway's environment reaches a command", async (t) => {
  const environment = {
    PATH: process.env["PATH"],
    OPENAI_API_KEY: "sk-planted",
    EVERTURN_TOKEN: "t",
    NOTIFY_SOCKET: "/n",
  };
  const { terminal, home } = newJobsHome(t, { environment });
  const output = outputOf(
    await terminal.run({ command: "env; cat /proc/$PPID/environ | tr '\\0' '\\n'" }, context("k1")),
  );
  assert.doesNotMatch(output, /sk-planted|EVERTURN_TOKEN|NOTIFY_SOCKET/);
  assert.match(output, /EVERTURN_JOB=/);
  const files = readdirSync(folderOf(home, "k1")).filter((name) => !name.startsWith("output"));
  for (const name of files) assert.doesNotMatch(readFileSync(join(folderOf(home, "k1"), name), "utf8"), /sk-planted/);
  assert.ok(existsSync(join(folderOf(home, "k1"), "exit.json")));
});
