// Which programs plainly reach for the network, by their names and their first words. Where it is there, most of them are
// nothing to ask about; where it is missing they fail, so it is asked for. Code that reaches for it by itself is not seen. Pure.

import { type Judgement, dangerous, plain } from "../judgement.ts";
import type { Look } from "../look.ts";
import { readOptions } from "../shell/options.ts";
import { curlValued, wgetValued } from "./network.ts";

type Reaches = (args: readonly string[]) => boolean;

/** `-h` and `-V` mean other things to some, so each says which ones only tell about it. */
const onlyTells = (args: readonly string[], short = "hV"): boolean =>
  args.some((arg) => arg === "--help" || arg === "--version" || (/^-\w$/.test(arg) && short.includes(arg.slice(1))));

const isFile = (address: string): boolean => /^file:/i.test(address);

const curl: Reaches = (args) => {
  const { operands, values } = readOptions(args, `${curlValued} url`);
  return !onlyTells(args, "hVM") && [...operands, ...values("url")].some((one) => !isFile(one));
};

const wget: Reaches = (args) => {
  const { has, operands } = readOptions(args, wgetValued);
  return !onlyTells(args) && (operands.length > 0 || has("i", "input-file"));
};

/** Anything that is asked for by a name or an address. */
const named: Reaches = (args) => !onlyTells(args) && readOptions(args).operands.length > 0;

/** They show files as well. */
const addressed: Reaches = (args) => args.some((arg) => /^\w+:\/\//.test(arg) && !isFile(arg));

/** One of these verbs, or one with one of those words after it: `mod:download`, `list:-o`. */
function verbs(list: string, valued = ""): Reaches {
  const known = list.split(" ").map((one) => one.split(":"));
  return (args) => {
    const [verb] = readOptions(args, valued).operands;
    return (
      verb !== undefined &&
      !onlyTells(args, "h") &&
      known.some(([name, word]) => name === verb && (word === undefined || args.includes(word)))
    );
  };
}

/** Another machine, or nobody can tell; a name such as `origin` may stand for one. */
const isFar = (place: string): boolean => (/^[^/]*:/.test(place) || place.includes("\0")) && !isFile(place);
const isNear = (place: string): boolean => isFile(place) || /^\.{0,2}\/|^\.{1,2}$/.test(place);

function git(args: readonly string[]): boolean {
  const [verb = ""] = readOptions(args, "C c git-dir work-tree exec-path namespace config-env").operands;
  const rest = args.slice(args.indexOf(verb) + 1);
  if (rest.some((arg) => arg === "--help" || arg === "-h")) return false;
  const { has, operands } = readOptions(rest, "b branch depth o origin c config template u upload-pack j jobs");
  const [first = ""] = operands;
  switch (verb) {
    case "clone":
      return operands.some(isFar);
    case "fetch":
    case "pull":
    case "ls-remote":
    case "fetch-pack":
      return !isNear(first);
    case "submodule":
      return (first === "update" && !has("N", "no-fetch")) || (first === "add" && operands.slice(1).some(isFar));
    case "remote":
      return /^(?:update|prune)$/.test(first) || (first === "show" && operands.length > 1 && !has("n"));
    case "archive":
      return rest.some((arg) => /^--remote(?:=|$)/.test(arg));
    case "lfs":
      return /^(?:fetch|pull|clone|push|locks)$/.test(first);
    default:
      return false;
  }
}

const npmVerbs = "view info show outdated audit search ping whoami doctor";

const reaching: Readonly<Record<string, Reaches>> = {
  curl,
  wget,
  wget2: wget,
  aria2c: wget,
  "yt-dlp": named,
  "youtube-dl": named,
  lynx: addressed,
  w3m: addressed,
  // Without a word it asks for the roots of all names.
  dig: (args) => !onlyTells(args, "hv"),
  drill: named,
  host: named,
  nslookup: named,
  // To it -h is whom it asks.
  whois: (args) => !onlyTells(args, "") && readOptions(args).operands.length > 0,
  ping: named,
  ping6: named,
  traceroute: named,
  tracepath: named,
  mtr: named,
  git,
  hub: git,
  svn: verbs("checkout co update up export log list ls"),
  hg: verbs("clone pull incoming identify"),
  gh: verbs("pr issue run repo release status"),
  glab: verbs("mr issue"),
  kubectl: verbs("get describe logs top explain", "n namespace context kubeconfig"),
  terraform: verbs("plan"),
  npm: verbs(`${npmVerbs} v find s se`, "C prefix w workspace"),
  pnpm: verbs(npmVerbs, "C dir"),
  yarn: verbs(npmVerbs),
  bun: verbs("outdated audit info"),
  pip: verbs("download search index list:-o list:--outdated list:-u list:--uptodate"),
  poetry: verbs("search show:-o show:--outdated show:-l show:--latest"),
  conda: verbs("search"),
  mamba: verbs("search"),
  gem: verbs("search list:-r list:--remote outdated fetch"),
  bundle: verbs("outdated"),
  composer: verbs("outdated search"),
  cargo: verbs("fetch search info update"),
  go: verbs("get mod:download mod:tidy list:-u list:-versions"),
  apt: verbs("update"),
  "apt-get": verbs("update download source"),
  brew: verbs("update search"),
};

/** `name` is the common one of its family. */
export function judgeReach(name: string, args: readonly string[], { places }: Look): Judgement {
  if (places.asksForNetwork !== true || !Object.hasOwn(reaching, name)) return plain;
  return reaching[name]?.(args) === true
    ? dangerous("it needs the network, which the sandbox does not give", "network")
    : plain;
}
