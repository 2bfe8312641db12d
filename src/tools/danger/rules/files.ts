// Programs that remove, overwrite, move or copy files. Pure.

import { posix } from "node:path";
import { type Judgement, dangerous, forbidden, plain, worst } from "../judgement.ts";
import {
  type Call,
  type Look,
  type Rules,
  notWrittenOut,
  pathsOf,
  reads,
  readsWhole,
  wholesale,
  within,
  writes,
} from "../look.ts";
import { isInside } from "../paths.ts";
import { isSilent } from "./known.ts";
import { readOptions } from "../shell/options.ts";

const each = (texts: readonly string[], judge: (text: string, look: Look) => Judgement, look: Look): Judgement =>
  worst(texts.map((text) => judge(text, look)));

function rm({ args }: Call, look: Look): Judgement {
  const { has, operands } = readOptions(args);
  if (has("no-preserve-root")) return forbidden("it would delete the root of the file system");
  const isRecursive = has("r", "R", "recursive");
  const wide = each(operands, wholesale, look);
  if (isRecursive)
    return worst([
      wide,
      each(operands, writes, look),
      dangerous(`it deletes ${shown(operands)} with everything inside`),
    ]);
  if (has("f", "force"))
    return worst([wide, each(operands, writes, look), dangerous(`it deletes ${shown(operands)} without asking`)]);
  return worst([wide, each(operands, writes, look), many(operands)]);
}

const many = (operands: readonly string[]): Judgement =>
  operands.some((one) => /[*?]/.test(one)) ? dangerous(`it deletes everything that fits ${shown(operands)}`) : plain;

const shown = (operands: readonly string[]): string =>
  operands.length === 0
    ? "what it is given"
    : operands
        .map((one) => one.replaceAll("\0", "…"))
        .join(" ")
        .slice(0, 200);

function find({ args }: Call, look: Look): Judgement {
  const at = args.findIndex((arg) => /^[-(!]/.test(arg));
  const folders = at < 0 ? args : args.slice(0, at);
  const found: Judgement[] = [];
  for (const [i, arg] of args.entries()) {
    if (arg === "-delete")
      found.push(each(folders.length === 0 ? ["."] : folders, wholesale, look), dangerous("it deletes what it finds"));
    if (/^-f(?:print0?|ls|printf)$/.test(arg)) found.push(writes(args[i + 1] ?? "\0", look));
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(arg)) continue;
    const rest = args.slice(i + 1);
    const end = rest.findIndex((one) => one === ";" || one === "+");
    const command = end < 0 ? rest : rest.slice(0, end);
    // What is found stands for {}: anything below the folders.
    for (const folder of folders.length === 0 ? ["."] : folders) {
      const words = command.map((word) => word.replaceAll("{}", `${folder}/*`));
      found.push(look.run(words), isSilent(words[0] ?? "") ? plain : readsWhole(folder, look));
    }
  }
  return worst(found);
}

/** The last word, or what was named as the target. */
function copies(valued: string, options: { readonly removes?: boolean; readonly links?: boolean } = {}) {
  return ({ args }: Call, look: Look): Judgement => {
    const { operands, values, has } = readOptions(args, valued);
    const named = values("t", "target-directory");
    const target = named[0] ?? operands.at(-1);
    const sources = named.length > 0 ? operands : operands.slice(0, -1);
    const found = target === undefined ? [] : [writes(target, look)];
    // Into a folder it goes by its own name.
    const names = sources
      .map((source) => posix.basename(source))
      .filter((name) => /^\.[\w.-]+$/.test(name) && name !== "..");
    found.push(...names.map((name) => writes(posix.join(target ?? ".", name), look)));
    if (options.removes === true) found.push(each(sources, wholesale, look), each(sources, writes, look));
    else if (options.links === true) found.push(each(sources, leadsOut, look));
    else if (has("r", "R", "recursive", "a", "archive")) found.push(each(sources, readsWhole, look));
    return worst(found);
  };
}

/** A link out of the workspace makes everything behind it look as if it were inside. */
function leadsOut(text: string, look: Look): Judgement {
  const paths = pathsOf(text, look);
  const isOut = paths === null || paths.some((path) => !isInside(path, look.places.workspace));
  return isOut
    ? dangerous(`it makes a link to ${text.replaceAll("\0", "…")}, which is outside of the workspace`)
    : plain;
}

function dd({ args }: Call, look: Look): Judgement {
  const target = args.find((arg) => arg.startsWith("of="))?.slice(3);
  return target === undefined ? plain : worst([writes(target, look), dangerous(`it overwrites ${target}`)]);
}

function tar({ args }: Call, look: Look): Judgement {
  const [first = "", ...rest] = args;
  // The old way: tar xzf file.
  const given = first.startsWith("-") ? args : [`-${first}`, ...rest];
  const { has, values, operands } = readOptions(
    given,
    "f file C directory T files-from X exclude-from exclude I use-compress-program to-command checkpoint-action",
  );
  const found: Judgement[] = values("C", "directory").map((folder) =>
    has("x", "extract", "get") ? writes(folder, look) : plain,
  );
  if (has("x", "extract", "get") && has("P", "absolute-names"))
    found.push(dangerous("it unpacks to wherever the archive says"));
  if (has("c", "create", "r", "append", "u")) {
    found.push(
      ...values("f", "file").map((file) => (file === "-" ? plain : writes(file, look))),
      each(
        operands,
        readsWhole,
        values("C", "directory").reduce((at, folder) => within(folder, at), look),
      ),
      values("T", "files-from").length > 0 ? notWrittenOut(look) : plain,
    );
  }
  for (const program of [
    ...values("I", "use-compress-program", "to-command"),
    ...values("checkpoint-action").map((one) => one.replace(/^exec=/, "")),
  ])
    found.push(look.script(program));
  return worst(found);
}

function sed({ args }: Call, look: Look): Judgement {
  const { has, values, operands } = readOptions(args, "e f expression file l");
  const scripts =
    values("e", "expression").length > 0 || values("f", "file").length > 0
      ? values("e", "expression")
      : operands.slice(0, 1);
  const files = scripts === values("e", "expression") ? operands : operands.slice(1);
  const inPlace = args.some((arg) => /^-[nErszu]*i|^--in-place/.test(arg)) || has("in-place");
  const found = inPlace
    ? [each(values("e", "f", "expression", "file").length > 0 ? operands : files, writes, look)]
    : [];
  for (const script of scripts) {
    if (
      /(?:^|[;{}\d$/\s])e(?:\s|$)|\/[gpIiMm\d]*e[gpIiMm\d]*(?:\s*[;}]|\s*$)/.test(script) &&
      /^s|^\d*e|[;{]\s*\d*[es]/.test(script)
    )
      found.push(sedRuns(script));
    const file = /(?:^|[;{}\d$/])\s*[wW]\s+([^;\n}]+)/.exec(script)?.[1];
    if (file !== undefined) found.push(writes(file.trim(), look));
    for (const [, name = ""] of script.matchAll(/(?:^|[;{}\d$/!])\s*[rR]\s*([^;\n}]+)/g))
      if (/^[~./]/.test(name)) found.push(reads(name.trim(), look));
  }
  if (values("f", "file").length > 0 && look.places.isSandboxed !== true)
    found.push(dangerous("its sed script is in a file, whose content is not judged"));
  return worst(found);
}

function sedRuns(script: string): Judgement {
  const isFlag = /^s(.)(?:\\.|(?!\1).)*\1(?:\\.|(?!\1).)*\1[gpIiMm\d]*e/.test(script);
  const isCommand = /(?:^|[;{}])\s*(?:\d+|\$|\/[^/]*\/)?(?:,(?:\d+|\$))?\s*e(?:\s|$)/.test(script);
  return isFlag || isCommand ? dangerous("its sed script runs commands") : plain;
}

/** Each word that is no option is written. */
function writesEach(valued = "", why?: string) {
  return ({ args }: Call, look: Look): Judgement => {
    const { operands } = readOptions(args, valued);
    return worst([each(operands, writes, look), why === undefined ? plain : dangerous(why)]);
  };
}

/** The first word says how, the others what. */
function changes(what: string) {
  return ({ args }: Call, look: Look): Judgement => {
    const { has, operands } = readOptions(
      args.map((arg) => (/^-[rwxXst]+$/.test(arg) ? arg.slice(1) : arg)),
      "reference from",
    );
    const targets = operands.slice(1);
    const isWide = has("R", "recursive");
    const found = [isWide ? each(targets, wholesale, look) : plain, each(targets, writes, look)];
    if (isWide) found.push(dangerous(`it changes ${what} of whole folders`));
    if (what === "the owner") found.push(dangerous("it changes to whom files belong", "outside"));
    if (what === "the rights" && /(?:^|,)[ugoa]*\+[rwxX]*s|^[2467]\d{3}$/.test(operands[0] ?? ""))
      found.push(dangerous("it lets a program run with the rights of its owner"));
    return worst(found);
  };
}

/** What is unpacked lands where it says, or here. */
function unpacks(target: string) {
  return ({ args }: Call, look: Look): Judgement =>
    worst(
      readOptions(args, target)
        .values(...target.split(" "))
        .map((folder) => writes(folder, look)),
    );
}

export const fileRules: Rules = {
  rm,
  unlink: writesEach(),
  rmdir: writesEach(),
  shred: writesEach("n s iterations size", "it destroys what is in files"),
  srm: writesEach("", "it destroys what is in files"),
  truncate: writesEach("s r size reference", "it cuts files off"),
  fallocate: writesEach("l o length offset", "it fills the disk"),
  find,
  dd,
  tar,
  bsdtar: tar,
  sed,
  gsed: sed,
  cp: copies("t target-directory S suffix"),
  mv: copies("t target-directory S suffix", { removes: true }),
  ln: copies("t target-directory S suffix", { links: true }),
  install: copies("t target-directory m o g S mode owner group suffix"),
  tee: writesEach(),
  touch: writesEach("d r t date reference"),
  mkdir: writesEach("m mode"),
  mkfifo: writesEach("m mode"),
  split: ({ args }, look) => {
    const { has, operands } = readOptions(args, "b l n a C filter");
    return has("filter")
      ? dangerous("it names another program that is to be run (split)")
      : each(operands.slice(1), writes, look);
  },
  chmod: changes("the rights"),
  chown: changes("the owner"),
  chgrp: changes("the owner"),
  chattr: changes("the rights"),
  setfacl: changes("the rights"),
  unzip: unpacks("d"),
  "7z": (call, look) => worst([unpacks("o")(call, look), each(call.args.slice(1), readsWhole, look)]),
  zip: ({ args }, look) => {
    const { has, operands } = readOptions(args, "x i P b t tt unzip-command");
    return worst([
      has("unzip-command") || args.some((arg) => /^-[A-Za-z]*TT/.test(arg))
        ? dangerous("it names another program that is to be run (zip)")
        : plain,
      has("@", "names-stdin") ? notWrittenOut(look) : plain,
      each(operands.slice(0, 1), writes, look),
      each(operands.slice(1), readsWhole, look),
    ]);
  },
  patch: ({ args }, look) => {
    const { operands, values } = readOptions(args, "p i d o r B D F V z directory output reject-file input strip");
    return each(
      [...values("d", "o", "r", "directory", "output", "reject-file"), ...operands.slice(0, 1)],
      writes,
      look,
    );
  },
  sort: ({ args }, look) => {
    const { has, values } = readOptions(args, "o k t S T output key compress-program files0-from");
    if (has("compress-program")) return dangerous("it names another program that is to be run (sort)");
    return worst([each(values("o", "output"), writes, look), has("files0-from") ? notWrittenOut(look) : plain]);
  },
  ed: () => dangerous("it opens an editor, which may run commands and write anywhere"),
  ex: () => dangerous("it opens an editor, which may run commands and write anywhere"),
};
