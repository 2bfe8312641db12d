// `npm run bench [-- --sessions 1000000] [--json]`: every figure beside its limit, measured in the same run. Nothing here
// is a test: a shared machine is noisy, so the noise is printed too.

import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { measureHistory } from "./history.ts";
import { measureLatency } from "./latency.ts";
import { measureMemory, measureRecovery, measureStart, measureStop } from "./life.ts";
import { program } from "./process.ts";
import { measureTurns } from "./turns.ts";

type Row = {
  readonly what: string;
  readonly figure: string;
  readonly bar: string;
  readonly holds: boolean;
  readonly raw: unknown;
};

const { values } = parseArgs({
  options: { sessions: { type: "string", default: "1000000" }, json: { type: "boolean" } },
});
if (!existsSync(program)) execFileSync("npm", ["run", "build"], { stdio: "ignore", timeout: 120_000 });

const ms = (value: number) => `${value.toFixed(value < 10 ? 2 : 0)} ms`;
const rows: Row[] = [];
function add(row: Row): void {
  rows.push(row);
  console.error(`${row.what}: ${row.figure} (bar: ${row.bar}) load ${loadavg()[0]?.toFixed(1)}`);
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

const turns = await measureTurns();
add({
  what: "durable turns/s, 64 at once",
  figure: `${turns.ours.toFixed(0)} = ${(turns.ratio * 100).toFixed(0)} % of ${turns.bare.toFixed(0)} bare`,
  bar: "≥ 40 %",
  holds: turns.ratio >= 0.4,
  raw: turns,
});
add({
  what: "event-loop delay p99 under that load",
  figure: ms(turns.delayP99Ms),
  bar: "≤ 20 ms",
  holds: turns.delayP99Ms <= 20,
  raw: turns.delayP99Ms,
});

const latency = await measureLatency();
add({
  what: "added latency of one turn, p50",
  figure: `${ms(latency.turnMs)} = ${latency.ratio.toFixed(1)} × one flush (${ms(latency.flushMs)})`,
  bar: "≤ 15 ×",
  holds: latency.ratio <= 15,
  raw: latency,
});

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

const stop = await measureStop();
add({
  what: "SIGTERM idle, one page open → exit",
  figure: ms(stop.ms),
  bar: "≤ 150 ms",
  holds: stop.ms <= 150,
  raw: stop,
});

const recovery = await measureRecovery();
add({
  what: "kill -9 with 64 turns → all run again",
  figure: ms(recovery.ms),
  bar: "≤ 1000 ms",
  holds: recovery.ms <= 1_000,
  raw: recovery,
});

const history = await measureHistory(Number(values.sessions));
add({
  what: `open + recovery over ${history.sessions} sessions`,
  figure: `${ms(history.openAndRecoverLongMs)} (empty: ${ms(history.openAndRecoverEmptyMs)})`,
  bar: "≤ 20 ms",
  holds: history.openAndRecoverLongMs <= 20,
  raw: history,
});
add({
  what: "… start beside an empty store",
  figure: `${ms(history.differenceMs)} more`,
  bar: "≤ 30 ms",
  holds: history.differenceMs <= 30,
  raw: history.differenceMs,
});

if (values.json) console.log(JSON.stringify(rows, null, 2));
else {
  const width = (pick: (row: Row) => string) => Math.max(...rows.map((row) => pick(row).length));
  const [a, b, c] = [width((row) => row.what), width((row) => row.figure), width((row) => row.bar)];
  for (const { what, figure, bar, holds } of rows) {
    console.log(`${what.padEnd(a)}  ${figure.padEnd(b)}  ${bar.padEnd(c)}  ${holds ? "holds" : "MISSED"}`);
  }
}
