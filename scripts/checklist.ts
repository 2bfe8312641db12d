// The checklist of the life cycle: runs every test whose title names a row of docs/checklist.md and prints row, test and
// result. Then it plants the fault of each row in the sources: a row whose tests do not notice that its behavior is gone is
// not proved by them. A row without a test, a test for an unknown row, a failure, or a fault that stays unnoticed fails the
// whole. Results of the lanes with real supervisors and Windows count where EVERTURN_LANES names a folder with their logs.

import { existsSync, globSync, readFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { run } from "node:test";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import type { PlantedFault } from "../test/planted/fault.ts";
import { faults } from "../test/planted/rows.ts";
import { type LaneProof, laneOf, lanesIn, provedIn } from "./lanes.ts";
import { rowsIn } from "./rows.ts";

const root = join(import.meta.dirname, "..");
/** These need parts that not every machine has. */
const elsewhere = /^test\/(?:browser|package)\//;
/** Real processes take longer; they look for a planted fault only where no other test of the row can. */
const slow = /^test\/process\//;
/** A test that says nothing for this long waits for ever. */
const silenceMaxMs = 300_000;
const anyRow = /\bS\d{1,3}\b|^impossible \d/;
const seedRow = /^S\d+$/;

type Proof = { readonly title: string; readonly places: readonly string[]; readonly passed: boolean };
type Proofs = ReadonlyMap<string, readonly Proof[]>;

function rowsOf(text: string): readonly string[] {
  return Array.from(text.matchAll(/^\| ([SI]\d+) \| .+ \|$/gm), ([, row = ""]) => row);
}

/** The texts of test files that name a row; one that calls the suite of stores names the rows of that suite as well. */
function filesWithRows(): ReadonlyMap<string, string> {
  const read = (file: string) => readFileSync(join(root, file), "utf8");
  const find = (...patterns: string[]) => globSync(patterns, { cwd: root }).toSorted();
  const suite = find("src/testing/store/*.ts").map(read).join("\n");
  const named = /["'`](?:[^"'`\n]*\bS\d{1,3}\b|impossible \d)/;
  const files = find("src/**/*.test.ts", "test/**/*.test.ts").filter((file) => !elsewhere.test(file));
  const texts = files.map((file): [string, string] => [file, read(file)]);
  return new Map(
    texts
      .map(([file, text]): [string, string] => [file, /\bstoreSuite\(/.test(text) ? text + suite : text])
      .filter(([, text]) => named.test(text)),
  );
}

async function prove(files: ReadonlyMap<string, string>): Promise<Proofs> {
  const proofs = new Map<string, Proof[]>();
  const note = (passed: boolean, title: string, file = "") => {
    const place = relative(root, file);
    for (const row of rowsIn(title)) {
      const found = proofs.get(row) ?? [];
      // A test of a table or of a suite is called elsewhere than in the file that runs it.
      const names = new RegExp(`\\b${row}\\b`);
      const places = files.has(place) ? [place] : [...files].flatMap(([one, text]) => (names.test(text) ? [one] : []));
      found.push({ title, places, passed });
      proofs.set(row, found);
    }
  };
  const stream = run({
    files: [...files.keys()].map((file) => join(root, file)),
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

/** Whether a test of this row fails with the fault in place, by what it asserts and not by running out of time. */
async function isNoticed(row: string, fault: PlantedFault, proofs: readonly Proof[]): Promise<boolean> {
  const all = [...new Set(proofs.flatMap(({ places }) => places))];
  const chosen = all.filter((place) => (fault.by === undefined ? !slow.test(place) : place.startsWith(fault.by)));
  const found = new AbortController();
  const hook = pathToFileURL(join(root, "test/planted/plant.ts")).href;
  const env = { ...process.env, PLANTED_FAULT: JSON.stringify(fault), NODE_OPTIONS: `--import=${hook}` };
  const stream = run({
    files: (chosen.length > 0 ? chosen : all).map((file) => join(root, file)),
    cwd: root,
    timeout: silenceMaxMs,
    testNamePatterns: [new RegExp(`\\b${row}\\b`)],
    env,
    signal: found.signal,
  });
  stream.on("test:fail", ({ name, details }) => {
    if (!rowsIn(name).includes(row) || isTimeout(details.error)) return;
    found.abort();
  });
  for await (const _ of stream) void _;
  return found.signal.aborted;
}

function isTimeout(error: Error): boolean {
  return "failureType" in error && error.failureType === "testTimeoutFailure";
}

/** Plants the faults of these rows, as many at a time as there are processors; names the rows that did not notice one. */
async function plantAll(rows: readonly string[], proofs: Proofs): Promise<ReadonlySet<string>> {
  const waiting = rows.flatMap((row) => {
    const found = proofs.get(row) ?? [];
    return found.length > 0 && found.every(({ passed }) => passed)
      ? (faults.get(row) ?? []).map((fault) => ({ row, fault, found }))
      : [];
  });
  const unnoticed = new Set<string>();
  async function work(): Promise<void> {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const from = performance.now();
      const isSeen = await isNoticed(next.row, next.fault, next.found);
      if (!isSeen) unnoticed.add(next.row);
      const seconds = ((performance.now() - from) / 1_000).toFixed(1);
      process.stdout.write(
        `${next.row.padEnd(5)} ${isSeen ? "noticed " : "UNNOTICED"} ${seconds} s  ${next.fault.file}\n`,
      );
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return unnoticed;
}

type Verdict = "holds" | "NO TEST" | "FAILED" | "NO FAULT" | "BLIND";

function verdictOf(row: string, proofs: readonly Proof[], lanes: readonly LaneProof[], isBlind: boolean): Verdict {
  if (proofs.length === 0) return "NO TEST";
  const hasFailed = proofs.some(({ passed }) => !passed) || lanes.some(({ result }) => result === "failed");
  if (hasFailed) return "FAILED";
  if (seedRow.test(row) && !faults.has(row)) return "NO FAULT";
  return isBlind ? "BLIND" : "holds";
}

function laneText(lanes: readonly LaneProof[]): string {
  const said = { passed: "proved in lane", failed: "FAILED in lane", "not run": "not run here: lane" } as const;
  const all = new Set(lanes.map(({ lane, result }) => `${said[result]} ${lane}`));
  return all.size === 0 ? "" : `  [${[...all].join("; ")}]`;
}

async function main(only: readonly string[]): Promise<number> {
  process.env["NODE_COMPILE_CACHE"] ??= join(tmpdir(), "everturn-compile-cache");
  const all = rowsOf(readFileSync(join(root, "docs/checklist.md"), "utf8"));
  const rows = only.length === 0 ? all : all.filter((row) => only.includes(row));
  const files = [...filesWithRows()];
  const proofs = await prove(new Map(files.filter(([file]) => laneOf(file) === null)));
  const folder = process.env["EVERTURN_LANES"];
  const logs = folder === undefined || !existsSync(folder) ? new Map<string, string>() : lanesIn(folder);
  const inLanes = provedIn(files, logs);
  const unnoticed = await plantAll(rows, proofs);
  let held = 0;
  for (const row of rows) {
    const found = proofs.get(row) ?? [];
    const lanes = inLanes.filter((one) => one.row === row);
    const verdict = verdictOf(row, found, lanes, unnoticed.has(row));
    if (verdict === "holds") held++;
    const shown = found.find(({ passed }) => !passed) ?? found[0];
    const place = shown === undefined ? "" : `${shown.places[0]}  ${shown.title}`;
    process.stdout.write(`${row.padEnd(5)} ${verdict.padEnd(8)} ${place}${laneText(lanes)}\n`);
  }
  const unknown = [...proofs.keys(), ...inLanes.map(({ row }) => row), ...faults.keys()];
  const strange = new Set(unknown.filter((row) => !all.includes(row)));
  if (strange.size > 0) return fail(`rows that are not in docs/checklist.md: ${[...strange].join(", ")}`);
  const planted = rows.flatMap((row) => faults.get(row) ?? []).length;
  process.stdout.write(
    `\n${held}/${rows.length} rows hold; ${planted} planted faults, rows that miss theirs: ${unnoticed.size}\n`,
  );
  for (const lane of new Set(inLanes.filter(({ result }) => result === "not run").map((one) => one.lane)))
    process.stdout.write(`not run here: lane ${lane}, which proves ${laneRows(inLanes, lane)}\n`);
  return held === rows.length ? 0 : 1;
}

function laneRows(proofs: readonly LaneProof[], lane: string): string {
  return [...new Set(proofs.filter((one) => one.lane === lane).map(({ row }) => row))].join(", ");
}

function fail(why: string): number {
  process.stderr.write(`checklist: ${why}\n`);
  return 1;
}

process.exitCode = await main(process.argv.slice(2));
