// `npm run sim:mutants [-- words of a fault]`: plants each fault in a copy of the sources and lets the suites loose on it. A fault that no
// suite finds means that the suites are too weak, and fails the run.

import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Mutant, mutants } from "./faults.ts";

const root = join(import.meta.dirname, "../..");
/** In this order; a fault may name the one that should find it, which is then the first. */
const suites = ["crash", "stop", "poison", "seeds", "resume", "suspend", "restart", "stop/marks", "impossible-outside"];
const limitMs = 180_000;

function plant(mutant: Mutant | null): string {
  const folder = mkdtempSync(join(tmpdir(), "everturn-mutant-"));
  for (const name of ["package.json", "bin", "src", "test"])
    cpSync(join(root, name), join(folder, name), { recursive: true });
  // Some suites start the real program, which needs its packages.
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  if (mutant !== null) {
    const file = join(folder, mutant.file);
    const pieces = readFileSync(file, "utf8").split(mutant.find);
    if (pieces.length !== 2)
      throw new Error(`${mutant.file} has ${pieces.length - 1} places that read: ${mutant.find}`);
    writeFileSync(file, pieces.join(mutant.replace));
  }
  return folder;
}

/** The first suite that fails, or null. */
function firstToFail(folder: string, by: string | undefined): string | null {
  const order = by === undefined ? suites : [by, ...suites.filter((suite) => suite !== by)];
  for (const suite of order) {
    const file = join(folder, "test", `${suite}.test.ts`);
    const run = spawnSync(process.execPath, ["--test", "--test-reporter=dot", file], { cwd: folder, timeout: limitMs });
    if (run.status !== 0) return suite;
  }
  return null;
}

function trial(mutant: Mutant | null): { readonly caughtBy: string | null; readonly seconds: number } {
  const folder = plant(mutant);
  const from = performance.now();
  try {
    const caughtBy = firstToFail(folder, mutant?.by);
    return { caughtBy, seconds: (performance.now() - from) / 1_000 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const [only] = process.argv.slice(2);
const chosen = mutants.filter(({ name }) => only === undefined || name.includes(only));
const sound = trial(null);
console.log(
  `no fault planted: ${sound.caughtBy === null ? "all suites pass" : `${sound.caughtBy} FAILS`} (${sound.seconds.toFixed(0)} s)`,
);
let missed = sound.caughtBy === null ? 0 : 1;
for (const mutant of chosen) {
  const { caughtBy, seconds } = trial(mutant);
  if (caughtBy === null) missed++;
  console.log(
    `${mutant.name.padEnd(46)} ${caughtBy === null ? "NOT FOUND" : `found by ${caughtBy}`} (${seconds.toFixed(0)} s)`,
  );
}
console.log(`${chosen.length} faults planted, ${missed} not found`);
process.exit(missed === 0 ? 0 : 1);
