// The launcher on a Node that is too old for the program: it hands over, passes each signal on exactly once, ends as
// the program ended, and can be killed without harm. The program is a small one that tells what reached it.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { describe, test } from "node:test";
import { oldNode, userEnvironment } from "./machine.ts";
import { type Tree, plantTree } from "./tree.ts";

const old = oldNode();
const suite = { skip: "missing" in old ? old.missing : false, timeout: 60_000 };
const signals = ["SIGINT", "SIGHUP", "SIGUSR1"] as const;

type Started = { readonly child: ChildProcess; readonly ended: Promise<Ended> };
type Ended = {
  readonly code: number | null;
  readonly signal: string | null;
  readonly out: string;
  readonly err: string;
};

/** In a session of its own, so that no terminal of whoever runs the tests takes part. */
function start(file: string, args: readonly string[]): Started {
  const child = spawn(file, args, { detached: true, env: userEnvironment(), stdio: ["pipe", "pipe", "pipe"] });
  const said = { out: "", err: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said.out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said.err += text));
  const ended = once(child, "close").then(([code, signal]) => ({ code, signal, ...said }));
  return { child, ended };
}

const startOld = (tree: Tree, ...args: readonly string[]): Started =>
  start("file" in old ? old.file : "node", [tree.launcher, ...args]);

/** With a terminal, led by a shell or by the launcher itself; what is written to its standard input is typed. */
function startInTerminal(tree: Tree, leader: "shell" | "launcher"): Started {
  const command = ["file" in old ? old.file : "node", tree.launcher].map((one) => `'${one}'`).join(" ");
  const line = leader === "shell" ? `${command}; exit $?` : `exec ${command}`;
  return start("script", ["--quiet", "--return", "--command", line, "/dev/null"]);
}

async function withTree(
  options: Partial<Parameters<typeof plantTree>[0]>,
  work: (tree: Tree) => Promise<void>,
): Promise<void> {
  const tree = plantTree({ withNode: true, from: "dist", ...options });
  try {
    await work(tree);
  } finally {
    tree.remove();
  }
}

const isReady = (told: readonly string[]): boolean => told.includes("ready");
const signalsIn = (told: readonly string[]): readonly string[] => told.filter((one) => one.startsWith("SIG"));

void describe("launcher on an old Node", suite, () => {
  void test("--version is answered without the program and without another Node", () =>
    withTree({ withNode: false }, async (tree) => {
      for (const asked of ["--version", "-v"])
        assert.deepEqual(await startOld(tree, asked).ended, { code: 0, signal: null, out: "9.8.7\n", err: "" });
      assert.deepEqual(tree.told(), []);
    }));

  void test("arguments and exit code go through, the program runs on the Node that came along", () =>
    withTree({}, async (tree) => {
      const given = ["exit", "78", "--version", "two words", "", "ä"];
      const ended = await startOld(tree, ...given).ended;
      assert.equal(ended.code, 78);
      assert.equal(ended.err, "");
      assert.equal(tree.fact("node"), process.versions.node);
      assert.deepEqual(JSON.parse(tree.fact("arguments")), given);
    }));

  void test("in a clone without a build the sources run", () =>
    withTree({ from: "src" }, async (tree) => {
      const ended = await startOld(tree, "exit", "0").ended;
      assert.deepEqual([ended.code, ended.err], [0, ""]);
      assert.equal(tree.fact("node"), process.versions.node);
    }));

  void test("without any suitable Node it says what to do and fails", () =>
    withTree({ withNode: false }, async (tree) => {
      const { code, out, err } = await startOld(tree, "gateway", "run").ended;
      assert.deepEqual([code, out], [1, ""]);
      assert.match(err, /^Everturn needs Node 24 or newer\. This is Node \d+\.\d+\.\d+, and .+ is not installed\.\n/);
      assert.match(err, /npm install -g everturn --include=optional/);
    }));

  for (const signal of signals)
    void test(`${signal} sent to the launcher alone reaches the program once`, () =>
      withTree({}, async (tree) => {
        const { child, ended } = startOld(tree);
        await tree.until(isReady);
        child.kill(signal);
        await tree.until((told) => told.includes(signal));
        child.kill("SIGTERM");
        assert.equal((await ended).code, 0);
        assert.deepEqual(signalsIn(tree.told()), [signal, "SIGTERM"]);
      }));

  void test("the launcher dies by the signal that ended the program", () =>
    withTree({}, async (tree) => {
      for (const signal of ["SIGTERM", "SIGKILL", "SIGINT"])
        assert.equal((await startOld(tree, "die", signal).ended).signal, signal);
    }));

  void test("it starts a successor when the program asks for one, and ends as that one ends", () =>
    withTree({}, async (tree) => {
      const { child, ended } = startOld(tree, "hand-over", "fine", "--replace");
      await tree.until((told) => told.includes("took over after 1234"));
      await tree.until((told) => told.some((one) => one.startsWith('heard {"everturn":"loaded","pid":')));
      const [first, second] = tree.told().filter((one) => one.startsWith("arguments "));
      assert.match(first ?? "", /--replace/);
      assert.equal(second, 'arguments ["hand-over","fine"]');
      await tree.until((told) => told.filter((one) => one === "ready").length === 2);
      // Who follows learns that the one before it has ended.
      await tree.until((told) => told.includes('heard {"everturn":"left"}'));
      child.kill("SIGTERM");
      assert.equal((await ended).code, 0);
      assert.deepEqual(signalsIn(tree.told()), ["SIGTERM"]);
    }));

  void test("a successor that cannot start leaves the program as it is, which is told why", () =>
    withTree({}, async (tree) => {
      const { ended } = startOld(tree, "hand-over", "broken");
      assert.equal((await ended).code, 5);
      assert.ok(tree.told().includes('heard {"everturn":"failed","why":"no such key"}'), tree.told().join("\n"));
    }));

  void test("kill -9 of the launcher leaves the program alone", () =>
    withTree({}, async (tree) => {
      const { child } = startOld(tree);
      await tree.until(isReady);
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
      const pid = Number(tree.fact("pid"));
      process.kill(pid, "SIGUSR1");
      await tree.until((told) => told.includes("SIGUSR1"));
      process.kill(pid, "SIGTERM");
      await tree.until((told) => told.includes("SIGTERM"));
      assert.deepEqual(signalsIn(tree.told()), ["SIGUSR1", "SIGTERM"]);
    }));
});

void describe("launcher in a terminal", { ...suite, skip: suite.skip || process.platform !== "linux" }, () => {
  for (const leader of ["shell", "launcher"] as const) {
    void test(`Ctrl-C reaches the program once, the ${leader} leading`, () =>
      withTree({}, async (tree) => {
        const { child, ended } = startInTerminal(tree, leader);
        await tree.until(isReady);
        for (const presses of [1, 2]) {
          child.stdin?.write("\u0003");
          await tree.until((told) => signalsIn(told).length >= presses);
        }
        // Passed on in the order in which they came, so a Ctrl-C that was doubled would be told before this one.
        process.kill(Number(tree.fact("parent")), "SIGTERM");
        // A shell that was told of Ctrl-C as well has an exit code of its own.
        const { code } = await ended;
        if (leader === "launcher") assert.equal(code, 0);
        assert.deepEqual(signalsIn(tree.told()), ["SIGINT", "SIGINT", "SIGTERM"]);
      }));

    void test(`a terminal that closes is told to the program once, the ${leader} leading`, () =>
      withTree({}, async (tree) => {
        const { child } = startInTerminal(tree, leader);
        await tree.until(isReady);
        child.kill("SIGKILL");
        await tree.until((told) => told.includes("SIGHUP"));
        process.kill(Number(tree.fact("parent")), "SIGTERM");
        await tree.until((told) => told.includes("SIGTERM"));
        assert.deepEqual(signalsIn(tree.told()), ["SIGHUP", "SIGTERM"]);
      }));
  }
});

void describe("launcher on a new Node", { timeout: 60_000 }, () => {
  for (const from of ["dist", "src"] as const)
    void test(`the program runs in the same process, from ${from}`, () =>
      withTree({ withNode: false, from }, async (tree) => {
        const { child, ended } = start(process.execPath, [tree.launcher, "exit", "3"]);
        const { code, err } = await ended;
        assert.deepEqual([code, err], [3, ""]);
        assert.equal(tree.fact("pid"), String(child.pid));
        assert.deepEqual(JSON.parse(tree.fact("arguments")), ["exit", "3"]);
      }));

  void test("--version is answered without the program", () =>
    withTree({ withNode: false }, async (tree) => {
      const asked = start(process.execPath, [tree.launcher, "--version"]);
      assert.deepEqual(await asked.ended, { code: 0, signal: null, out: "9.8.7\n", err: "" });
      assert.deepEqual(tree.told(), []);
    }));
});
