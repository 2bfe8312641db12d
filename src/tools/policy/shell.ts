// Two readers of a command line. `readCommands` finds the programs that a line probably runs: it serves questions and
// hints, and nothing depends on its being right. `readExact` reads a tiny grammar completely, or not at all. Pure.

export type SimpleCommand = {
  /** The program first. A part that only the running shell knows is the character `unknown`. */
  readonly words: readonly string[];
  /** Something else than an empty input is read. */
  readonly isFed: boolean;
  /** Files that its output goes to. */
  readonly outputs: readonly string[];
};

export const unknown = "\0";

const depthMax = 5;
const lengthMax = 100_000;
const keywords = new Set("if then elif else while until do ! { } time coproc".split(" "));

export function readCommands(line: string, depth = 0): readonly SimpleCommand[] {
  if (depth > depthMax || line.length > lengthMax) return [];
  const found: SimpleCommand[] = [];
  const heredocs: string[] = [];
  let [words, outputs, isFed, isPiped]: [string[], string[], boolean, boolean] = [[], [], false, false];
  /** What the next word is for. */
  let role: "word" | "input" | "output" | "heredoc" = "word";
  const end = (isPipe: boolean): void => {
    const first = words.findIndex((word) => !keywords.has(word) && !/^[A-Za-z_]\w*\+?=/.test(word));
    if (first >= 0 || outputs.length > 0)
      found.push({ words: first < 0 ? [] : words.slice(first), isFed: isFed || isPiped, outputs });
    [words, outputs, isFed, isPiped, role] = [[], [], false, isPipe, "word"];
  };
  const take = (word: string): void => {
    if (role === "output") outputs.push(word);
    else if (role === "heredoc") heredocs.push(word);
    else if (role === "word") words.push(word);
    role = "word";
  };
  for (let at = 0; at < line.length; ) {
    const [next = ""] = line[at] ?? "";
    if (next === "\n" && heredocs.length > 0) {
      end(false);
      at = afterHeredocs(line, at + 1, heredocs.splice(0));
    } else if (/[ \t\r]/.test(next)) at++;
    else if (next === "#") at = lineEnd(line, at);
    else if (line.startsWith("\\\n", at)) at += 2;
    else if (/[;&|()\n]/.test(next) && !line.startsWith("&>", at)) {
      const [operator = next] = /^(?:;;?|&&|\|\||\|&|[&|()\n])/.exec(line.slice(at, at + 2)) ?? [];
      end(operator === "|" || operator === "|&");
      at += operator.length;
    } else if (/[<>&]/.test(next) || /^\d+[<>]/.test(line.slice(at, at + 4))) {
      const [operator = next] = /^(?:\d*|&)(?:<<<|<<-?|<>|<&|<|>>|>\||>&|>)/.exec(line.slice(at, at + 8)) ?? [];
      at += operator.length;
      const isInput = operator.includes("<");
      if (isInput) isFed = true;
      role = /<<-?$/.test(operator) && !operator.endsWith("<<<") ? "heredoc" : isInput ? "input" : "output";
      if (line[at] === "(") role = "word";
    } else {
      const { text, to, scripts } = readWord(line, at);
      take(text);
      at = to;
      for (const script of scripts) found.push(...readCommands(script, depth + 1));
    }
  }
  end(false);
  return found;
}

type ReadWord = { readonly text: string; readonly to: number; readonly scripts: readonly string[] };

function readWord(line: string, from: number): ReadWord {
  const scripts: string[] = [];
  let [at, text, isQuoted] = [from, "", false];
  const substitution = (): boolean => {
    const isTick = line[at] === "`";
    if (!isTick && !line.startsWith("$(", at)) return false;
    const close = isTick ? line.indexOf("`", at + 1) : closing(line, at + 1);
    const stop = close < 0 ? line.length : close;
    scripts.push(line.slice(at + (isTick ? 1 : 2), stop));
    text += unknown;
    at = stop + 1;
    return true;
  };
  while (at < line.length) {
    const next = line[at] ?? "";
    if (!isQuoted && /[\s;&|<>()]/.test(next)) break;
    if (substitution()) continue;
    if (next === '"') isQuoted = !isQuoted;
    else if (next === "'" && !isQuoted) {
      const close = line.indexOf("'", at + 1);
      const stop = close < 0 ? line.length : close;
      text += line.slice(at + 1, stop);
      at = stop;
    } else if (next === "\\" && (!isQuoted || /["\\$`\n]/.test(line[at + 1] ?? ""))) text += line[++at] ?? "";
    else text += next;
    at++;
  }
  return { text, to: at, scripts };
}

/** The parenthesis that closes the one at `from`; -1 where there is none. */
function closing(line: string, from: number): number {
  let open = 0;
  for (let at = from; at < line.length; at++) {
    const next = line[at];
    if (next === "'") {
      const close = line.indexOf("'", at + 1);
      if (close < 0) return -1;
      at = close;
    } else if (next === "\\") at++;
    else if (next === "(") open++;
    else if (next === ")" && --open === 0) return at;
  }
  return -1;
}

function lineEnd(line: string, from: number): number {
  const end = line.indexOf("\n", from);
  return end < 0 ? line.length : end;
}

function afterHeredocs(line: string, from: number, delimiters: readonly string[]): number {
  let at = from;
  for (const delimiter of delimiters)
    while (at < line.length) {
      const stop = lineEnd(line, at);
      const isEnd = line.slice(at, stop).replace(/^\t+/, "") === delimiter;
      at = stop + 1;
      if (isEnd) break;
    }
  return Math.min(at, line.length);
}

/** Letters that mean themselves in every shell, and text in quotes in which nothing is expanded. */
const piece = /^(?:[A-Za-z0-9_./:=,+@%-]+|'[^'\n\r\0]*'|"[^"'$`\\!\n\r\0]*")/;

/** The programs of a pipe with their words; null for a line with anything else in it. */
export function readExact(line: string): readonly (readonly string[])[] | null {
  const commands: string[][] = [[]];
  let rest = line.replaceAll(/^ +| +$/g, "");
  while (rest !== "") {
    const command = commands.at(-1) ?? [];
    if (/^ *\|(?!\||&)/.test(rest)) {
      commands.push([]);
      rest = rest.replace(/^ *\| */, "");
      continue;
    }
    rest = rest.replace(/^ +/, "");
    let word: string | null = null;
    for (let found = piece.exec(rest); found !== null; found = piece.exec(rest)) {
      const [text] = found;
      word = (word ?? "") + (/^['"]/.test(text) ? text.slice(1, -1) : text);
      rest = rest.slice(text.length);
    }
    if (word === null) return null;
    command.push(word);
    if (rest !== "" && !/^[ |]/.test(rest)) return null;
  }
  return commands.some((words) => words.length === 0) ? null : commands;
}
