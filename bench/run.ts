// `npm run bench [-- --only life] [--sessions 1000000] [--json]`: every figure beside its limit, measured in the same run.
// Nothing here is a test: a shared machine is noisy, so the noise is printed too.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { measureReplace, measureRestart } from "./handover.ts";
import { measureReads } from "./files.ts";
import { measureHistory } from "./history.ts";
import { measureCpu } from "./idle.ts";
import { measureLatency } from "./latency.ts";
import { measureMemory, measureRecovery, measureStart, measureStop } from "./life.ts";
import { meetings } from "./far/crowds.ts";
import { measureIdle, measureStreaming, measureWire } from "./platforms.ts";
import { program } from "./process.ts";
import { measureCrowd, measureGrowth, measureModel } from "./model.ts";
import { measureReadable } from "./readable.ts";
import { measureSandbox } from "./sandbox.ts";
import { measureSnapshot } from "./snapshot.ts";
import { measureBackAgain, measureBusyStop, measureMarks, measureStopCommand } from "./stops.ts";
import { measureTurns } from "./turns.ts";

type Row = {
  readonly what: string;
  readonly figure: string;
  readonly bar: string;
  readonly holds: boolean;
  readonly raw: unknown;
};

const { values } = parseArgs({
  options: {
    sessions: { type: "string", default: "1000000" },
    only: { type: "string", multiple: true },
    json: { type: "boolean" },
  },
});
if (!existsSync(program)) execFileSync("npm", ["run", "build"], { stdio: "ignore", timeout: 120_000 });

const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
const rows: Row[] = [];
function add(row: Row): void {
  rows.push(row);
  console.error(`${row.what}: ${row.figure} (bar: ${row.bar}) load ${loadavg()[0]?.toFixed(1)}`);
}

/** A figure that is one length of time. */
async function time(what: string, barMs: number, measured: Promise<{ readonly ms: number }>): Promise<void> {
  const raw = await measured;
  const most = "most" in raw ? ` (longest ${ms(Number(raw.most))})` : "";
  add({ what, figure: `${ms(raw.ms)}${most}`, bar: `≤ ${barMs} ms`, holds: raw.ms <= barMs, raw });
}

/** A Node of the machine that is older than ours, to measure the launcher with. */
function oldNode(): string | null {
  for (const candidate of ["/usr/local/bin/node", "/usr/bin/node"]) {
    if (
      existsSync(candidate) &&
      !execFileSync(candidate, ["--version"], { encoding: "utf8" }).startsWith(process.version)
    )
      return candidate;
  }
  return null;
}

async function turns(): Promise<void> {
  const found = await measureTurns();
  add({
    what: "durable turns/s, 64 at once",
    figure: `${found.ours.toFixed(0)} = ${(found.ratio * 100).toFixed(0)} % of ${found.bare.toFixed(0)} bare`,
    bar: "≥ 40 %",
    holds: found.ratio >= 0.4,
    raw: found,
  });
  add({
    what: "event-loop delay p99 under that load",
    figure: ms(found.delayP99Ms),
    bar: "≤ 20 ms",
    holds: found.delayP99Ms <= 20,
    raw: found.delayP99Ms,
  });
  const latency = await measureLatency();
  add({
    what: "added latency of one turn, p50",
    figure: `${ms(latency.turnMs)} = ${latency.ratio.toFixed(1)} × one flush (${ms(latency.flushMs)})`,
    bar: "≤ 15 ×",
    holds: latency.ratio <= 15,
    raw: latency,
  });
}

async function start(): Promise<void> {
  const started = await measureStart(oldNode());
  add({
    what: "spawn → /readyz 200",
    figure: `${ms(started.readyMs)} = ${started.ratio.toFixed(1)} × an empty Node (${ms(started.emptyMs)})`,
    bar: "≤ 6 ×",
    holds: started.ratio <= 6,
    raw: started,
  });
  if (started.launcherExtraMs !== null) {
    add({
      what: "the launcher's extra on an old Node",
      figure: ms(started.launcherExtraMs),
      bar: "–",
      holds: true,
      raw: started.launcherExtraMs,
    });
  }
  const memory = await measureMemory();
  add({
    what: "idle memory 3 s after ready",
    figure: `${memory.ours.toFixed(0)} MB = ${memory.ratio.toFixed(2)} × an empty Node (${memory.empty.toFixed(0)} MB)`,
    bar: "≤ 2.2 ×",
    holds: memory.ratio <= 2.2,
    raw: memory,
  });
  await time("kill -9 with 64 turns → all run again", 1_000, measureRecovery());
}

async function life(): Promise<void> {
  await time("SIGTERM idle, one page open → exit", 150, measureStop());
  await time("SIGTERM with 64 turns running, no drain → exit", 1_000, measureBusyStop());
  await time("stop → start → accepting again", 1_000, measureBackAgain());
  await time("exit → `gateway stop` returns", 200, measureStopCommand());
  await time("blackout of a restart without a supervisor", 100, measureRestart());
  await time("blackout of `run --replace`", 100, measureReplace());
  await time("snapshot of a stop", 5, Promise.resolve(measureSnapshot()));
  await time("marking 1,000 running sessions", 50, measureMarks());
}

async function history(): Promise<void> {
  const found = await measureHistory(Number(values.sessions));
  add({
    what: `open + recovery over ${found.sessions} sessions`,
    figure: `${ms(found.openAndRecoverLongMs)} (empty: ${ms(found.openAndRecoverEmptyMs)})`,
    bar: "≤ 20 ms",
    holds: found.openAndRecoverLongMs <= 20,
    raw: found,
  });
  add({
    what: "… start beside an empty store",
    figure: `${ms(found.differenceMs)} more`,
    bar: "≤ 30 ms",
    holds: found.differenceMs <= 30,
    raw: found.differenceMs,
  });
}

/** With a model that answers at once. */
async function model(): Promise<void> {
  const found = await measureModel();
  await time("message accepted → model request on the wire, p50", 15, Promise.resolve({ ms: found.toWireMs }));
  await time("end of the model's answer → reply at the client, p50", 10, Promise.resolve({ ms: found.toReplyMs }));
  const ratio = found.firstMs / found.laterMs;
  add({
    what: "first turn after a start beside a later one",
    figure: `${ms(found.firstMs)} = ${ratio.toFixed(1)} × ${ms(found.laterMs)} (right at ready: ${ms(found.atOnceMs)})`,
    bar: "≤ 3 ×",
    holds: ratio <= 3,
    raw: found,
  });
  add({
    what: "fixed part of a request, all tools",
    figure: `${(found.fixedBytes / 1_000).toFixed(1)} kB`,
    bar: "≤ 12 kB",
    holds: found.fixedBytes <= 12_000,
    raw: found.fixedBytes,
  });
  const crowd = await measureCrowd();
  add({
    what: "turns/s, 50 chats of 10 turns",
    figure: crowd.perSecond.toFixed(0),
    bar: "≥ 100",
    holds: crowd.perSecond >= 100,
    raw: crowd,
  });
  const grown = await measureGrowth();
  add({
    what: "memory after 1,000 turns in 100 sessions",
    figure: `${grown.after.toFixed(0)} MB, ${grown.more.toFixed(0)} MB more than idle (${grown.idle.toFixed(0)} MB)`,
    bar: "≤ 30 MB more",
    holds: grown.more <= 30,
    raw: grown,
  });
}

/** What a user notices: the time until the answer can be read on the platform. */
async function readable(): Promise<void> {
  for await (const { name, whole, streamed, isInstant } of measureReadable()) {
    add({
      what: `${name}: message available → answer readable${streamed === null ? "" : ", streaming off"}`,
      figure: `p50 ${ms(whole.p50)}, p95 ${ms(whole.p95)}`,
      bar: isInstant ? "≤ 25 ms, ≤ 40 ms" : "–",
      holds: !isInstant || (whole.p50 <= 25 && whole.p95 <= 40),
      raw: whole,
    });
    if (streamed === null) continue;
    add({
      what: "… with streaming",
      figure: `p50 ${ms(streamed.p50)} = ${(streamed.p50 / whole.p50).toFixed(2)} ×, p95 ${ms(streamed.p95)}`,
      bar: "≤ 1.3 ×, ≤ 25 ms, ≤ 40 ms",
      holds: streamed.p50 <= 1.3 * whole.p50 && streamed.p50 <= 25 && streamed.p95 <= 40,
      raw: streamed,
    });
  }
}

/** Against fakes of their servers. */
async function platforms(): Promise<void> {
  const wire = await measureWire();
  await time("Telegram: update available → stored and acknowledged, p50", 5, Promise.resolve({ ms: wire.takenMs }));
  await time("Telegram: reply stored → on the wire, p50", 3, Promise.resolve({ ms: wire.leftMs }));
  for (const meeting of meetings) {
    const found = await measureStreaming(meeting);
    const share = found.refused / found.requests;
    const rates = found.rates.map(({ of, most, may }) => `${most}/${may} ${of}`);
    const refused = `${found.refused} of ${found.requests} requests refused`;
    add({
      what: `${found.name}: ${found.chats} answers that grow at once`,
      figure: [
        `${found.lost} lost, ${found.doubled} doubled in ${(found.tookMs / 1_000).toFixed(0)} s`,
        refused,
        ...rates,
      ].join(", "),
      bar: "none lost, at most 1 % refused",
      holds: found.lost === 0 && found.doubled === 0 && share <= 0.01,
      raw: found,
    });
  }
  const all = await measureIdle();
  add({
    what: `${all.names.length} platforms out there, idle: memory`,
    figure: `${all.mb.toFixed(0)} MB (none: ${all.noneMb.toFixed(0)} MB)`,
    bar: "≤ 120 MB",
    holds: all.mb <= 120,
    raw: all,
  });
  add({
    what: "… spawn → /readyz 200 beside none",
    figure: `${ms(all.readyMs)} = ${all.ratio.toFixed(2)} × ${ms(all.noneMs)}`,
    bar: "≤ 1.5 ×",
    holds: all.ratio <= 1.5,
    raw: all.ratio,
  });
}

/** By the operating system's counters, over a minute each. */
async function idle(): Promise<void> {
  const found = await measureCpu();
  add({
    what: "CPU while idle, one Telegram account, over 60 s",
    figure: `${(found.idleShare * 100).toFixed(2)} %`,
    bar: "≤ 0.1 %",
    holds: found.idleShare <= 0.001,
    raw: found,
  });
  add({
    what: "CPU of a plain turn, one every 1.5 s, after the first ten",
    figure: `${found.turnMs.toFixed(1)} ms over ${found.turns} turns`,
    bar: "≤ 15 ms",
    holds: found.turnMs <= 15,
    raw: found,
  });
}

async function files(): Promise<void> {
  const found = await measureReads();
  add({
    what: `read_file by a warm worker (${found.sandbox}), p50`,
    figure: `${ms(found.moreMs)} more than ${ms(found.directMs)} (first call: ${ms(found.coldMs)})`,
    bar: "≤ 3 ms more",
    holds: found.moreMs <= 3,
    raw: found,
  });
}

async function sandbox(): Promise<void> {
  const found = await measureSandbox();
  add({
    what: `\`true\` behind the wall (${found.sandbox}), p50`,
    figure: `${ms(found.moreMs)} more than ${ms(found.bareMs)} (once a process: ${ms(found.firstMs)})`,
    bar: "≤ 30 ms more",
    holds: found.moreMs <= 30,
    raw: found,
  });
}

const groups = { turns, start, life, history, model, platforms, readable, idle, files, sandbox };
const unknown = values.only?.filter((name) => !Object.hasOwn(groups, name)) ?? [];
if (unknown.length > 0) {
  console.error(`There is no group ${unknown.join(", ")}; there are ${Object.keys(groups).join(", ")}.`);
  process.exit(64);
}
for (const [name, measure] of Object.entries(groups)) {
  if (values.only === undefined || values.only.includes(name)) await measure();
}

if (values.json) console.log(JSON.stringify(rows, null, 2));
else {
  const width = (pick: (row: Row) => string) => Math.max(...rows.map((row) => pick(row).length));
  const [a, b, c] = [width((row) => row.what), width((row) => row.figure), width((row) => row.bar)];
  for (const { what, figure, bar, holds } of rows) {
    console.log(`${what.padEnd(a)}  ${figure.padEnd(b)}  ${bar.padEnd(c)}  ${holds ? "holds" : "MISSED"}`);
  }
}
