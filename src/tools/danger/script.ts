// Which file a command would run: an approval is for that file as it was shown, so its content is part of what is bound.
// Pure: it reads the words, not the disk.

import { posix } from "node:path";
import type { Expansion } from "./shell/expand.ts";
import { expand, unknown } from "./shell/expand.ts";
import { readScript } from "./shell/parse.ts";
import type { Command, Script } from "./shell/script.ts";
import { Unreadable } from "./shell/words.ts";

/** More files than this are not looked at. */
const most = 20;

const wrappers =
  /^(?:env|nohup|nice|ionice|timeout|gtimeout|time|stdbuf|setsid|exec|command|builtin|sudo|doas|caffeinate|unbuffer|xvfb-run)$/;
const interpreters =
  /^(?:(?:ba|z|k|da|a|mk|fi)?sh|python[\d.]*|pypy[\d.]*|node|nodejs|deno|bun|tsx|ts-node|perl|ruby|php|lua|Rscript|source|\.|awk|osascript)$/;
/** A file with such a name is a script to whatever program it is given to. */
const scriptNames = /\.(?:sh|bash|zsh|fish|py|js|mjs|cjs|ts|mts|rb|pl|php|lua|ps1|cmd|bat|awk|sed|sql|mk)$/i;
/** Their words are not opened. */
const talkers = /^(?:echo|printf|ls|git|cd|test|\[|rm|mkdir|touch)$/;
/** What they run is said by a file of the project. */
const projects: readonly (readonly [RegExp, readonly string[]])[] = [
  [/^g?make$/, ["Makefile", "makefile", "GNUmakefile"]],
  [/^(?:npm|pnpm|yarn|bun|npx|bunx)$/, ["package.json"]],
  [/^just$/, ["justfile", "Justfile"]],
  [/^task$/, ["Taskfile.yml"]],
  [/^rake$/, ["Rakefile"]],
  [/^(?:docker-compose)$/, ["docker-compose.yml", "compose.yaml"]],
  [/^cargo$/, ["Cargo.toml", "build.rs"]],
  [/^(?:tox|nox|pytest|poetry|uv)$/, ["pyproject.toml", "tox.ini", "noxfile.py", "conftest.py"]],
  [/^gradle$/, ["build.gradle", "build.gradle.kts"]],
  [/^mvn$/, ["pom.xml"]],
];
/** Options that take the next word: of wrappers, and of interpreters. */
const wrapperValued = /^(?:-[ukCSngso]|--(?:unset|chdir|signal|kill-after|user|group))$/;
const valued = /^(?:-[IMWXrdloO]|--(?:require|import|loader|rcfile|init-file))$/;
/** Options whose word is a file that runs before the other. */
const early = /^(?:-r|--require|--import|--loader|--rcfile|--init-file)$/;

/** Absolute paths, in the order they would run. A file that is not there is the reader's to find out. */
export function scriptsOf(command: string, cwd: string, userHome: string | null = null): readonly string[] {
  try {
    const found = new Set<string>();
    gather(readScript(command), { cwd: posix.normalize(cwd), userHome, found });
    return [...found].slice(0, most);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    return [];
  }
}

/** The first file that a command would run; null when it runs none. */
export function scriptOf(command: string, cwd: string): string | null {
  return scriptsOf(command, cwd)[0] ?? null;
}

type Search = { cwd: string; readonly userHome: string | null; readonly found: Set<string> };

function gather(script: Script, search: Search): void {
  for (const { commands } of script) for (const command of commands) one(command, search);
}

function one(command: Command, search: Search): void {
  if (command.type === "loop") return;
  if (command.type !== "simple") {
    gather(command.body, command.type === "group" && command.apart ? { ...search } : search);
    return;
  }
  const variables = new Map([
    ["PWD", [search.cwd]],
    ...(search.userHome === null ? [] : ([["HOME", [search.userHome]]] as const)),
  ]);
  const expansion: Expansion = { variables, userHome: search.userHome, saidBy: () => null };
  for (const word of command.words)
    for (const part of word) if (part.type === "script") gather(part.script, { ...search });
  const words = command.words.flatMap((word) => expand(word, expansion)?.map(({ text }) => text) ?? [unknown]);
  call(words, search);
}

function call(words: readonly string[], search: Search): void {
  const rest = words.filter((word, at) => at > 0 || !/^[A-Za-z_]\w*=/.test(word));
  if (rest.length < words.length) return call(rest, search);
  const [first = "", ...args] = words;
  const name = first.slice(first.lastIndexOf("/") + 1);
  if (first === "cd" && args[0] !== undefined && !args[0].includes(unknown))
    search.cwd = posix.resolve(search.cwd, args[0]);
  if (first.includes("/") && !/^\/(?:usr\/(?:local\/)?)?s?bin\//.test(first)) add(first, search);
  if (wrappers.test(name)) return call(afterOptions(args, name), search);
  const text =
    /^-[a-z]*c[a-z]*$/.test(args[0] ?? "") && name.endsWith("sh")
      ? args[1]
      : name === "eval"
        ? args.join(" ")
        : undefined;
  if (text !== undefined) return inner(text, search);
  if (interpreters.test(name)) {
    for (const [at, arg] of args.entries()) {
      const file = args[at + 1] ?? "";
      if (early.test(arg) && /^[./]/.test(file)) add(file, search);
    }
    const [file] = afterOptions(args, name);
    if (file !== undefined && file !== "run" && !hasCode(args, name)) add(file, search);
    if (name !== "bun") return others(name, args, search);
  }
  const project = projects.find(([pattern]) => pattern.test(name));
  const folder = folderOf(args);
  for (const file of named(args) ?? project?.[1] ?? [])
    if (project !== undefined) add(posix.join(folder, file), search);
  others(name, args, search);
}

function others(name: string, args: readonly string[], search: Search): void {
  if (talkers.test(name)) return;
  for (const arg of args) if (!arg.startsWith("-") && scriptNames.test(arg)) add(arg, search);
}

function inner(text: string, search: Search): void {
  if (!text.includes(unknown)) gather(readScript(text, 1), search);
}

/** Wrappers have words of their own before the command: variables, and a time. */
function afterOptions(args: readonly string[], name: string): readonly string[] {
  let at = 0;
  while (at < args.length) {
    const arg = args[at] ?? "";
    if ((wrappers.test(name) ? wrapperValued : valued).test(arg)) at += 2;
    else if (arg.startsWith("-") || (/^(?:env|sudo|doas)$/.test(name) && /^[A-Za-z_]\w*=/.test(arg))) at += 1;
    else break;
  }
  return args.slice(/^g?timeout$/.test(name) ? at + 1 : at);
}

/** Where it is given code, no file runs. */
function hasCode(args: readonly string[], name: string): boolean {
  if (name.endsWith("awk")) return !args.includes("-f");
  const option = name.endsWith("sh")
    ? /^-[a-z]*c$/
    : name.startsWith("py")
      ? /^-[a-zA-Z]*[cm]$/
      : /^-(?:[a-z]*[eE]|p|-eval|-print)$/;
  return args.some((arg) => option.test(arg));
}

function folderOf(args: readonly string[]): string {
  const at = args.findIndex((arg) => /^(?:-C|--prefix|--directory|--cwd)$/.test(arg));
  return at < 0 ? "." : (args[at + 1] ?? ".");
}

function named(args: readonly string[]): readonly string[] | null {
  const at = args.findIndex((arg) => /^(?:-f|--file|--makefile)$/.test(arg));
  return at < 0 || args[at + 1] === undefined ? null : [args[at + 1] ?? ""];
}

function add(file: string, { cwd, found }: Search): void {
  if (file === "-" || file.includes(unknown) || file === "") return;
  found.add(posix.resolve(cwd, file));
}
