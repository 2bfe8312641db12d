// The files whose content decides what a command does: scripts that it names, and what package runners read. An approval
// is for these as they are; when one changes before the command runs, it is asked again.

import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { scriptsOf } from "../danger/index.ts";
import { simpleCommands } from "./interactive.ts";

const interpreters =
  /^(?:ba|z|da|k|fi)?sh$|^(?:python[\d.]*|node|deno|bun|ruby|perl|php|lua|tsx|ts-node|source|\.|awk|sed|env)$/;
const scriptNames = /\.(?:sh|bash|zsh|fish|py|js|mjs|cjs|ts|mts|rb|pl|php|lua|ps1|cmd|bat|awk|sql|mk)$/i;
/** What a runner reads by itself. */
const implied: Readonly<Record<string, readonly string[]>> = {
  npm: ["package.json"],
  npx: ["package.json"],
  pnpm: ["package.json"],
  yarn: ["package.json"],
  bun: ["package.json"],
  make: ["Makefile", "makefile", "GNUmakefile"],
  just: ["justfile", "Justfile"],
  rake: ["Rakefile"],
  task: ["Taskfile.yml"],
};

/** Paths as they are written; pure. Whether they exist is for others to find out. */
export function scriptsNamed(command: string): readonly string[] {
  const found = simpleCommands(command).flatMap(({ words }) => {
    const [first = "", ...rest] = words;
    const name = first.slice(first.lastIndexOf("/") + 1);
    const args = rest.filter((word) => !word.startsWith("-"));
    const run = first.includes("/") ? [first] : [];
    const read = interpreters.test(name) ? args.slice(0, 2) : [];
    return [...run, ...read, ...args.filter((word) => scriptNames.test(word)), ...(implied[name] ?? [])];
  });
  return [...new Set(found)].slice(0, scriptsMax);
}

const scriptsMax = 20;
const bytesMax = 16 * 1024 * 1024;

/** The name and the digest of each that is there. */
export async function scriptDigests(
  command: string,
  cwd: string,
  userHome: string | null = null,
): Promise<readonly (readonly [string, string])[]> {
  const named = scriptsNamed(command);
  const known = new Set(named.map((name) => resolve(cwd, name)));
  // Those that run after a change of folder, or inside of another command.
  const inner = scriptsOf(command, cwd, userHome).filter((path) => !known.has(path));
  const all = [...named, ...inner].map(async (name) => [name, await digestOf(resolve(cwd, name))] as const);
  return (await Promise.all(all)).flatMap(([name, digest]) => (digest === null ? [] : [[name, digest] as const]));
}

async function digestOf(path: string): Promise<string | null> {
  try {
    const found = await stat(path);
    if (!found.isFile()) return null;
    // A program of that size is no script; its size and age stand for it.
    if (found.size > bytesMax) return `${found.size}:${found.mtimeMs}`;
    return createHash("sha256")
      .update(await readFile(path))
      .digest("hex");
  } catch (error) {
    if (error instanceof Error && "code" in error) return null;
    throw error;
  }
}
