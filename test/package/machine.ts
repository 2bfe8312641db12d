// The machine as a user has it: its own Node and npm, without anything of this project in front of them.

import { execFileSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** The oldest line that can run the program itself; below it the launcher hands over. */
const oldestMajor = 24;

/** The environment of a user's shell: no project folder in PATH, nothing that npm or a test run has set. */
export function userEnvironment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(?:npm_|NODE_(?!EXTRA_CA_CERTS)|EVERTURN_)/i.test(name),
  );
  return { ...Object.fromEntries(kept), PATH: userPath().join(delimiter), ...more };
}

function userPath(): readonly string[] {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  return folders.filter((folder) => folder !== "" && !/[\\/]node_modules[\\/]/.test(`${folder}/`));
}

/** A Node that is too old for the program, or why there is none to try with. */
export function oldNode(): { readonly file: string } | { readonly missing: string } {
  const file = userPath()
    .map((folder) => join(folder, "node"))
    .find(isExecutable);
  if (file === undefined) return { missing: "this machine has no Node of its own" };
  const version = execFileSync(file, ["--version"], { encoding: "utf8", env: userEnvironment() }).trim();
  if (Number.parseInt(version.slice(1), 10) < oldestMajor) return { file };
  return { missing: `the machine's own Node is ${version}, new enough to need no other` };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}
