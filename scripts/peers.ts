// The real programs that tests talk to: MCP servers, ACP agents, clients of the HTTP API. They are large and not ours, so they
// are no dependencies; this installs the named ones, or all, below a folder that the caller keeps as long as it likes.
// Usage: node scripts/peers.ts <folder> [name...]; prints one line `name path` each, and fails when one cannot be had.

import { spawn } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

type Peer = {
  readonly package: string;
  readonly version: string;
  /** What is started or imported, below node_modules, or below the virtual environment of a package for Python. */
  readonly entry: string;
  readonly isPython?: true;
  /** Packages that it needs beside it, as `name@version`. */
  readonly beside?: readonly string[];
};

export const peers: Readonly<Record<string, Peer>> = {
  "server-everything": {
    package: "@modelcontextprotocol/server-everything",
    version: "2026.8.31",
    entry: "@modelcontextprotocol/server-everything/dist/index.js",
  },
  "server-filesystem": {
    package: "@modelcontextprotocol/server-filesystem",
    version: "2026.8.31",
    entry: "@modelcontextprotocol/server-filesystem/dist/index.js",
  },
  conformance: {
    package: "@modelcontextprotocol/conformance",
    version: "0.2.0-alpha.12",
    entry: "@modelcontextprotocol/conformance/dist/index.js",
  },
  "python-mcp": {
    package: "mcp",
    version: "2.3.0",
    entry: "bin/python",
    isPython: true,
  },
  opencode: {
    package: "opencode-linux-x64",
    version: "1.18.34",
    entry: "opencode-linux-x64/bin/opencode",
  },
  "claude-agent-acp": {
    package: "@agentclientprotocol/claude-agent-acp",
    version: "0.99.1",
    entry: "@agentclientprotocol/claude-agent-acp/dist/index.js",
  },
  "codex-acp": {
    package: "@agentclientprotocol/codex-acp",
    version: "2.6.0",
    entry: "@agentclientprotocol/codex-acp/dist/index.js",
  },
  "gemini-cli": {
    package: "@google/gemini-cli",
    version: "0.61.0",
    entry: "@google/gemini-cli/bundle/gemini.js",
  },
  "ai-sdk": {
    package: "ai",
    version: "7.0.169",
    entry: "ai/dist/index.js",
    beside: ["@ai-sdk/openai-compatible@3.0.90", "zod@4.6.7"],
  },
  langchain: {
    package: "@langchain/openai",
    version: "1.6.0",
    entry: "@langchain/openai/dist/index.js",
    beside: ["@langchain/core@1.2.13"],
  },
};

const attempts = 3;
const attemptMs = 180_000;

/** Where an installed peer is started; null when it is not in that folder. Written last, the mark proves it is whole. */
export function peerIn(folder: string | undefined, name: string): string | null {
  const peer = peers[name];
  if (folder === undefined || folder === "" || peer === undefined) return null;
  return existsSync(markOf(folder, name, peer)) ? entryOf(folder, name, peer) : null;
}

function entryOf(folder: string, name: string, peer: Peer): string {
  return join(resolve(folder), name, peer.isPython === true ? "venv" : "node_modules", peer.entry);
}

function markOf(folder: string, name: string, peer: Peer): string {
  return join(resolve(folder), name, `installed-${peer.version}`);
}

async function install(folder: string, name: string, peer: Peer): Promise<string> {
  const place = join(resolve(folder), name);
  for (let attempt = 1; ; attempt++) {
    mkdirSync(place, { recursive: true });
    // Without a package.json of its own, npm would look for one further up.
    writeFileSync(join(place, "package.json"), '{ "private": true }\n');
    const wrong =
      peer.isPython === true
        ? await pipInstall(place, `${peer.package}==${peer.version}`)
        : await npmInstall(place, [`${peer.package}@${peer.version}`, ...(peer.beside ?? [])]);
    if (wrong === null && existsSync(entryOf(folder, name, peer))) {
      writeFileSync(markOf(folder, name, peer), "");
      return entryOf(folder, name, peer);
    }
    rmSync(place, { recursive: true, force: true });
    const why = wrong ?? `it has no ${peer.entry}`;
    if (attempt === attempts) throw new Error(`${name} cannot be installed: ${why}`);
    process.stderr.write(`${name}: ${why}; once more\n`);
  }
}

/** Null when it went well, else why not. */
function npmInstall(place: string, what: readonly string[]): Promise<string | null> {
  const words = [
    "install",
    "--no-audit",
    "--no-fund",
    "--no-package-lock",
    "--ignore-scripts",
    "--prefix",
    place,
    ...what,
  ];
  return ran("npm", words, place);
}

async function pipInstall(place: string, what: string): Promise<string | null> {
  const made = await ran("python3", ["-m", "venv", "venv"], place);
  if (made !== null) return made;
  const words = ["install", "--quiet", "--disable-pip-version-check", "--retries", "1", "--timeout", "20", what];
  return ran(join(place, "venv", "bin", "pip"), words, place);
}

/** Null when it went well, else why not. */
function ran(program: string, words: readonly string[], cwd: string): Promise<string | null> {
  return new Promise((done) => {
    const child = spawn(program, words, { cwd, stdio: ["ignore", "ignore", "pipe"], timeout: attemptMs });
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-2_000)));
    child.on("error", (error) => done(error.message));
    child.on("close", (code, signal) =>
      done(code === 0 ? null : `${program} ended with ${code ?? signal}: ${said.trim()}`),
    );
  });
}

async function main([folder, ...names]: readonly string[]): Promise<number> {
  if (folder === undefined) {
    process.stderr.write("Usage: node scripts/peers.ts <folder> [name...]\n");
    return 2;
  }
  for (const name of names.length === 0 ? Object.keys(peers) : names) {
    const peer = peers[name];
    if (peer === undefined) {
      process.stderr.write(`There is no peer ${name}; there are ${Object.keys(peers).join(", ")}.\n`);
      return 2;
    }
    mkdirSync(dirname(join(resolve(folder), name)), { recursive: true });
    try {
      process.stdout.write(`${name} ${peerIn(folder, name) ?? (await install(folder, name, peer))}\n`);
    } catch (error) {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      return 1;
    }
  }
  return 0;
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2));
