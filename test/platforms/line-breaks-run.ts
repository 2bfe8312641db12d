// The part of `npm run chaos:breaks` for IRC and SMTP: every fault at every moment of a send, with and without a kill, over
// long breaks in real time, with servers in memory and real ones.

import type { TestContext } from "node:test";
import { type Dice, dice } from "../process/stage.ts";
import { type LineSideName, whyMissing } from "./line-break-sides.ts";
import { type LineBreakPlan, type LineBreakResult, allPlans, runLineBreak } from "./line-breaks.ts";

const sidesOf = { irc: ["irc", "irc-echo", "ngircd"], email: ["smtp", "postfix"] } as const satisfies Readonly<
  Record<string, readonly LineSideName[]>
>;
export type LinePlatform = keyof typeof sidesOf;
export const linePlatforms = Object.keys(sidesOf) as LinePlatform[];

export type LineRun = {
  readonly platforms: readonly LinePlatform[];
  /** The longest break. */
  readonly seconds: number;
  /** Only faults whose name contains this. */
  readonly fault: string;
  readonly seed: number;
  /** So many gateways at the same time. */
  readonly beside: number;
  /** A place for what must be cleaned up after a scenario. */
  readonly scope: () => { readonly t: TestContext; end(): Promise<void> };
};

/** How many scenarios failed, of how many. */
export async function runLineBreaks(run: LineRun): Promise<{ readonly failed: number; readonly count: number }> {
  const roll = dice(run.seed);
  const sides = run.platforms.flatMap((platform): readonly LineSideName[] => sidesOf[platform]);
  for (const side of sides) if (whyMissing(side) !== false) console.log(`not run: ${side}, ${whyMissing(side)}`);
  const waiting = allPlans(sides.filter((side) => whyMissing(side) === false))
    .filter(({ fault }) => fault.includes(run.fault))
    .map((plan): LineBreakPlan => ({ ...plan, breakMs: lengthOf(roll, run.seconds) }));
  const count = waiting.length;
  const totals = new Map<LineSideName, Totals>();
  let failed = 0;
  console.log(`${count} scenarios on ${sides.join(", ")}`);
  await Promise.all(
    Array.from({ length: run.beside }, async () => {
      for (let plan = waiting.shift(); plan !== undefined; plan = waiting.shift())
        if (!(await play(run, plan, totals))) failed++;
    }),
  );
  for (const [side, { sent, lost, copies, unexplained, reordered, held }] of totals)
    console.log(
      `${side}: ${sent} sent, ${lost} lost, ${copies} copies, ${unexplained} unexplained, ${reordered} out of order, ${held} held`,
    );
  return { failed, count };
}

function lengthOf(roll: Dice, seconds: number): number {
  return Math.round(1_000 * roll.between(Math.min(3, seconds), seconds));
}

type Totals = Record<keyof LineBreakResult, number>;

async function play(run: LineRun, plan: LineBreakPlan, totals: Map<LineSideName, Totals>): Promise<boolean> {
  const seconds = Math.round(plan.breakMs / 1_000);
  const name = `${plan.side}: ${plan.fault} ${plan.moment}${plan.kill ? ", and a kill" : ""}, ${seconds} s`;
  const { t, end } = run.scope();
  try {
    const result = await runLineBreak(t, plan);
    add(totals, plan.side, result);
    const { sent: _, copies, ...wrong } = result;
    const problems = Object.entries(wrong).flatMap(([what, found]) =>
      found.length === 0 ? [] : [`${what}: ${found.join(", ")}`],
    );
    console.log(`${problems.length === 0 ? "ok  " : "FAIL"} ${name}; ${copies.length} copies`);
    for (const problem of problems) console.log(`     ${problem}`);
    return problems.length === 0;
  } catch (error) {
    console.log(`FAIL ${name}\n     ${error instanceof Error ? error.message : String(error)}`);
    return false;
  } finally {
    await end();
  }
}

function add(totals: Map<LineSideName, Totals>, side: LineSideName, result: LineBreakResult): void {
  const none: Totals = { sent: 0, lost: 0, reordered: 0, copies: 0, unexplained: 0, held: 0 };
  const before = totals.get(side) ?? none;
  totals.set(side, {
    sent: before.sent + result.sent,
    lost: before.lost + result.lost.length,
    reordered: before.reordered + result.reordered.length,
    copies: before.copies + result.copies.length,
    unexplained: before.unexplained + result.unexplained.length,
    held: before.held + result.held.length,
  });
}
