// Programs that wait for a person at a terminal: there is none, so they would hang, or end with a riddle. They are refused
// before they run, with what to do instead. A table; a program that is not in it meets an empty input and its time limit.

import { type SimpleCommand, readCommands } from "../policy/index.ts";

export type Situation = {
  /** Nobody asks the administrator for a password. */
  readonly isRoot: boolean;
};

/** Why the line cannot be run; null when nothing in it needs a person. */
export function interactiveWhy(line: string, situation: Situation): string | null {
  for (const one of readCommands(line)) {
    const why = refusalOf(one, situation);
    if (why !== null) return why;
  }
  return null;
}

type Rule = {
  readonly names: string;
  /** True when it can do without a person, called like this. */
  readonly fine?: (words: readonly string[], one: SimpleCommand, situation: Situation) => boolean;
  readonly why: string;
};

const has = (words: readonly string[], ...wanted: readonly RegExp[]) =>
  words.some((word) => wanted.some((one) => one.test(word)));
const plainWords = (words: readonly string[]) => words.filter((word) => !word.startsWith("-"));

const rules: readonly Rule[] = [
  {
    names: "vim vi nvim view vimdiff",
    fine: (words) => has(words, /^-(?:[eE]s|es)$/, /^--(?:headless|version|help)$/),
    why: "opens an editor, and nobody can type into it; use edit_file, write_file or sed",
  },
  {
    names: "emacs emacsclient",
    fine: (words) => has(words, /^-?-(?:batch|script|version|eval)$/),
    why: "opens an editor, and nobody can type into it; use edit_file, or emacs --batch",
  },
  {
    names: "nano pico micro joe mcedit visudo vipw",
    why: "opens an editor, and nobody can type into it; use edit_file, write_file or sed",
  },
  { names: "less more most", why: "waits for keys; use cat, head, tail or read_file" },
  { names: "top", fine: (words) => has(words, /^-\w*b/, /^-l/), why: "runs until a key is pressed; use top -b -n 1" },
  {
    names: "htop btop iotop nmon glances atop",
    fine: (words) => has(words, /^-\w*b/, /^--(?:batch|stdout)/),
    why: "runs until a key is pressed; use ps, free, df or top -b -n 1",
  },
  { names: "watch", why: "runs for ever; run the command itself, again if need be" },
  {
    names: "python python2 python3 ipython node irb ghci lua php perl ruby bc gdb lldb",
    fine: (words, { isFed }) => (isFed || words.length > 0) && !has(words, /^-i$/),
    why: "without a script waits for lines that nobody types; give it a script, or code with -c or -e",
  },
  {
    names: "bash sh zsh dash ksh fish",
    fine: (words, { isFed }) => isFed || plainWords(words).length > 0 || has(words, /^--(?:version|help)$/),
    why: "without a script waits for lines that nobody types; write the commands themselves",
  },
  {
    names: "psql",
    fine: (words, { isFed }) => isFed || has(words, /^-\w*[cfl]/, /^--(?:command|file|list|version|help)/),
    why: "waits for lines that nobody types; give the statement with -c",
  },
  {
    names: "mysql mariadb",
    fine: (words, { isFed }) => isFed || has(words, /^-\w*e/, /^--(?:execute|version|help)/),
    why: "waits for lines that nobody types; give the statement with -e",
  },
  {
    names: "sqlite3",
    fine: (words, { isFed }) => isFed || plainWords(words).length > 1 || has(words, /^-?-(?:version|help)$/),
    why: "waits for lines that nobody types; give the statement after the file",
  },
  {
    names: "mongo mongosh redis-cli",
    fine: (words, { isFed }) => isFed || words.length > 0,
    why: "waits for lines that nobody types; give the command as words",
  },
  {
    names: "ssh",
    fine: (words) => has(words, /^-[46AaCfGgKkMNnqsTvXxYy]*[TGV]/, /BatchMode[= ]?yes/i) && isRemoteCommand(words),
    why: "may ask for a password and opens a shell without a command; use ssh -T -o BatchMode=yes HOST COMMAND",
  },
  { names: "sftp", fine: (words) => has(words, /^-b/), why: "waits for commands; use scp -B, or sftp -b FILE" },
  { names: "telnet ftp rlogin", why: "waits for a person at a terminal; use curl or nc with input" },
  {
    names: "sudo doas",
    fine: (words, _one, { isRoot }) => isRoot || has(words, /^-\w*n/, /^--non-interactive$/),
    why: "would ask for a password, and nobody can type one; sudo -n works where none is needed, else tell the user",
  },
  { names: "su", fine: (words, _one, { isRoot }) => isRoot && has(words, /^-\w*c/), why: "asks for a password" },
  { names: "passwd chfn chsh", why: "asks for passwords; that is for the user to do" },
  {
    names: "tmux screen",
    fine: (words) => has(words, /^-\w*d/, /^(?:ls|list-\w+|kill-\w+|send-keys|capture-pane|-ls|-S|-X)$/),
    why: 'needs a terminal; use "background": true for what is to go on',
  },
  { names: "fzf dialog whiptail mc ranger nnn lazygit tig nmtui cfdisk", why: "waits for keys that nobody presses" },
  {
    names: "crontab",
    fine: (words) => !has(words, /^-\w*e/),
    why: "-e opens an editor; use crontab -l and crontab FILE",
  },
  {
    names: "git",
    fine: (words) => !gitAsks(words),
    why: "would open an editor or ask about each change; use the forms without -i and -p, with -m for a message",
  },
  {
    names: "docker podman",
    fine: (words) => !/^(?:run|exec)(?: -\S+)*? -(?:it|ti|t|-tty)(?: |$)/.test(words.join(" ")),
    why: "-t wants a terminal; leave -it out",
  },
];

function gitAsks(words: readonly string[]): boolean {
  const [verb = ""] = plainWords(words);
  if (verb === "rebase") return has(words, /^-i$/, /^--interactive$/);
  return /^(?:add|checkout|restore|reset|stash)$/.test(verb) && has(words, /^-[ip]$/, /^--(?:interactive|patch)$/);
}

/** Options of ssh that take a word of their own. */
const sshTakes = /^-[46AaCfGgKkMNnqsTtVvXxYy]*[BbcDEeFIiJLlmOoPpQRSWw]$/;

function isRemoteCommand(words: readonly string[]): boolean {
  if (has(words, /^-\w*[GVNO]/)) return true;
  const bare = words.filter((word, i) => !word.startsWith("-") && !sshTakes.test(words[i - 1] ?? ""));
  return bare.length > 1;
}

const byName: ReadonlyMap<string, Rule> = new Map(
  rules.flatMap((rule) => rule.names.split(" ").map((name) => [name, rule] as const)),
);

function refusalOf(one: SimpleCommand, situation: Situation): string | null {
  const [program = "", ...words] = one.words;
  const name = program.slice(program.lastIndexOf("/") + 1);
  const rule = byName.get(name);
  if (rule === undefined || rule.fine?.(words, one, situation) === true) return wrapped(name, words, one, situation);
  if (has(words, /^--(?:version|help)$/)) return null;
  return `\`${name}\` ${rule.why}`;
}

/** What another command is started by. */
const carriers = new Set("sudo doas env time nohup nice exec command xargs timeout setsid stdbuf".split(" "));

function wrapped(
  name: string,
  words: readonly string[],
  { isFed }: SimpleCommand,
  situation: Situation,
): string | null {
  if (!carriers.has(name)) return null;
  const at = words.findIndex((word) => byName.has(word.slice(word.lastIndexOf("/") + 1)));
  // A word that only looks like a program, behind others that do not belong to the carrier, is an argument.
  const isPassed = (word: string, i: number) =>
    /^-|=|^[\d.]+[smhd]?$/.test(word) || /^-[ugnsk]$/.test(words[i - 1] ?? "");
  const isNext = at >= 0 && words.slice(0, at).every(isPassed);
  return isNext
    ? refusalOf({ words: words.slice(at), isFed: isFed || name === "xargs", outputs: [] }, situation)
    : null;
}
