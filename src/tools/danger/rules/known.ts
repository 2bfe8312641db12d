// Programs that are known to do nothing worth asking about, whatever their words are: those with words worth a look have
// rules of their own. A program that is in neither is asked for where no sandbox holds it. Pure.

import { type Judgement, dangerous, plain, worst } from "../judgement.ts";
import { type Call, type Look, type Rule, type Rules, notWrittenOut, reads, readsWhole, writes } from "../look.ts";
import { readOptions } from "../shell/options.ts";

const harmless = new Set(
  [
    // Of the shell itself.
    "cd pushd popd dirs pwd echo printf true false : test [ [[ exit return break continue shift unset local typeset",
    "readonly read mapfile readarray getopts let umask ulimit times type jobs wait fg bg help caller",
    // What files say and what they are.
    "ls dir vdir cat tac rev head tail wc cut tr nl paste join comm fold fmt pr expand unexpand column od hexdump hd",
    "strings base32 base64 basenc md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum md5 stat du df",
    "basename dirname realpath readlink pathchk cmp zcat bzcat xzcat zstdcat gzcat zgrep look less more most bat exa eza",
    "numfmt tsort factor seq expr bc jq cloc tokei scc shellcheck yamllint hadolint jsonlint readelf mktemp sync",
    // What the machine is and does.
    "whoami id groups users who w last tty uname arch hostname hostid nproc uptime free vmstat iostat lscpu lsblk lsusb",
    "lspci lsmod lsof ps pgrep pidof pstree top htop which whereis whatis apropos cal ncal sleep usleep uuidgen locale",
    "getconf getfacl lsb_release sw_vers tput clear netstat ss dmesg lsattr",
  ].flatMap((line) => line.split(" ")),
);

/** It says how much or what kind, but not what is in a file. */
const tellsNothing = new Set(
  "wc md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum md5 stat du df ls file test echo printf touch mkdir basename dirname realpath readlink true rm chmod".split(
    " ",
  ),
);

export const isHarmless = (name: string): boolean => harmless.has(name);
/** With names from elsewhere it still does not show what is in files. */
export const isSilent = (name: string): boolean => tellsNothing.has(name);

const each = (texts: readonly string[], judge: (text: string, look: Look) => Judgement, look: Look): Judgement =>
  worst(texts.map((text) => judge(text, look)));

/** Nothing to ask about, except with one of these words. */
function unless(pattern: RegExp, why: string): Rule {
  return ({ name, args }) => (args.some((arg) => pattern.test(arg)) ? dangerous(`${why} (${name})`) : plain);
}

const another = "it names another program that is to be run";

/** Reads its first words and writes the last of `count`, or what an option names. */
function writesLast(count: number, valued: string, outputs: string): Rule {
  return ({ args }, look) => {
    const { operands, values } = readOptions(args, valued);
    const files = [...values(...outputs.split(" ")), ...operands.slice(count - 1, count)];
    return each(
      files.filter((file) => file !== "-"),
      writes,
      look,
    );
  };
}

/** Each file that is named becomes another one. */
const inPlace: Rule = ({ args }, look) =>
  args.some((arg) => /^-\w*c|^--(?:stdout|to-stdout|check|list|test|version|help)$|^-[ltV]+$/.test(arg))
    ? plain
    : each(readOptions(args, "S suffix").operands, writes, look);

function compiler({ name, args }: Call, look: Look): Judgement {
  const chosen = /^-(?:wrapper|B|fplugin|fuse-ld|specs|load|Xclang)|^--specs|^@|^-C?linker|^-Clinker|linker=|processor/;
  return worst([
    args.some((arg) => chosen.test(arg)) ? dangerous(`${another} (${name})`) : plain,
    each(
      readOptions(args, "o d outDir outFile out-dir").values("o", "d", "outDir", "outFile", "out-dir"),
      writes,
      look,
    ),
  ]);
}

/** Searches all that is in folders; without one, in the folder where it is. */
function searches(always: boolean): Rule {
  return ({ args }, look) => {
    const valued = `e f A B C m d regexp file directories max-count include exclude exclude-dir${always ? " g t T j r E M glob iglob type" : ""}`;
    const { has, operands, values } = readOptions(args, valued);
    const pattern = values("e", "f", "regexp", "file").length > 0 || has("files") ? 0 : 1;
    const isWhole = always || args.some((arg) => /^-[A-Za-z]*[rR]|^--(?:dereference-)?recursive$|recurse/.test(arg));
    const folders = operands.slice(pattern);
    const found = isWhole ? each(folders.length === 0 ? ["."] : folders, readsWhole, look) : plain;
    return has("pre", "hostname-bin", "pager") ? worst([dangerous(another), found]) : found;
  };
}

const lists: Rule = ({ args }, look) => each(readOptions(args, "f file d date").values("f", "file"), reads, look);

function diff({ args }: Call, look: Look): Judgement {
  const { has, operands } = readOptions(args, "U C x X I L");
  return has("r", "recursive") ? each(operands, readsWhole, look) : plain;
}

function network({ name, args }: Call): Judgement {
  const words = readOptions(args).operands;
  const isQuestion =
    name === "ifconfig"
      ? words.length < 2
      : words.every((word, at) => at === 0 || /^(?:show|list|ls|get|dev|\w+\d)$/.test(word));
  return isQuestion ? plain : dangerous(`it changes the network of this machine (${name})`);
}

/** What the shell is told about itself. */
const shopt: Rule = unless(
  /^(?:dotglob|extglob|globstar|nocaseglob|nocasematch|expand_aliases|cdable_vars|autocd|lastpipe)$/,
  "it changes what the rest of the command means",
);
const loads: Rule = unless(/^-\w*[fp]|^-n/, "it changes which programs its names mean");

export const knownRules: Rules = {
  xxd: writesLast(2, "c g l o s", ""),
  uniq: writesLast(2, "f s w", ""),
  pdftotext: writesLast(2, "f l r x y W H enc", ""),
  shuf: writesLast(0, "o n i output", "o output"),
  iconv: writesLast(0, "f t o output", "o output"),
  tree: writesLast(0, "L P I o", "o"),
  xmllint: writesLast(0, "output xpath schema", "output"),
  csplit: writesLast(0, "f b n prefix", "f prefix"),
  yq: ({ args }, look) =>
    args.some((arg) => /^-\w*i|^--inplace/.test(arg)) ? each(readOptions(args).operands.slice(1), writes, look) : plain,
  gzip: inPlace,
  gunzip: inPlace,
  bzip2: inPlace,
  bunzip2: inPlace,
  xz: inPlace,
  unxz: inPlace,
  zstd: inPlace,
  unzstd: inPlace,
  gofmt: inPlace,
  rustfmt: inPlace,
  black: inPlace,
  isort: inPlace,
  ruff: inPlace,
  shfmt: inPlace,
  biome: inPlace,
  oxlint: inPlace,
  "clang-format": inPlace,
  cc: compiler,
  gcc: compiler,
  "g++": compiler,
  "c++": compiler,
  clang: compiler,
  "clang++": compiler,
  rustc: compiler,
  javac: compiler,
  tsc: compiler,
  grep: searches(false),
  egrep: searches(false),
  fgrep: searches(false),
  rgrep: searches(true),
  rg: searches(true),
  ag: searches(true),
  ack: searches(true),
  fd: unless(/^-[a-wyzA-WYZ]*[xX]|^--exec/, "it runs a command for all that it finds"),
  fdfind: unless(/^-[a-wyzA-WYZ]*[xX]|^--exec/, "it runs a command for all that it finds"),
  file: lists,
  date: lists,
  diff,
  man: unless(/^-[PHC]|^--(?:pager|html|config)/, another),
  ip: network,
  ifconfig: network,
  shopt,
  hash: loads,
  enable: (call) => (call.args.length === 0 ? plain : dangerous("it changes which programs its names mean (enable)")),
  cpio: (_call, look) => notWrittenOut(look),
};
