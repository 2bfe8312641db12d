// The commands that run without a question where there is no sandbox: they tell about this machine and the workspace, open
// no file that they are given, run no other program and change nothing. Every option is named; any other one asks. Pure.

import { readExact } from "./shell.ts";

type Allowed = {
  /** Options that stand alone. */
  readonly options?: RegExp;
  /** Options with a value behind them, or joined to them. */
  readonly valued?: RegExp;
  /** What may stand there beside options; none by default. */
  readonly operands?: RegExp;
  readonly operandsMax?: number;
};

const count = /^\d{1,6}$/;

/** What a line may begin with. */
const sources: Readonly<Record<string, Allowed>> = {
  pwd: { options: /^-[LP]$/ },
  date: { options: /^(?:-u|--utc|-R|-I|-I(?:date|hours|minutes|seconds)|\+[^\0]*)$/ },
  whoami: {},
  id: { options: /^-[unGgr]{1,3}$/ },
  uname: { options: /^-[asnrvmpio]+$/ },
  uptime: { options: /^-[ps]$/ },
  arch: {},
  nproc: {},
  hostname: {},
  df: { options: /^-[hHkTi]+$/ },
  free: { options: /^-[hmgkw]+$/ },
  ls: { options: /^-[laAhtrSF1]+$/ },
};

/** What may follow behind a pipe. They have no files to read, so they read the pipe. */
const filters: Readonly<Record<string, Allowed>> = {
  cat: {},
  wc: { options: /^-[lwcm]+$/ },
  sort: { options: /^-[rnuhf]+$/ },
  uniq: { options: /^-[cdu]+$/ },
  head: { options: /^-\d{1,6}$/, valued: /^-n$/ },
  tail: { options: /^-\d{1,6}$/, valued: /^-n$/ },
  grep: { options: /^-[ivcnEFw]+$/, operands: /^[^-\0][^\0]*$/, operandsMax: 1 },
};

export function isReadOnly(line: string): boolean {
  const commands = readExact(line);
  if (commands === null || commands.length === 0) return false;
  return commands.every(([program = "", ...words], at) => {
    const table = at === 0 ? sources : filters;
    const allowed = Object.hasOwn(table, program) ? table[program] : undefined;
    return allowed !== undefined && areAllowed(words, allowed);
  });
}

function areAllowed(words: readonly string[], { options, valued, operands, operandsMax = 0 }: Allowed): boolean {
  let taken = 0;
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    if (valued?.test(word) === true) {
      if (!count.test(words[++at] ?? "")) return false;
    } else if (options?.test(word) === true) continue;
    else if (operands?.test(word) !== true || ++taken > operandsMax) return false;
  }
  return true;
}
