// The help of the program, of a group and of a command, made from the table. Pure.

import { type Command, type Option, everywhere } from "./options.ts";
import { commands, usual } from "./table.ts";

const title = "everturn: a gateway between chats and AI agents that never loses a turn";

export function helpText(words: readonly string[]): string {
  const command = commands.find((one) => one.words.join(" ") === words.join(" "));
  if (command !== undefined) return commandHelp(command);
  const chosen = words.length === 0 ? commands : commands.filter((one) => one.words[0] === words[0]);
  const [group = ""] = words;
  const heading =
    words.length === 0 ? [title, "", "Usage: everturn <command> [options]", ""] : [...groupUsage(group), ""];
  return [
    ...heading,
    "Commands:",
    ...columns(chosen.map((one) => [usageOf(one), one.summary])),
    "",
    "Options for every command:",
    ...optionLines(everywhere),
    ...(words.length === 0 ? ["  --version", "", "Help for one of them: everturn <command> --help"] : []),
  ].join("\n");
}

/** A group alone means one of its commands, or nothing. */
function groupUsage(group: string): readonly string[] {
  const meant = usual[group];
  if (meant === undefined) return [`Usage: everturn ${group} <command> [options]`];
  return [`Usage: everturn ${group} [command] [options]`, `       everturn ${group} means everturn ${group} ${meant}.`];
}

function commandHelp(command: Command): string {
  const own = Object.keys(command.options).length > 0;
  const [first = "", second] = command.words;
  const short = second !== undefined && usual[first] === second ? [`       everturn ${first} means the same.`] : [];
  return [
    `Usage: everturn ${usageOf(command)}${own ? " [options]" : ""}`,
    ...short,
    "",
    `${command.summary[0]?.toUpperCase()}${command.summary.slice(1)}.`,
    "",
    "Options:",
    ...optionLines({ ...command.options, ...everywhere }),
  ].join("\n");
}

function usageOf(command: Command): string {
  return [...command.words, ...command.takes.map((name) => (name.startsWith("[") ? name : `<${name}>`))].join(" ");
}

function optionLines(options: Readonly<Record<string, Option>>): readonly string[] {
  return columns(
    Object.entries(options).map(([name, { value, short, summary }]) => [
      `--${name}${value === undefined ? "" : ` <${value}>`}${short === undefined ? "" : `, -${short}`}`,
      summary,
    ]),
  );
}

function columns(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
