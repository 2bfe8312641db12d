// `everturn usage`: tokens and money by day and model, of everything or of one session.

import type { UsageReply } from "../../control/protocol.ts";
import type { Spent } from "../../core/usage.ts";
import { type Context, queryOf, reachGateway, show } from "../context.ts";
import { table } from "../print.ts";
import { costText, count } from "./spent.ts";

export async function usage(context: Context): Promise<number> {
  const reply = await reachGateway(context).get<UsageReply>(`/api/usage${queryOf(context, ["days", "session"])}`);
  return show(context, reply, ({ lines, total }) => {
    if (lines.length === 0) return "No model was asked for anything in this time.";
    const rows = lines.map((one) => [one.day, one.model, ...figures(one)]);
    const shown = lines.length === 1 ? rows : [...rows, ["total", "", ...figures(total)]];
    return table(["DAY (UTC)", "MODEL", "STEPS", "IN", "CACHED", "OUT", "COST"], aligned(shown), context.output);
  });
}

function figures(spent: Spent): readonly string[] {
  const { steps, input, cached, output } = spent;
  return [...[steps, input, cached, output].map(count), costText(spent)];
}

/** Figures end below each other. */
function aligned(rows: readonly (readonly string[])[]): readonly (readonly string[])[] {
  const isFigure = (column: number) => column >= 2 && column <= 5;
  const width = (column: number) => Math.max(...rows.map((row) => row[column]?.length ?? 0));
  return rows.map((row) => row.map((cell, i) => (isFigure(i) ? cell.padStart(width(i)) : cell)));
}
