// The test command: runs every test file beside the sources, in test/ and in the page, each in its own process, and
// prints only what failed, then the totals. Arguments are filters: a file runs when its path contains one of them.
// The slow lanes (real processes, browsers, packages, supervisors, Windows, mutants, the contract of platforms that need a
// fake of their far side) have commands of their own.

import { globSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { performance } from "node:perf_hooks";
import { run } from "node:test";
import { inspect } from "node:util";

const oldestMajor = 24;
const root = join(import.meta.dirname, "..");
const patterns = ["src/**/*.test.ts", "test/**/*.test.ts", "page/**/*.test.ts"];
const lanes =
  /^test\/(?:(?:process|platforms|agent|redteam|browser|package|services|windows)\/|contracts\/(?!chat|api|hooks))/;
/** When nothing has happened for this long, something waits for ever or was left open. */
const silenceMaxMs = 300_000;

type Failure = { readonly name: string; readonly place: string; readonly error: unknown };
type Totals = { readonly passed: number; readonly failed: number; readonly skipped: number };

async function runFiles(files: readonly string[]): Promise<Totals> {
  const counted = { passed: 0, failed: 0, skipped: 0 };
  const open = new Set<string>();
  const tooLong = new AbortController();
  const alarm = setTimeout(() => {
    counted.failed += open.size;
    for (const file of open) printFailure({ name: "does not end", place: relative(root, file), error: hint });
    tooLong.abort();
  }, silenceMaxMs);
  const stream = run({
    files: [...files],
    // One more than can compute: some wait for sockets.
    concurrency: availableParallelism() + 1,
    timeout: silenceMaxMs,
    cwd: root,
    signal: tooLong.signal,
  });
  stream.on("test:stderr", (said) => process.stderr.write(said.message));
  stream.on("test:diagnostic", (said) => {
    // Says what went wrong after a test had ended; the rest are numbers that are counted here.
    if (/^(?:Error|Warning): /.test(said.message)) process.stderr.write(`${said.message}\n`);
  });
  stream.on("test:dequeue", ({ name, nesting }) => {
    if (nesting === 0 && files.includes(name)) open.add(name);
  });
  stream.on("test:complete", ({ name }) => {
    alarm.refresh();
    open.delete(name);
  });
  stream.on("test:pass", (data) => {
    if (data.details.type === "suite") return;
    if (data.skip !== undefined || data.todo !== undefined) counted.skipped += 1;
    else counted.passed += 1;
  });
  stream.on("test:fail", (data) => {
    // A suite, or a file, fails again when a test inside it has failed; only its own failure is news.
    if (isEcho(data.details.error) || tooLong.signal.aborted) return;
    counted.failed += 1;
    const line = data.line === undefined ? "" : `:${data.line}`;
    const place = `${relative(root, data.file ?? data.name)}${line}`;
    printFailure({ name: data.name, place, error: causeOf(data.details.error) });
  });
  for await (const _ of stream) void _;
  clearTimeout(alarm);
  return counted;
}

const hint = "a test waits for ever, or left something open when it ended: a gateway, a server, a timer";

function isEcho(error: unknown): boolean {
  return error instanceof Error && "failureType" in error && error.failureType === "subtestsFailed";
}

/** node:test wraps what was thrown; of a process that ended badly there is only the way it ended. */
function causeOf(error: unknown): unknown {
  if (!(error instanceof Error) || error.cause === undefined) return error;
  if (typeof error.cause !== "string") return error.cause;
  const { exitCode, signal } = error as { readonly exitCode?: number; readonly signal?: string };
  if (exitCode === undefined && signal === undefined) return error.cause;
  return `the process of this file ended with ${signal ?? `code ${exitCode}`}; what it said is above`;
}

function printFailure(failure: Failure): void {
  process.stdout.write(`\n✖ ${failure.name}\n  ${failure.place}\n`);
  for (const line of describe(failure.error).split("\n")) {
    if (!/^\s+at .*node:(?:internal|async_hooks)/.test(line)) process.stdout.write(`  ${line}\n`);
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === "string" ? error : inspect(error);
  const text = error.stack ?? error.message;
  return error.cause === undefined ? text : `${text}\ncaused by ${describe(error.cause)}`;
}

async function main(filters: readonly string[]): Promise<number> {
  const major = Number(process.versions.node.split(".")[0]);
  if (major < oldestMajor) {
    process.stderr.write(
      `The tests need Node ${oldestMajor} or newer; this is ${process.version} (${process.execPath}).\n` +
        "Run `npm ci` once (it brings the right Node along), then `npm test`.\n",
    );
    return 1;
  }
  const files = globSync(patterns, { cwd: root })
    .filter((file) => !file.includes("node_modules") && !lanes.test(file))
    .filter((file) => filters.length === 0 || filters.some((one) => file.includes(one)))
    .toSorted();
  if (files.length === 0) {
    process.stderr.write(`No test file has ${filters.map((one) => `"${one}"`).join(" or ")} in its path.\n`);
    return 1;
  }
  process.env["NODE_COMPILE_CACHE"] ??= join(tmpdir(), "everturn-compile-cache");
  const begun = performance.now();
  const totals = await runFiles(files.map((file) => join(root, file)));
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  const skipped = totals.skipped === 0 ? "" : `, ${totals.skipped} skipped`;
  process.stdout.write(`\n${files.length} files in ${seconds} s${skipped}\n`);
  process.stdout.write(`${totals.passed} passed, ${totals.failed} failed\n`);
  return totals.failed === 0 ? 0 : 1;
}

process.exitCode = await main(process.argv.slice(2));
