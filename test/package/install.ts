// Packs the project and installs the tarball as a user would: globally, into an empty prefix, with the machine's own
// npm. Needs the registry, because the package brings a Node along.

import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { userEnvironment } from "./machine.ts";

const root = join(import.meta.dirname, "..", "..");
const attempts = 3;
const attemptMs = 4 * 60_000;

export type Installed = {
  readonly folder: string;
  readonly tarball: string;
  /** The command that a user types. */
  readonly command: string;
  /** The package as it lies on the user's disk. */
  readonly home: string;
  /** What npm said. */
  readonly said: string;
  remove(): void;
};

export async function packAndInstall(): Promise<Installed> {
  const folder = mkdtempSync(join(tmpdir(), "everturn-package-"));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    await npm(["pack", "--pack-destination", folder], root);
    const name = readdirSync(folder).find((one) => one.endsWith(".tgz"));
    if (name === undefined) throw new Error("npm pack made no tarball");
    const tarball = join(folder, name);
    const prefix = join(folder, "prefix");
    const said = await installInto(prefix, tarball);
    const home = join(prefix, "lib", "node_modules", "everturn");
    return { folder, tarball, command: join(prefix, "bin", "everturn"), home, said, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** npm leaves out an optional package that it cannot fetch, without a word: that is a failed attempt as well. */
async function installInto(prefix: string, tarball: string): Promise<string> {
  const node = basename(dirname(dirname(process.execPath)));
  const failures: unknown[] = [];
  while (failures.length < attempts) {
    mkdirSync(prefix, { recursive: true });
    try {
      const said = await npm(["install", "--global", "--prefix", prefix, "--prefer-offline", tarball], prefix);
      if (existsSync(join(prefix, "lib", "node_modules", "everturn", "node_modules", node, "package.json")))
        return said;
      throw new Error(`npm did not install ${node}; is the registry within reach?`);
    } catch (error) {
      failures.push(error);
      rmSync(prefix, { recursive: true, force: true });
    }
  }
  throw new AggregateError(failures, `the package could not be installed in ${attempts} attempts`);
}

async function npm(args: readonly string[], cwd: string): Promise<string> {
  const options = { cwd, env: userEnvironment(), timeout: attemptMs, killSignal: "SIGKILL" } as const;
  const { stdout, stderr } = await promisify(execFile)("npm", ["--no-audit", "--no-fund", ...args], options);
  return `${stdout}${stderr}`;
}
