// Which rule judges which program, and which of a program's words are files that it reads. Pure.

import { type Judgement, dangerous, needing, plain, worst } from "../judgement.ts";
import type { Call, Look, Rule, Rules } from "../look.ts";
import { codeRules } from "./code.ts";
import { dataRules } from "./data.ts";
import { fileRules } from "./files.ts";
import { gitRules } from "./git.ts";
import { isHarmless, isSilent, knownRules } from "./known.ts";
import { machineRules } from "./machine.ts";
import { needsOf } from "./needs.ts";
import { networkRules } from "./network.ts";
import { packageRules } from "./packages.ts";
import { judgeReach } from "./reach.ts";
import { wrapperRules } from "./wrappers.ts";

const rules: Rules = {
  ...knownRules,
  ...fileRules,
  ...machineRules,
  ...networkRules,
  ...packageRules,
  ...gitRules,
  ...codeRules,
  ...dataRules,
  ...wrapperRules,
};

/** Programs of many names and versions: mkfs.ext4, python3.12, pip3, g++-13. */
const families: readonly (readonly [RegExp, string])[] = [
  [/^mkfs\..*$/, "mkfs"],
  [/^mke2fs$/, "mkfs"],
  [/^pythonw?[\d.]*$|^pypy[\d.]*$/, "python"],
  [/^pip[\d.]*$|^pipx$/, "pip"],
  [/^(?:perl|ruby|php|lua|luajit|node|Rscript)[\d.-]+$/, ""],
  [/^(?:g|m|n|o)?awk$/, "awk"],
  [/^(?:gcc|g\+\+|clang|clang\+\+)-[\d.]+$/, "cc"],
  [/^(?:ba|z|k|da|a|mk|c|tc|fi|rba)?sh$/, "sh"],
];

/** Some disks do not tell capitals apart: there RM is rm. */
function commonName(name: string): string {
  const small = name.toLowerCase().replace(/\.exe$/, "");
  const family = families.find(([pattern]) => pattern.test(small));
  return family === undefined ? small : family[1] === "" ? small.replace(/[\d.-]+$/, "") : family[1];
}

/** What its rule says; a program without one is known to be harmless, or it is not known. */
export function ruleFor(name: string): Rule {
  const known = commonName(name);
  const rule = Object.hasOwn(rules, known) ? rules[known] : undefined;
  const own = rule ?? (isHarmless(known) ? () => plain : stranger);
  return (call, look) => worst([needing(needsOf(known), own(call, look)), judgeReach(known, call.args, look)]);
}

const stranger: Rule = ({ name }, look) =>
  look.places.isSandboxed === true ? plain : dangerous(`it runs ${name}, which is not known here`);

/** Their words are words, or names that are not opened. */
const readsNothing = new Set(
  "echo printf true false : test [ ls stat file touch tr ps pgrep id uname hostname gh npm pip kubectl systemctl docker mktemp read unset shift wait mkdir rmdir cd pushd popd which type whereis man whatis apropos help basename dirname realpath readlink sleep date cal seq expr let kill export unset alias rm mv chmod chown set declare local typeset readonly trap exit return yes find git tee".split(
    " ",
  ),
);
/** The first word that is no option is what they look for. */
const patternFirst = new Set([
  "grep",
  "egrep",
  "fgrep",
  "zgrep",
  "rg",
  "ag",
  "ack",
  "sed",
  "awk",
  "gawk",
  "mawk",
  "jq",
  "yq",
  "perl",
  "ruby",
]);

/** Options whose next words are no files: how many, what for, by which name. */
const texts: Readonly<Record<string, RegExp>> = {
  head: /^-[nc]$/,
  tail: /^-[nc]$/,
  cut: /^-[dfcb]$/,
  sort: /^-[kt]$/,
  grep: /^-[eABCm]$|^--regexp$/,
  rg: /^-[egtABCm]$|^--(?:regexp|glob)$/,
  sed: /^-e$|^--expression$/,
  awk: /^-[vF]$/,
  jq: /^--(?:arg|argjson)$/,
};

/** Words that may be files that are read: as they are, after a sign or glued to an option. */
export function argumentsOf({ name, args }: Call): readonly string[] {
  const small = commonName(name);
  if (readsNothing.has(small)) return [];
  const isText = texts[small];
  const isAside = (at: number): boolean => {
    const before = (back: number) => isText?.test(args[at - back] ?? "") === true;
    return before(1) || (small === "jq" && before(2));
  };
  const operand = args.findIndex((arg, at) => !arg.startsWith("-") && !isAside(at));
  const isGiven = args.some((arg) => /^-(?:e|f|-regexp|-file|-expression)/.test(arg));
  const isCopy = /^(?:cp|install|rsync|scp|ln)$/.test(small) && !args.some((arg) => /^-t|^--target-dir/.test(arg));
  const target = isCopy ? args.findLastIndex((arg) => !arg.startsWith("-")) : -1;
  const first = patternFirst.has(small) && !isGiven ? operand : -1;
  const used = args.filter((_, at) => at !== first && !isAside(at) && (at !== target || args.length < 2));
  const files = used.flatMap(candidates);
  // How long or of which kind a file is may be told of any.
  return isSilent(small) ? files.filter((file) => !file.includes("\0")) : files;
}

function candidates(arg: string): readonly string[] {
  const found: string[] = [];
  if (arg.startsWith("-")) {
    const glued = /^-[A-Za-z]([~./@].*)$/.exec(arg)?.[1];
    if (glued !== undefined) found.push(glued.replace(/^@/, ""));
  } else found.push(arg.replace(/^@/, ""));
  const value = /=@?(.+)$/.exec(arg)?.[1];
  if (value !== undefined) found.push(value);
  // user@host:path, image:path, /from:/to.
  if (arg.includes(":") && !arg.includes("://")) found.push(...arg.split(":"));
  if (/^file:\/\//i.test(arg)) found.push(arg.replace(/^file:\/\/(?:localhost)?/i, ""));
  return found.filter((one) => one !== "" && one.length < 4_096 && !/\s/.test(one.trim()));
}

const system =
  /^(?:\/usr(?:\/local)?|\/opt\/(?:homebrew|local)|\/snap|\/run\/current-system\/sw|\/nix\/[^/]+.*)?\/s?bin\/[^/]+$/;

/** A program that is named by its path and is none of the system is a script as good as any. */
export function startsFile(word: string, look: Look): Judgement {
  if (!word.includes("/") || system.test(word) || look.places.isSandboxed === true) return plain;
  return dangerous(`it runs ${word}, whose content is not judged`);
}
