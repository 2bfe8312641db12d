// From the command line to an exit: the doors that commands cannot open themselves, and the last line of defence.
// A terminal that was closed must not kill a gateway, and no warning of the runtime may reach the user's terminal.

import { fileURLToPath } from "node:url";
import { runCommand } from "./cli/index.ts";
import type { Copy, Doors, StoreLook } from "./cli/context.ts";
import { terminalOutput } from "./cli/print.ts";
import { environment } from "./config/load.ts";
import { Fault, sentenceOf } from "./core/fault.ts";
import type { Boot } from "./core/recovery.ts";

/** A mistake of ours. */
const bugCode = 70;
const failedCode = 1;

export async function program(argv: readonly string[], version: string, mainUrl: string): Promise<void> {
  process.removeAllListeners("warning");
  process.on("warning", () => undefined);
  let isUnsaid = false;
  for (const stream of [process.stdout, process.stderr]) stream.on("error", (error) => (isUnsaid ||= isLoss(error)));
  process.on("uncaughtException", (error) => failed(error));
  process.on("unhandledRejection", (error) => failed(error));

  const output = terminalOutput(process.stdout, process.stderr, environment());
  const pageFolder = fileURLToPath(new URL(mainUrl.endsWith(".ts") ? "../dist/page" : "./page", mainUrl));
  const doors: Doors = {
    version,
    runGateway: async (options) => (await import("./run.ts")).runGateway({ ...options, version, pageFolder, output }),
    copyStore,
    readCopy,
    readBoots,
    lookAtStore,
    lookAtAgent: async (config, paths) => (await import("./run/agent/look.ts")).lookAtAgent(config, paths),
  };
  const code = await runCommand(argv, output, doors);
  leave(code === 0 && isUnsaid ? failedCode : code);
}

/** Ends the process when everything that was printed has left it. */
function leave(code: number): void {
  process.exitCode = code;
  if (process.stdout.writableLength === 0) process.exit();
  process.stdout.end(() => process.exit());
}

/**
 * What cannot be said must never end a gateway, whatever the reason: its log file has it too. A command whose words were
 * lost to a full disk has failed, though; one whose reader or terminal has gone has not.
 */
function isLoss({ code = "" }: NodeJS.ErrnoException): boolean {
  return !["EPIPE", "EIO", "ENXIO", "ERR_STREAM_DESTROYED"].includes(code);
}

/** A running gateway replaces this by one that also writes to its log. */
function failed(error: unknown): void {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : sentenceOf(error)}\n`);
  process.exit(bugCode);
}

async function copyStore(store: string, file: string): Promise<void> {
  const { openSqliteArchive } = await import("./stores/sqlite/index.ts");
  const archive = openSqliteArchive(store);
  try {
    await archive.backup(file);
  } finally {
    archive.close();
  }
}

async function readCopy(file: string): Promise<Copy> {
  const { filesNamedIn, verifySqliteCopy } = await import("./stores/sqlite/index.ts");
  const fault = verifySqliteCopy(file);
  if (fault !== null) return { fault, openTurns: 0, openItems: 0, files: [] };
  return { fault, ...(await openWork(file)), files: filesNamedIn(file) };
}

async function openWork(file: string): Promise<{ readonly openTurns: number; readonly openItems: number }> {
  const { openSqliteArchive } = await import("./stores/sqlite/index.ts");
  const archive = openSqliteArchive(file);
  try {
    const { turns, items } = await archive.counts();
    const openTurns = turns.queued + turns.running + turns.waiting + turns.parked + turns.restarting;
    return { openTurns, openItems: items.pending + items.sending + items["in-doubt"] };
  } finally {
    archive.close();
  }
}

async function readBoots(store: string, limit: number): Promise<readonly Boot[]> {
  const { inspectSchema, openSqliteArchive } = await import("./stores/sqlite/index.ts");
  const { findLastStep } = await import("./run/last-step.ts");
  const { schema, newest } = inspectSchema(store);
  if (schema < newest)
    throw new Fault(
      "not-possible",
      `${store} was written by an older Everturn (schema ${schema}, this version has ${newest}). Start the gateway once; that brings it up to date.`,
    );
  const archive = openSqliteArchive(store);
  try {
    const [last, ...rest] = await archive.lastBoots(limit);
    if (last === undefined || last.stop !== null || last.story.lastStep !== undefined)
      return last === undefined ? [] : [last, ...rest];
    const lastStep = await findLastStep(archive, last, Number.POSITIVE_INFINITY);
    return [{ ...last, story: { ...last.story, ...(lastStep === null ? {} : { lastStep }) } }, ...rest];
  } finally {
    archive.close();
  }
}

async function lookAtStore(store: string): Promise<StoreLook> {
  const { inspectSchema, inspectSqlite, placeWarning } = await import("./stores/sqlite/index.ts");
  const from = performance.now();
  const fault = inspectSqlite(store);
  const tookMs = performance.now() - from;
  const { schema, newest } = inspectSchema(store);
  const work = fault === null && schema > 0 ? await openWork(store) : { openTurns: 0, openItems: 0 };
  return { schema, newest, fault, warning: placeWarning(store), tookMs, ...work };
}
