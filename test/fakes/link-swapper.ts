// A hostile program with the run of a workspace: swaps files and folders for links that lead outside, as fast as it can,
// until its stdin ends. Says how often it did.
// Words: the workspace, then the file and the folders that the links lead to.

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";

const [workspace = "", secret = "", ...folders] = process.argv.slice(2);
const at = (name: string): string => join(workspace, name);

/** Others swap at the same time, so anything may be gone or there. */
function tried(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof Error && "code" in error)) throw error;
  }
}

function swapFile(n: number): void {
  const spare = at(`.swap-${process.pid}`);
  tried(() => rmSync(spare, { force: true }));
  tried(() => (n % 2 === 0 ? symlinkSync(secret, spare) : writeFileSync(spare, `harmless ${n}\n`)));
  tried(() => renameSync(spare, at("f")));
}

/** Made under a name of its own and renamed: another swapper must not lead this one outside. */
function swapFolder(n: number): void {
  const [spare, old] = [at(`.folder-${process.pid}`), at(`.old-${process.pid}`)];
  tried(() => rmSync(spare, { recursive: true, force: true }));
  tried(() => {
    if (n % 2 === 0) return symlinkSync(folders[n % folders.length] ?? "", spare);
    mkdirSync(spare);
    writeFileSync(join(spare, "config.yaml"), "a: harmless\n");
    writeFileSync(join(spare, "f"), "harmless\n");
  });
  // A folder cannot be renamed over another one, so the old one is moved away first.
  tried(() => renameSync(at("d"), old));
  tried(() => renameSync(spare, at("d")));
  tried(() => rmSync(old, { recursive: true, force: true }));
}

/** Temporary files of a write that is under way. */
function swapDrafts(): void {
  tried(() => {
    for (const name of readdirSync(workspace).filter((one) => one.startsWith(".everturn-"))) {
      rmSync(at(name));
      symlinkSync(secret, at(name));
    }
  });
}

let isOver = false;
process.stdin.once("end", () => (isOver = true)).resume();
let swaps = 0;
while (!isOver && existsSync(workspace)) {
  for (let n = 0; n < 50; n++) {
    swapFile(swaps);
    swapFolder(swaps >> 1);
    if (n % 5 === 0) swapDrafts();
    swaps++;
  }
  await turn();
}
process.stdout.write(String(swaps));
