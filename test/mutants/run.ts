// `npm run sim:mutants [-- words of a fault]`: plants each fault in a copy of the sources and lets the suites loose on it,
// as many at a time as there are processors. A fault that no suite finds means that the suites are too weak, and fails
// the run.

import { spawn } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { type Mutant, mutants } from "./faults.ts";

const root = join(import.meta.dirname, "../..");
/** In this order; a fault may name the one that should find it, which is then the first. */
const suites =
  "crash stop poison seeds resume suspend restart stop/marks impossible-outside turns/leave turns/again turns/followed turns/succeeded turns/stopped turns/shown turns/drafts turns/pace turns/order".split(
    " ",
  );
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

/** Ends at the first test that fails, with everything that it had started. */
function passes(folder: string, suite: string): Promise<boolean> {
  const words = ["--test", "--test-reporter=dot", join(folder, "test", `${suite}.test.ts`)];
  const run = spawn(process.execPath, words, { cwd: folder, stdio: ["ignore", "pipe", "ignore"], detached: true });
  const kill = () => {
    if (run.exitCode === null && run.pid !== undefined) process.kill(-run.pid, "SIGKILL");
  };
  const limit = setTimeout(kill, limitMs);
  run.stdout.on("data", (dots: Buffer) => {
    if (dots.includes("X")) kill();
  });
  return new Promise<boolean>((found, fail) => {
    run.once("error", fail).once("exit", (code) => found(code === 0));
  }).finally(() => clearTimeout(limit));
}

/** The first suite that fails, or null. */
async function firstToFail(folder: string, by: string | undefined): Promise<string | null> {
  const order = by === undefined ? suites : [by, ...suites.filter((suite) => suite !== by)];
  for (const suite of order) if (!(await passes(folder, suite))) return suite;
  return null;
}

type Trial = { readonly caughtBy: string | null; readonly seconds: number };

async function trial(mutant: Mutant | null): Promise<Trial> {
  const folder = plant(mutant);
  const from = performance.now();
  try {
    const caughtBy = await firstToFail(folder, mutant?.by);
    return { caughtBy, seconds: (performance.now() - from) / 1_000 };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}

function report(mutant: Mutant, { caughtBy, seconds }: Trial): void {
  const found = caughtBy === null ? "NOT FOUND" : `found by ${caughtBy}`;
  console.log(`${mutant.name.padEnd(46)} ${found} (${seconds.toFixed(0)} s)`);
}

const [only] = process.argv.slice(2);
const chosen = mutants.filter(({ name }) => only === undefined || name.includes(only));
// A suite that fails without any fault would find them all.
const waiting: (Mutant | null)[] = [null, ...chosen];
let missed = 0;
let isSound = false;

async function work(): Promise<void> {
  for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
    const result = await trial(mutant);
    if (mutant === null) {
      isSound = result.caughtBy === null;
      console.log(`no fault planted: ${isSound ? "all suites pass" : `${result.caughtBy} FAILS`}`);
      continue;
    }
    if (result.caughtBy === null) missed++;
    report(mutant, result);
  }
}

await Promise.all(Array.from({ length: availableParallelism() }, work));
console.log(`${chosen.length} faults planted, ${missed} not found`);
process.exit(missed === 0 && isSound ? 0 : 1);
