// Programs that run another program that is written after them, and shells that run a text. Pure.

import { type Judgement, dangerous, plain, worst } from "../judgement.ts";
import { type Call, type Input, type Look, type Rule, type Rules, notWrittenOut, reads } from "../look.ts";
import { readOptions } from "../shell/options.ts";
import { runsFile } from "./code.ts";
import { optionsFirst } from "./machine.ts";

/** What follows its options runs; `skip` words of its own come first. */
function passes(valued = "", skip = 0): Rule {
  return ({ args, input }, look) => {
    const { operands } = readOptions(optionsFirst(args, valued), valued);
    return look.run(operands.slice(skip), input);
  };
}

/** Out of its session, or without its name in its environment, a job is not found again when the gateway ends it. */
function mayOutlive(look: Look): Judgement {
  return look.places.isSandboxed === true ? plain : dangerous("it may outlive the gateway");
}

function outlives(): Rule {
  return (call, look) => worst([mayOutlive(look), passes()(call, look)]);
}

const env: Rule = ({ args, input }, look) => {
  const valued = "u C S unset chdir split-string";
  const { operands, values, has } = readOptions(optionsFirst(args, valued), valued);
  const isBare =
    has("i", "ignore-environment") ||
    operands[0] === "-" ||
    values("u", "unset").some((one) => /EVERTURN|\0/.test(one));
  const words = operands.slice(operands.findIndex((word) => word !== "-" && !/^[A-Za-z_]\w*=/.test(word)));
  const split = values("S", "split-string").map((text) => look.script(text));
  const hasCommand = operands.some((word) => !/^[A-Za-z_]\w*=/.test(word));
  if (!hasCommand && split.length === 0)
    return dangerous("it shows all variables of its environment, which may hold secrets");
  const moved = values("C", "chdir").length > 0 ? [notWrittenOut(look)] : [];
  return worst([hasCommand ? look.run(words, input) : plain, ...split, ...moved, isBare ? mayOutlive(look) : plain]);
};

/** A shell: its text, its file, or what it hears. */
function shell({ name, args, input }: Call, look: Look): Judgement {
  const at = args.findIndex((arg) => /^[-+][A-Za-z]*c[A-Za-z]*$/.test(arg));
  const before = at < 0 ? args : args.slice(0, at);
  const file = operandOf(before);
  if (file === null && at >= 0) return shellText(args.slice(at + 1), look);
  if (file !== null) return runsFile(file, look);
  if (args.some((arg) => /^--(?:version|help)$/.test(arg))) return plain;
  return heard(name, input, look);
}

/** The first word that is no option, nor the value of one. */
function operandOf(args: readonly string[]): string | null {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    if (/^[-+]o$|^--(?:rcfile|init-file)$/.test(arg)) at += 1;
    else if (!/^[-+]./.test(arg) && arg !== "-") return arg;
  }
  return null;
}

function shellText(rest: readonly string[], look: Look): Judgement {
  const [text = ""] = rest.filter((arg, i) => i > 0 || !/^-{1,2}[A-Za-z]*$/.test(arg));
  return look.script(text);
}

function heard(name: string, input: Input, look: Look): Judgement {
  if (input.type === "text") return look.script(input.text);
  if (input.type === "none") return dangerous(`it runs what it is told later (${name})`);
  return dangerous(
    input.isDownload ? `it runs what it downloads (… | ${name})` : `it runs what another program says (… | ${name})`,
    input.isDownload ? "network" : undefined,
  );
}

function xargs({ args, input }: Call, look: Look): Judgement {
  const valued = "I i L n P s d E a max-args max-procs replace delimiter arg-file max-lines max-chars";
  const { operands, values } = readOptions(optionsFirst(args, valued), valued);
  if (operands.length === 0) return plain;
  const given = input.type === "text" ? input.text.split(/\s+/).filter((word) => word !== "") : ["\0"];
  const mark = values("I", "replace")[0];
  const words =
    mark === undefined ? [...operands, ...given] : operands.map((word) => word.replaceAll(mark, given[0] ?? ""));
  return look.run(words);
}

const evaluates: Rule = ({ args }, look) => look.here(args.join(" "));

const source: Rule = ({ args }, look) => {
  const [file = ""] = args;
  if (/(?:^|\/)(?:venv|\.venv|env)\/bin\/activate(?:\.\w+)?$/.test(file)) return plain;
  return worst([runsFile(file, look), reads(file, look)]);
};

const trap: Rule = ({ args }, look) =>
  args.length < 2 || args[0] === "-" || args[0] === "" ? plain : look.script(args[0] ?? "");

const alias: Rule = ({ args }, look) =>
  worst(args.map((arg) => (arg.includes("=") ? look.script(arg.slice(arg.indexOf("=") + 1)) : plain)));

const command: Rule = (call, look) => (/^-[vV]+$/.test(call.args[0] ?? "") ? plain : passes("a")(call, look));

const watches: Rule = ({ args }, look) => {
  const valued = "n d interval";
  return worst([
    dangerous("it runs a command again and again"),
    look.script(readOptions(optionsFirst(args, valued), valued).operands.join(" ")),
  ]);
};

/** Takes the whole text after -c, or words. */
const script: Rule = ({ args }, look) => {
  const { values } = readOptions(args, "c command");
  return worst([dangerous("it opens a shell of its own"), ...values("c", "command").map((text) => look.script(text))]);
};

export const wrapperRules: Rules = {
  env,
  nohup: outlives(),
  nice: passes("n adjustment"),
  ionice: passes("c n class classdata"),
  timeout: passes("k s kill-after signal", 1),
  gtimeout: passes("k s kill-after signal", 1),
  time: passes("f o format output"),
  stdbuf: passes("i o e input output error"),
  setsid: outlives(),
  daemonize: outlives(),
  disown: (_call, look) => mayOutlive(look),
  exec: (call, look) => worst([/^-\w*c/.test(call.args[0] ?? "") ? mayOutlive(look) : plain, passes("a")(call, look)]),
  unset: ({ args }, look) => (args.some((arg) => /EVERTURN|\0/.test(arg)) ? mayOutlive(look) : plain),
  builtin: passes(),
  command,
  busybox: passes(),
  toybox: passes(),
  caffeinate: passes("t w"),
  taskset: passes("", 1),
  chrt: passes("", 1),
  numactl: passes("N m C"),
  flock: ({ args, input, name }, look) => {
    const { values } = readOptions(args, "c w E command timeout");
    return worst([
      passes("w E timeout", 1)({ name, args, input }, look),
      ...values("c", "command").map((text) => look.script(text)),
    ]);
  },
  unbuffer: passes(),
  catchsegv: passes(),
  firejail: passes(),
  fakeroot: passes(),
  "dbus-run-session": passes(),
  "xvfb-run": passes("n s"),
  "start-stop-daemon": () => dangerous("it starts something that goes on by itself"),
  xargs,
  parallel: ({ args }, look) =>
    worst([
      dangerous("it runs many commands at once"),
      look.script(args.filter((arg) => !/^-|^:::/.test(arg)).join(" ")),
    ]),
  sh: shell,
  rbash: shell,
  eval: evaluates,
  source,
  ".": source,
  trap,
  alias,
  watch: watches,
  entr: (call, look) => worst([dangerous("it runs a command again and again"), passes()(call, look)]),
  script,
  expect: () => dangerous("it runs a script that answers for the user"),
  screen: () => dangerous("it starts something that goes on by itself"),
  tmux: ({ args }) =>
    /^(?:ls|list-.*|has-session|display-message)$/.test(args[0] ?? "")
      ? plain
      : dangerous("it starts something that goes on by itself"),
};
