// `npm run chaos:breaks`: every way in which a network fails, with and without a kill, on every platform that needs
// a network, over long breaks in real time. Prints what the far sides counted; exits with 1 when anything is wrong.

import { parseArgs } from "node:util";
import type { TestContext } from "node:test";
import { dice, seedOfRun } from "../process/stage.ts";
import { type PlatformName, platformNames } from "./break-sides.ts";
import { type LinePlatform, linePlatforms, runLineBreaks } from "./line-breaks-run.ts";
import { type BreakResult, type FaultName, faultNames, problemsOf, runBreak } from "./breaks.ts";

const usage = `usage: npm run chaos:breaks -- [options]
  --seconds <n>      the longest break (70)
  --platform <names> only these, separated by commas: ${[...platformNames, ...linePlatforms].join(", ")}
  --fault <words>    only faults whose name contains this: ${faultNames.join(", ")}
  --seed <n>         repeats the moments of an earlier run
  --beside <n>       so many gateways at the same time (6)
  --help`;

const { values } = parseArgs({
  options: {
    seconds: { type: "string", default: "70" },
    platform: { type: "string", default: [...platformNames, ...linePlatforms].join(",") },
    fault: { type: "string", default: "" },
    seed: { type: "string", default: String(seedOfRun()) },
    beside: { type: "string", default: "6" },
    help: { type: "boolean", default: false },
  },
});
const [seconds, seed, beside] = [Number(values.seconds), Number(values.seed), Number(values.beside)];
const asked = values.platform.split(",");
const platforms = platformNames.filter((name) => asked.includes(name));
const ofLines = linePlatforms.filter((name: LinePlatform) => asked.includes(name));
const chosen = platforms.length === 0 ? [] : faultNames.filter((name) => name.includes(values.fault));
const isSomething = chosen.length > 0 || ofLines.length > 0;
if (values.help || !(seconds > 0 && beside > 0 && seed >= 0) || !isSomething) {
  console.log(usage);
  process.exit(values.help ? 0 : 64);
}

/** All that a scenario wants of a test: a place for what must be cleaned up. */
class Scope {
  readonly #works: (() => unknown)[] = [];
  after(work: () => unknown): void {
    this.#works.push(work);
  }
  async end(): Promise<void> {
    for (const work of this.#works.splice(0)) await work();
  }
}

type Scenario = { readonly fault: FaultName; readonly kill: boolean; readonly breakMs: number; readonly seed: number };
type Total = { sent: number; lost: number; copies: number; unexplained: number; reordered: number; other: number };

const roll = dice(seed);
const scenarios = chosen.flatMap((fault): readonly Scenario[] =>
  [false, true].map((kill, n) => ({
    fault,
    kill,
    breakMs: Math.round(1_000 * roll.between(Math.min(3, seconds), seconds)),
    seed: seed + n,
  })),
);
const totals = new Map<PlatformName, Total>();
let failed = 0;

async function play(scenario: Scenario): Promise<void> {
  const name = `${scenario.fault}${scenario.kill ? ", and a kill" : ""}, ${Math.round(scenario.breakMs / 1_000)} s`;
  const scope = new Scope();
  try {
    const results = await runBreak(scope as unknown as TestContext, { ...scenario, platforms });
    const problems = results.flatMap(problemsOf);
    for (const one of results) add(one);
    const slowest = Math.max(...results.map(({ healedMs }) => healedMs));
    console.log(
      `${problems.length === 0 ? "ok  " : "FAIL"} ${name}; the last answer ${Math.round(slowest / 1_000)} s later`,
    );
    for (const problem of problems) console.log(`     ${problem}`);
    if (problems.length > 0) failed++;
  } catch (error) {
    failed++;
    console.log(`FAIL ${name}\n     ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await scope.end();
  }
}

function add(result: BreakResult): void {
  const before = totals.get(result.platform);
  const { sent = 0, lost = 0, copies = 0, unexplained = 0, reordered = 0, other = 0 } = before ?? {};
  totals.set(result.platform, {
    sent: sent + result.sent,
    lost: lost + result.lost.length,
    copies: copies + result.copies.length,
    unexplained: unexplained + result.unexplained.length,
    reordered: reordered + result.reordered.length,
    other: other + result.held.length + result.insisted.length,
  });
}

console.log(
  `seed ${seed}, breaks up to ${seconds} s, ${scenarios.length} scenarios on ${platforms.join(", ") || "none"}`,
);
const startedAt = Date.now();
const waiting = [...scenarios];
await Promise.all(
  Array.from({ length: beside }, async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await play(next);
  }),
);
const scope = () => {
  const own = new Scope();
  return { t: own as unknown as TestContext, end: () => own.end() };
};
const lines =
  ofLines.length === 0
    ? { failed: 0, count: 0 }
    : await runLineBreaks({ platforms: ofLines, seconds, fault: values.fault, seed, beside, scope });
failed += lines.failed;
const count = scenarios.length + lines.count;
const row = (cells: readonly (string | number)[]): string =>
  cells.map((cell, n) => (n === 0 ? String(cell).padEnd(10) : String(cell).padStart(14))).join("");
console.log(`\n${row(["platform", "sent", "lost", "copies", "unexplained", "out of order", "held or more"])}`);
for (const [platform, { sent, lost, copies, unexplained, reordered, other }] of totals)
  console.log(row([platform, sent, lost, copies, unexplained, reordered, other]));
const minutes = ((Date.now() - startedAt) / 60_000).toFixed(1);
console.log(`\n${count - failed} of ${count} scenarios passed in ${minutes} min`);
process.exit(failed === 0 && count > 0 ? 0 : 1);
