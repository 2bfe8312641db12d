// The files whose content decides what a command does: those it names, and what project runners read. An approval of a
// call without a wall is for these as they are; when one changes before the command runs, it is asked for again.

import { createHash } from "node:crypto";
import { readFile, stat } from "node:fs/promises";
import { relative, resolve } from "node:path";
import { readCommands } from "../policy/index.ts";

const bytesMax = 16 * 1024 * 1024;
const filesMax = 20;

/** What they run is said by a file of the project. */
const projects: readonly (readonly [programs: RegExp, files: readonly string[]])[] = [
  [/^g?make$/, ["Makefile", "makefile", "GNUmakefile"]],
  [/^(?:npm|pnpm|yarn|bun|npx|bunx)$/, ["package.json"]],
  [/^(?:docker|podman|docker-compose)$/, ["Dockerfile", "docker-compose.yml", "compose.yaml", "compose.yml"]],
  [/^(?:tox|nox|pytest|poetry|uv)$/, ["pyproject.toml", "tox.ini", "noxfile.py", "conftest.py"]],
  [
    /^(?:just|task|rake|cargo|gradle|mvn)$/,
    ["justfile", "Taskfile.yml", "Rakefile", "Cargo.toml", "build.gradle", "pom.xml"],
  ],
];

/** The name and the digest of each that is there. */
export async function scriptDigests(
  command: string,
  cwd: string,
): Promise<readonly (readonly [name: string, digest: string])[]> {
  const names = new Set<string>();
  let folder = cwd;
  for (const { words } of readCommands(command)) {
    const [first = "", second] = words;
    if (first === "cd" && second !== undefined && !second.includes("\0")) folder = resolve(folder, second);
    const named = words.filter((word) => !word.startsWith("-") && !word.includes("\0") && word.length < 1_000);
    const projectFiles = words.flatMap((word) => projects.find(([programs]) => programs.test(word))?.[1] ?? []);
    for (const name of [...named, ...projectFiles]) names.add(resolve(folder, name));
  }
  const all = [...names].slice(0, filesMax * 5).map(async (path) => [path, await contentDigest(path)] as const);
  return (await Promise.all(all))
    .flatMap(([path, digest]) => (digest === null ? [] : [[shownIn(cwd, path), digest] as const]))
    .slice(0, filesMax);
}

function shownIn(cwd: string, path: string): string {
  const inside = relative(cwd, path);
  return inside.startsWith("..") ? path : inside;
}

async function contentDigest(path: string): Promise<string | null> {
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
