// Programs that show secrets, and programs that change databases. Pure.

import { type Judgement, dangerous, plain, worst } from "../judgement.ts";
import { type Call, type Look, type Rule, type Rules, writes } from "../look.ts";
import { readOptions } from "../shell/options.ts";

const secretName = /token|key|secret|passw|credential|auth|cookie|session|pwd$/i;

/** Without a word it shows everything there is. */
const printenv: Rule = ({ args }) => {
  const names = readOptions(args).operands;
  if (names.length === 0) return dangerous("it shows all variables of its environment, which may hold secrets");
  return names.some((name) => secretName.test(name) && name !== "PWD")
    ? dangerous(`it shows ${names.join(" ")}, which may be secret`)
    : plain;
};

const shows =
  (why: string): Rule =>
  () =>
    dangerous(why);

/** Statements after which something is gone. */
const destroys =
  /\b(?:drop\s+(?:database|schema|table|index|view|user|role|keyspace|collection|column)|truncate\s+(?:table\s+)?\w|delete\s+from\s+[\w."`]+\s*(?:;|$|limit)|alter\s+(?:user|role|table\s+\S+\s+drop)|grant\s|revoke\s|shutdown|flushall|flushdb|dropdatabase|remove\s*\(\s*\{\s*\}|deletemany\s*\(\s*\{\s*\})/i;
const runs =
  /\bcopy\b[\s\S]*\bprogram\b|\\!|\.(?:shell|system|import|output|once|load)\b|load_extension|xp_cmdshell|into\s+(?:out|dump)file|load_file/i;

function database(valued: string, codes: string): Rule {
  return ({ name, args, input }, look) => {
    const { values, operands, has } = readOptions(args, valued);
    if (has("version", "V")) return plain;
    const said = input.type === "text" ? [input.text] : [];
    const texts = [...values(...codes.split(" ")), ...operands, ...said];
    return worst(
      texts
        .map((text) => statement(name, text))
        .concat(unread(values("f", "file", "init"), input.type === "pipe", look)),
    );
  };
}

function statement(name: string, text: string): Judgement {
  if (destroys.test(text)) return dangerous(`it destroys data (${name})`);
  return runs.test(text) ? dangerous(`it makes the database run or write something (${name})`) : plain;
}

function unread(files: readonly string[], isPiped: boolean, look: Look): readonly Judgement[] {
  if (look.places.isSandboxed === true) return [];
  return files.length > 0 || isPiped ? [dangerous("it runs statements that are not written out")] : [];
}

function gpg({ args }: Call): Judgement {
  const isSecret = args.some((arg) => /^--?(?:export-secret|d$|decrypt|edit-key|delete|gen-key|import|sign)/.test(arg));
  return isSecret ? dangerous("it uses or shows secret keys (gpg)") : plain;
}

function openssl({ args }: Call, look: Look): Judgement {
  const { values } = readOptions(
    args.map((arg) => arg.replace(/^-(?=\w{2})/, "--")),
    "out in inkey key pass keyout",
  );
  const found = values("out", "keyout").map((file) => writes(file, look));
  if (args[0] === "s_client" || args[0] === "s_server")
    found.push(dangerous("it connects to another machine (openssl)"));
  return worst(found);
}

const psql = database("c f d h p U command file dbname host port username v o", "c command");
const keys = shows("it shows stored passwords");

export const dataRules: Rules = {
  printenv,
  // `set -e` sets, `set` alone shows; the same for its relatives.
  set: ({ args }) => (args.length === 0 ? dangerous("it shows all variables, which may hold secrets") : plain),
  export: ({ args }) =>
    args.length === 0 || args[0] === "-p" ? dangerous("it shows all variables, which may hold secrets") : plain,
  declare: ({ args }) =>
    args.length === 0 || args.join("") === "-p" || args.join("") === "-x"
      ? dangerous("it shows all variables, which may hold secrets")
      : plain,
  compgen: ({ args }) =>
    args.some((arg) => /^-(?:v|e)|variable/.test(arg)) ? dangerous("it shows variables of its environment") : plain,
  history: shows("it shows what was typed before, which may hold secrets"),
  fc: shows("it shows or runs what was typed before"),
  security: keys,
  "secret-tool": keys,
  pass: keys,
  op: keys,
  bw: keys,
  lpass: keys,
  vault: keys,
  keyctl: keys,
  "kwallet-query": keys,
  getent: ({ args }) => (/shadow/.test(args[0] ?? "") ? dangerous("it shows password hashes") : plain),
  gpg,
  gpg2: gpg,
  age: ({ args }) =>
    args.some((arg) => /^-(?:d|-decrypt|i)/.test(arg)) ? dangerous("it uses secret keys (age)") : plain,
  openssl,
  "ssh-keygen": ({ args }, look) =>
    args.some((arg) => arg.startsWith("-D"))
      ? dangerous("it names another program that is to be run (ssh-keygen)")
      : worst(
          readOptions(args, "f t b C N m")
            .values("f")
            .map((file) => writes(file, look)),
        ),
  xclip: ({ args }) => (args.some((arg) => arg.startsWith("-o")) ? dangerous("it reads what the user copied") : plain),
  pbpaste: shows("it reads what the user copied"),
  "wl-paste": shows("it reads what the user copied"),
  screencapture: shows("it looks at the screen"),
  scrot: shows("it looks at the screen"),
  import: shows("it looks at the screen"),
  psql,
  mysql: database("e D h P u execute database host port user", "e execute"),
  mariadb: database("e D h P u execute database host port user", "e execute"),
  sqlite3: database("cmd init separator", "cmd"),
  mongosh: database("eval f file host port u", "eval"),
  mongo: database("eval f file host port u", "eval"),
  "redis-cli": ({ args }) =>
    /\b(?:flushall|flushdb|shutdown|config\s+set|eval|debug|slaveof|replicaof|module)\b/i.test(args.join(" "))
      ? dangerous("it destroys data or commands the database (redis-cli)")
      : plain,
  dropdb: shows("it destroys a database"),
  dropuser: shows("it removes a user of a database"),
  mysqladmin: shows("it commands a database"),
  pg_dump: shows("it copies a whole database"),
  mysqldump: shows("it copies a whole database"),
};
