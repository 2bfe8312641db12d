// The checklist of the life cycle: runs every test whose title names a row of docs/checklist.md and prints row, test and
// result. A row without a test, a test for a row that is not there, or a failure, fails the whole.

import { globSync, readFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { run } from "node:test";

const root = join(import.meta.dirname, "..");
const inTitle = /\bS(\d{1,3})\b/g;
/** These need parts that not every machine has; they prove rows that have another test as well. */
const elsewhere = /^test\/(?:services|windows|browser|package)\//;
/** A test that says nothing for this long waits for ever. */
const silenceMaxMs = 300_000;

type Proof = { readonly title: string; readonly place: string; readonly passed: boolean };

function rowsOf(text: string): ReadonlyMap<number, string> {
  const lines = [...text.matchAll(/^\| S(\d+) \| (.+) \|$/gm)];
  return new Map(lines.map(([, number, what]) => [Number(number), what ?? ""]));
}

function filesWithRows(): readonly string[] {
  const files = globSync(["src/**/*.test.ts", "test/**/*.test.ts"], { cwd: root });
  return files
    .filter(
      (file) => !elsewhere.test(file) && /["'`][^"'`\n]*\bS\d{1,3}\b/.test(readFileSync(join(root, file), "utf8")),
    )
    .toSorted();
}

async function prove(files: readonly string[]): Promise<ReadonlyMap<number, readonly Proof[]>> {
  const proofs = new Map<number, Proof[]>();
  const note = (passed: boolean, name: string, file: string | undefined) => {
    for (const [, number] of name.matchAll(inTitle)) {
      const found = proofs.get(Number(number)) ?? [];
      found.push({ title: name, place: relative(root, file ?? ""), passed });
      proofs.set(Number(number), found);
    }
  };
  const stream = run({
    files: files.map((file) => join(root, file)),
    concurrency: availableParallelism(),
    cwd: root,
    timeout: silenceMaxMs,
    testNamePatterns: [/\bS\d{1,3}\b/],
  });
  stream.on("test:pass", ({ name, file, skip }) => note(skip === undefined, name, file));
  stream.on("test:fail", ({ name, file }) => note(false, name, file));
  stream.on("test:stderr", ({ message }) => process.stderr.write(message));
  for await (const _ of stream) void _;
  return proofs;
}

async function main(): Promise<number> {
  process.env["NODE_COMPILE_CACHE"] ??= join(tmpdir(), "everturn-compile-cache");
  const rows = rowsOf(readFileSync(join(root, "docs/checklist.md"), "utf8"));
  const files = filesWithRows();
  if (files.length === 0) return fail("no test names a row");
  const proofs = await prove(files);
  let held = 0;
  for (const number of rows.keys()) {
    const found = proofs.get(number) ?? [];
    const holds = found.length > 0 && found.every(({ passed }) => passed);
    if (holds) held++;
    const shown = found.find(({ passed }) => !passed) ?? found[0];
    const result = holds ? "holds" : found.length === 0 ? "NO TEST" : "FAILED";
    const place = shown === undefined ? "" : `${shown.place}  ${shown.title}`;
    process.stdout.write(`${`S${number}`.padEnd(5)} ${result.padEnd(8)} ${place}\n`);
  }
  const unknown = [...proofs.keys()].filter((number) => !rows.has(number));
  if (unknown.length > 0) return fail(`tests name rows that are not in docs/checklist.md: ${unknown.join(", ")}`);
  process.stdout.write(`\n${held}/${rows.size} rows hold\n`);
  return held === rows.size ? 0 : 1;
}

function fail(why: string): number {
  process.stderr.write(`checklist: ${why}\n`);
  return 1;
}

process.exitCode = await main();
