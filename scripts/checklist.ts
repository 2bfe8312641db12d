// The checklist of the life cycle: runs every test whose title names a row of docs/checklist.md and prints row, test and
// result. A row without a test, a test for a row that is not there, or a failure, fails the whole.

import { globSync, readFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { run } from "node:test";
import { inspect } from "node:util";

const root = join(import.meta.dirname, "..");
/** These need parts that not every machine has; they prove rows that have another test as well. */
const elsewhere = /^test\/(?:services|windows|browser|package)\//;
/** A test that says nothing for this long waits for ever. */
const silenceMaxMs = 300_000;

const anyRow = /\bS\d{1,3}\b|^impossible \d/;

type Proof = { readonly title: string; readonly place: string; readonly passed: boolean };

/** The rows that a title names: `S17 S18 …` anywhere in it, or `impossible 1, 3–5: …` at its beginning. */
function rowsIn(title: string): readonly string[] {
  const seeds = Array.from(title.matchAll(/\bS(\d{1,3})\b/g), ([, number]) => `S${number}`);
  const listed = /^impossible ([\d\s,–-]+):/.exec(title)?.[1] ?? "";
  const ranges = Array.from(listed.matchAll(/(\d+)(?:\s*[–-]\s*(\d+))?/g), ([, from, to = from]) => {
    const length = Number(to) - Number(from) + 1;
    return Array.from({ length }, (_, i) => `I${Number(from) + i}`);
  });
  return [...seeds, ...ranges.flat()];
}

function rowsOf(text: string): readonly string[] {
  return Array.from(text.matchAll(/^\| ([SI]\d+) \| .+ \|$/gm), ([, row = ""]) => row);
}

function filesWithRows(): readonly string[] {
  const inSource = /["'`](?:[^"'`\n]*\bS\d{1,3}\b|impossible \d)/;
  return globSync(["src/**/*.test.ts", "test/**/*.test.ts"], { cwd: root })
    .filter((file) => !elsewhere.test(file) && inSource.test(readFileSync(join(root, file), "utf8")))
    .toSorted();
}

async function prove(files: readonly string[]): Promise<ReadonlyMap<string, readonly Proof[]>> {
  const proofs = new Map<string, Proof[]>();
  const note = (passed: boolean, title: string, file: string | undefined) => {
    for (const row of rowsIn(title)) {
      const found = proofs.get(row) ?? [];
      found.push({ title, place: relative(root, file ?? ""), passed });
      proofs.set(row, found);
    }
  };
  const stream = run({
    files: files.map((file) => join(root, file)),
    concurrency: availableParallelism(),
    cwd: root,
    timeout: silenceMaxMs,
    testNamePatterns: [anyRow],
  });
  stream.on("test:pass", ({ name, file, skip }) => note(skip === undefined, name, file));
  stream.on("test:fail", ({ name, file, details }) => {
    note(false, name, file);
    if (anyRow.test(name)) process.stderr.write(`\n✖ ${name}\n${inspect(details.error.cause ?? details.error)}\n`);
  });
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
  for (const row of rows) {
    const found = proofs.get(row) ?? [];
    const holds = found.length > 0 && found.every(({ passed }) => passed);
    if (holds) held++;
    const shown = found.find(({ passed }) => !passed) ?? found[0];
    const result = holds ? "holds" : found.length === 0 ? "NO TEST" : "FAILED";
    const place = shown === undefined ? "" : `${shown.place}  ${shown.title}`;
    process.stdout.write(`${row.padEnd(5)} ${result.padEnd(8)} ${place}\n`);
  }
  const unknown = [...proofs.keys()].filter((row) => !rows.includes(row));
  if (unknown.length > 0) return fail(`tests name rows that are not in docs/checklist.md: ${unknown.join(", ")}`);
  process.stdout.write(`\n${held}/${rows.length} rows hold\n`);
  return held === rows.length ? 0 : 1;
}

function fail(why: string): number {
  process.stderr.write(`checklist: ${why}\n`);
  return 1;
}

process.exitCode = await main();
