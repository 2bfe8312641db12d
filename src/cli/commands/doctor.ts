// `everturn doctor`: everything that can be wrong with a home, looked at one by one; with --fix what can be put right
// without asking is put right, and looked at again.

import { type Told, examine, worst } from "../doctor/checks.ts";
import { type Fixed, repair } from "../doctor/fix.ts";
import { lookAround } from "../doctor/look.ts";
import { redactChecks } from "../doctor/redact.ts";
import { type Context, show } from "../context.ts";
import { type Output, oneLine, paint } from "../print.ts";

export async function doctor(context: Context): Promise<number> {
  const found = await lookAround(context);
  const first = examine(found);
  const fixed = context.flags["fix"] === true ? await repair(context, first, found) : [];
  const told = await redactChecks(context, fixed.length === 0 ? first : examine(await lookAround(context)));
  const level = worst(told);
  show(context, { level, checks: told, fixed }, () => text(context.output, told, fixed));
  return level === "fault" ? 1 : 0;
}

const signs = { ok: ["ok", "green"], warning: ["warning", "yellow"], fault: ["fault", "red"] } as const;

export function checkLines(output: Output, told: readonly Told[]): readonly string[] {
  const width = Math.max(...told.map((one) => one.name.length));
  return told.map(({ name, level, what, todo }) => {
    const [word, colour] = signs[level];
    const [first = "", ...more] = what.split("\n").map(oneLine);
    const line = `${paint(output, colour, word.padEnd(7))}  ${name.padEnd(width)}  ${first}`;
    const below = [...more, ...(todo === null ? [] : [paint(output, "dim", oneLine(todo))])];
    return [line, ...below.map((one) => `${" ".repeat(width + 11)}${one}`)].join("\n");
  });
}

function text(output: Output, told: readonly Told[], fixed: readonly Fixed[]): string {
  const repairs = fixed.map(({ fix, done, failed }) =>
    failed === null ? `Repaired ${fix}: ${done}` : `Could not repair ${fix}: ${failed}`,
  );
  const bad = told.filter((one) => one.level !== "ok").length;
  const end = bad === 0 ? "All is well." : `${bad} of ${told.length} checks found something.`;
  const fixable = fixed.length === 0 && told.some((one) => one.fix !== null);
  return [
    ...repairs,
    ...checkLines(output, told),
    "",
    fixable ? `${end} \`everturn doctor --fix\` repairs some of it.` : end,
  ].join("\n");
}
