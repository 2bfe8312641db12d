// The program. This file only makes the rest load fast: compiled code is kept between two starts, and everything else is
// imported after that is switched on. `--version` is answered without loading anything.

import { readFileSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";

async function main(argv: readonly string[]): Promise<void> {
  const version = versionOf(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-v")) {
    process.stdout.write(`${version}\n`);
    return;
  }
  // The runtime's middle compiler works in threads that keep what it has used for good: 15 to 40 MB, and nothing here is
  // the faster for it. Said before anything is compiled, because what is kept is of use only under the same flags.
  setFlagsFromString("--no-maglev");
  // V8 collects garbage twice more once a process is quiet, by default half a minute after its start. Doing it within seconds
  // keeps an idle gateway idle. Older versions of V8 lack the flags and complain.
  if (Number.parseInt(process.versions.node, 10) >= 26)
    setFlagsFromString("--gc-memory-reducer-start-delay-ms=1 --memory-reducer-delay-ms=3000");
  const folder = cacheFolder();
  if (folder !== null) enableCompileCache(folder);
  const { program } = await import("./program.ts");
  await program(argv, version, import.meta.url);
}

/** A folder of this user alone, because whoever can write there decides what runs; null where there is none. */
function cacheFolder(): string | null {
  if (process.platform !== "linux") return join(tmpdir(), "everturn-cache");
  try {
    return join(homedir(), ".cache", "everturn");
  } catch (error) {
    // A user whom the system does not know: it starts a little slower.
    if (error instanceof Error) return null;
    throw error;
  }
}

function versionOf(manifest: string): string {
  return (JSON.parse(manifest) as { readonly version: string }).version;
}

await main(process.argv.slice(2));
