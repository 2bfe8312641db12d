// The program. This file only makes the rest load fast: compiled code is kept between two starts, and everything else is
// imported after that is switched on. `--version` is answered without loading anything.

import { readFileSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

async function main(argv: readonly string[]): Promise<void> {
  const version = versionOf(readFileSync(new URL("../package.json", import.meta.url), "utf8"));
  if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-v")) {
    process.stdout.write(`${version}\n`);
    return;
  }
  enableCompileCache(cacheFolder());
  const { program } = await import("./program.ts");
  await program(argv, version, import.meta.url);
}

/** A folder of this user alone: whoever can write there decides what runs. */
function cacheFolder(): string {
  return process.platform === "linux" ? join(homedir(), ".cache", "everturn") : join(tmpdir(), "everturn-cache");
}

function versionOf(manifest: string): string {
  return (JSON.parse(manifest) as { readonly version: string }).version;
}

await main(process.argv.slice(2));
