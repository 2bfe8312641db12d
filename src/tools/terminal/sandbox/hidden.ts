// What a sandbox hides, as it is on this disk: the gateway's own folder, and what holds secrets in the places where people
// and systems keep them. Known by name, so this is no complete list; a secret in a file of any other name can be read.

import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { isSecret } from "../../files/secrets.ts";
import type { Hidden } from "./bwrap.ts";

export type HiddenFrom = {
  readonly home: string;
  readonly workspace: string;
  readonly userHome: string | null;
};

export async function hiddenPaths({ home, workspace, userHome }: HiddenFrom): Promise<readonly Hidden[]> {
  const user = userHome === null ? [] : ["", ".config", ".local/share", ".docker"].map((one) => join(userHome, one));
  const places = [...user, "/etc", "/etc/ssl", "/etc/ssh", "/etc/letsencrypt"];
  const found = (await Promise.all(places.map(secretsIn))).flat();
  const docker = userHome === null ? [] : await shapeOf([join(userHome, ".docker", "config.json")]);
  const own = await shapeOf([home]);
  // A cover below another one has nothing to lie on; the workspace is laid over whatever covers it.
  const all = [...own, ...found, ...docker].filter(({ path }) => path !== workspace);
  return all.filter(({ path }) => !all.some((other) => path !== other.path && path.startsWith(`${other.path}/`)));
}

async function secretsIn(folder: string): Promise<readonly Hidden[]> {
  let names: readonly string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    // It is not here, or not for us; then it is not for the command either.
    if (error instanceof Error && "code" in error) return [];
    throw error;
  }
  return shapeOf(names.map((name) => join(folder, name)).filter(isSecret));
}

/** Links are left alone: what they lead to is hidden where it is, or not a secret of this user. */
async function shapeOf(paths: readonly string[]): Promise<readonly Hidden[]> {
  const shapes = paths.map(async (path): Promise<readonly Hidden[]> => {
    try {
      const found = await lstat(path);
      if (found.isDirectory()) return [{ path, kind: "folder" }];
      return found.isFile() ? [{ path, kind: "file" }] : [];
    } catch (error) {
      if (error instanceof Error && "code" in error) return [];
      throw error;
    }
  });
  return (await Promise.all(shapes)).flat();
}
