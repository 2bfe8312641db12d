// `everturn logs`: the gateway's log, for people on a terminal and as JSON lines for everybody else; with -f what is
// written from now on as well, whoever writes it. Works without a running gateway.

import { join } from "node:path";
import { Fault } from "../../core/fault.ts";
import { readJsonLine } from "../../log/json.ts";
import { prettyLine } from "../../log/pretty.ts";
import { type Context, pathsOf, textFlag } from "../context.ts";
import { followLines, lastLines } from "../logs/tail.ts";
import { plainText } from "../print.ts";
import { rest } from "../verbs/gateway.ts";

const usualLines = 50;
const lookAgainMs = 200;

export async function logs(context: Context): Promise<number> {
  const { logs: folder, home } = pathsOf(context);
  const file = join(folder, "gateway.log");
  const { output } = context;
  const isPretty = output.tty && context.flags["json"] !== true;
  const say = (line: string) => output.out(isPretty ? pretty(line, output.colour) : asJson(line));
  const { lines, at, exists } = await lastLines(file, Number(textFlag(context, "lines") ?? usualLines));
  for (const line of lines) say(line);
  if (context.flags["follow"] !== true) {
    if (exists) return 0;
    throw new Fault("not-found", `There is no log in ${folder} yet; no gateway has run in ${home}.`);
  }
  if (!exists) output.err(`There is no log in ${folder} yet; waiting for one.`);
  const over = new AbortController();
  // Nobody reads any more.
  process.stdout.once("error", () => over.abort());
  for await (const line of followLines(file, at, over.signal, () => rest(lookAgainMs, over.signal))) say(line);
  return 0;
}

/** What is none of our lines, such as half a line that a death left, is shown as it is. */
function pretty(line: string, colour: boolean): string {
  const record = readJsonLine(line);
  return record === null ? plainText(line) : prettyLine(record, colour);
}

function asJson(line: string): string {
  return readJsonLine(line) === null ? JSON.stringify({ text: line }) : line;
}
