// From what was typed to a command, or to a sentence about what is wrong with it. Pure.

import { parseArgs } from "node:util";
import { nearest } from "../core/route.ts";
import { type Command, type Option, everywhere } from "./options.ts";

export type Typed =
  | {
      readonly type: "run";
      readonly command: Command;
      readonly flags: Readonly<Record<string, string | boolean | undefined>>;
      readonly given: readonly string[];
    }
  | { readonly type: "help"; readonly words: readonly string[] }
  | { readonly type: "version" }
  | { readonly type: "wrong"; readonly message: string; readonly words: readonly string[] };

/** What can be typed: all commands, or all of the group that was named. */
export type Table = {
  readonly commands: readonly Command[];
  /** What a group alone means. */
  readonly usual: Readonly<Record<string, string>>;
};

export function readArguments(argv: readonly string[], table: Table): Typed {
  const { tokens } = parseArgs({
    args: [...argv],
    options: allOptions(table),
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const options = tokens.filter((one) => one.kind === "option");
  const words = tokens.filter((one) => one.kind === "positional").map((one) => one.value);
  const help = options.some((one) => one.name === "help") || words[0] === "help";
  if (words.length === 0 && options.some((one) => one.name === "version" || one.rawName === "-v"))
    return { type: "version" };
  const asked = words[0] === "help" ? words.slice(1) : words;
  if (asked.length === 0) {
    const odd = options.find((one) => !Object.hasOwn(everywhere, one.name));
    const bare = options.find(({ name, value }) => everywhere[name]?.type === "string" && (value ?? "") === "");
    if (odd === undefined && bare !== undefined)
      return wrong(`${bare.rawName} needs a value: ${bare.rawName} <${everywhere[bare.name]?.value}>.`, []);
    return odd === undefined
      ? { type: "help", words: [] }
      : wrong(unknownOption(odd.rawName, Object.keys(everywhere)), []);
  }
  const found = findCommand(asked, help ? "help" : "run", table);
  if (found.type !== "found") return found;
  const { command } = found;
  if (help) return { type: "help", words: command.words };

  const known = { ...command.options, ...everywhere };
  for (const { name, rawName, value } of options) {
    const option = Object.hasOwn(known, name) ? known[name] : undefined;
    if (option === undefined) return wrong(unknownOption(rawName, Object.keys(known)), command.words);
    if (option.type === "string" && (value === undefined || value === ""))
      return wrong(`${rawName} needs a value: ${rawName} <${option.value}>.`, command.words);
    if (option.type === "boolean" && value !== undefined) return wrong(`${rawName} takes no value.`, command.words);
    if (option.counts === true && !/^[1-9]\d{0,8}$/.test(value ?? ""))
      return wrong(`${rawName} takes a whole number from 1 on, not "${value}".`, command.words);
  }
  const amiss = checkGiven(command, found.given);
  if (amiss !== null) return wrong(amiss, command.words);
  const flags = Object.fromEntries(options.map(({ name, value }) => [name, value ?? true]));
  return { type: "run", command, flags, given: found.given };
}

type Found = { readonly type: "found"; readonly command: Command; readonly given: readonly string[] };

function findCommand(words: readonly string[], purpose: "help" | "run", { commands, usual }: Table): Found | Typed {
  const [first = "", second] = words;
  const exact = commands.find((one) => one.words.every((word, i) => word === words[i]));
  if (exact !== undefined) return { type: "found", command: exact, given: words.slice(exact.words.length) };
  const group = commands.filter((one) => one.words[0] === first);
  if (group.length === 0) {
    const name = nearest(first, [...new Set(commands.map((one) => one.words[0] ?? ""))]);
    return wrong(`There is no command \`${first}\`.${suggestion(name)}`, []);
  }
  if (purpose === "help") return { type: "help", words: [first] };
  if (second !== undefined) {
    const name = nearest(
      second,
      group.map((one) => one.words[1] ?? ""),
    );
    return wrong(
      `There is no command \`${first} ${second}\`.${suggestion(name === null ? null : `${first} ${name}`)}`,
      [first],
    );
  }
  const chosen = group.find((one) => one.words[1] === usual[first]);
  if (chosen !== undefined) return { type: "found", command: chosen, given: [] };
  return wrong(`\`${first}\` needs one more word: ${group.map((one) => one.words[1]).join(", ")}.`, [first]);
}

function checkGiven(command: Command, given: readonly string[]): string | null {
  const missing = command.takes[given.length];
  if (missing !== undefined && !missing.startsWith("[")) return `\`${command.words.join(" ")}\` needs <${missing}>.`;
  const more = /\.\.\.\]?$/.test(command.takes.at(-1) ?? "");
  const extra = given[command.takes.length];
  return extra === undefined || more ? null : `\`${command.words.join(" ")}\` does not take "${extra}".`;
}

function unknownOption(rawName: string, known: readonly string[]): string {
  const name = rawName.startsWith("--") ? nearest(rawName.slice(2), known) : null;
  return `There is no option ${rawName} here.${suggestion(name === null ? null : `--${name}`)}`;
}

function suggestion(name: string | null): string {
  return name === null ? "" : ` Did you mean \`${name}\`?`;
}

function wrong(message: string, words: readonly string[]): Typed {
  return { type: "wrong", message, words };
}

type Parsed = { type: Option["type"]; short?: string };

/** All options of all commands: which take a value must be known before the command is. */
function allOptions({ commands }: Table): Record<string, Parsed> {
  const all: Record<string, Parsed> = {};
  const known = [...commands.map((one) => one.options), everywhere].flatMap((one) => Object.entries(one));
  for (const [name, { type, short }] of known) all[name] = short === undefined ? { type } : { type, short };
  return all;
}
