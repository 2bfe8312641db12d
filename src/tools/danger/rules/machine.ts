// Programs that speak for somebody else, end processes, or change the machine itself. Pure.

import { type Judgement, dangerous, forbidden, plain, worst } from "../judgement.ts";
import { type Call, type Look, type Rule, type Rules, pathsOf, writes } from "../look.ts";
import { isInside } from "../paths.ts";
import { readOptions } from "../shell/options.ts";

const always =
  (why: string): Rule =>
  () =>
    dangerous(why);
const never =
  (why: string): Rule =>
  () =>
    forbidden(why);

/** Whatever it runs is judged too: what is forbidden stays forbidden with more rights. */
function asOther(valued: string): Rule {
  return ({ name, args, input }, look) => {
    const { operands, values } = readOptions(optionsFirst(args, valued), valued);
    const scripts = values("c", "command").map((text) => look.script(text));
    const words = operands.filter((word, at) => at > 0 || !/^[A-Za-z_]\w*=/.test(word));
    const inner = name === "su" ? plain : look.run(words, input);
    return worst([dangerous(`it acts with the rights of somebody else (${name})`), inner, ...scripts]);
  };
}

/** Options end where the command begins; those after it are its own. */
export function optionsFirst(args: readonly string[], valued: string): readonly string[] {
  const takesNext = new Set(valued.split(" "));
  let at = 0;
  while (at < args.length && /^-./.test(args[at] ?? "") && args[at] !== "--") {
    const name = (args[at] ?? "").replace(/^--?/, "");
    const takes = takesNext.has(name) || (!(args[at] ?? "").startsWith("--") && takesNext.has(name.slice(-1)));
    at += takes && !name.includes("=") ? 2 : 1;
  }
  if (args[at] === "--") return args;
  return [...args.slice(0, at), "--", ...args.slice(at)];
}

const ours = /everturn|^node$|^\.?\*$/i;

function kill({ name, args }: Call, look: Look): Judgement {
  if (args.length === 0 || args.some((arg) => /^-{1,2}(?:l|L|list|table)$/.test(arg))) return plain;
  const targets = args.filter((arg, at) => !/^-(?:[A-Z]+|\d+$)/.test(arg) || at > 0);
  // The shell's own.
  if (targets.every((target) => /^%\d*$/.test(target))) return plain;
  const { pid } = look.places;
  if (name === "kill" && targets.some((target) => target === "-1" || target === "1"))
    return forbidden("it would end every process of this user");
  if (pid !== undefined && targets.some((target) => Math.abs(Number(target)) === pid))
    return forbidden("it would end the gateway");
  if (name !== "kill" && targets.some((target) => ours.test(target))) return dangerous("it may end the gateway itself");
  // What is not written out is most likely what the command itself has started: `kill $!`.
  const isOwn = name === "kill" && !targets.some((target) => /^-?\d+$/.test(target));
  return dangerous("it ends processes", isOwn ? undefined : "outside");
}

function systemctl({ name, args }: Call): Judgement {
  const { operands } = readOptions(args, "H host M machine t type n lines o output");
  const [verb = "status"] = operands;
  if (/^(?:poweroff|reboot|halt|kexec|suspend|hibernate|hybrid-sleep|rescue|emergency|soft-reboot|exit)$/.test(verb))
    return forbidden("it would shut down the machine");
  const isQuestion = /^(?:status|show|cat|list-.*|is-.*|get-.*|help|print|list|blame|info)$/.test(verb);
  return isQuestion ? plain : dangerous(`it changes what the machine runs (${name} ${verb})`);
}

function containers({ name, args }: Call, look: Look): Judgement {
  const { operands } = readOptions(args, "H host context l log-level f file p project-name");
  const [verb = "", second = ""] = operands;
  const isQuestion = /^(?:ps|images|logs|inspect|version|info|stats|top|port|diff|search|history|events|ls|config)$/;
  if (
    verb === "" ||
    isQuestion.test(verb) ||
    (/^(?:container|image|network|volume|compose|system)$/.test(verb) &&
      /^(?:ls|ps|list|inspect|logs|df|config)$/.test(second))
  )
    return plain;
  if (/^(?:run|create|exec)$/.test(verb) || second === "run" || second === "exec") {
    const at = args.findIndex((arg) => /^(?:run|create|exec)$/.test(arg));
    // What the container is called stands among its first words.
    const words = args.slice(at + 1, at + 65).filter((word) => !word.startsWith("-"));
    const inner = worst(words.map((_, from) => (from === 0 ? plain : look.run(words.slice(from)))));
    const isRoot = args.some((arg) =>
      /^(?:-v|--volume|--mount|--privileged|--cap-add|--device|--pid|--network|--net|--userns|--security-opt)/.test(
        arg,
      ),
    );
    const why = isRoot
      ? `it starts a container with a hold on this machine (${name})`
      : `it starts a container (${name} ${verb})`;
    return worst([dangerous(why), inner.level === "forbidden" ? plain : inner]);
  }
  return dangerous(`it changes containers (${name} ${verb})`);
}

function everturn({ args }: Call): Judgement {
  const [first = "", second = ""] = readOptions(args).operands;
  if (first === "gateway" && /^(?:stop|restart|uninstall|install|run|start|reset)$/.test(second))
    return dangerous(`it would ${second} the gateway that this conversation runs in`);
  const isQuestion =
    /^(?:|help|version|status|doctor|logs)$/.test(first) || (first === "gateway" && /^(?:|status)$/.test(second));
  return isQuestion ? plain : dangerous("it commands the gateway that this conversation runs in");
}

/** On a device nothing is left; in a file of ours it is only a file. */
function formats({ name, args }: Call, look: Look): Judgement {
  const { operands } = readOptions(args, "t L U b N m l i I type");
  const paths = operands.flatMap((operand) => pathsOf(operand, look) ?? ["/dev/unknown"]);
  const isDevice = paths.some((path) => isInside(path, "/dev"));
  return isDevice
    ? forbidden(`it would erase a disk (${name})`)
    : worst([dangerous(`it formats ${operands.join(" ")}`), ...operands.map((one) => writes(one, look))]);
}

function init({ args }: Call): Judgement {
  return args.some((arg) => /^[06sS]$/.test(arg))
    ? forbidden("it would shut down the machine")
    : dangerous("it commands the machine");
}

const crontab: Rule = ({ args }) =>
  args.length === 1 && args[0] === "-l" ? plain : dangerous("it changes what runs by itself later");
const shutsDown = never("it would shut down the machine");
const disk = always("it changes disks and what is mounted");
const accounts = always("it changes who may use this machine");
const later = always("it has something run later, when nobody looks");
const guards = always("it changes what guards this machine");

export const machineRules: Rules = {
  sudo: asOther("u g h p C r t T U user group host prompt"),
  doas: asOther("u C"),
  pkexec: asOther("user"),
  su: asOther("c s g G command shell group"),
  runuser: asOther("u c s g G command shell group user"),
  gosu: asOther(""),
  chroot: asOther("userspec groups"),
  unshare: asOther("S G"),
  nsenter: asOther("t S G"),
  kill,
  pkill: kill,
  killall: kill,
  killall5: never("it would end every process"),
  xkill: kill,
  systemctl,
  loginctl: systemctl,
  launchctl: systemctl,
  service: ({ args }) => (args[1] === "status" ? plain : dangerous("it changes what the machine runs")),
  "rc-service": ({ args }) => (args[1] === "status" ? plain : dangerous("it changes what the machine runs")),
  shutdown: ({ args }) => (args[0] === "-c" ? plain : forbidden("it would shut down the machine")),
  reboot: shutsDown,
  halt: shutsDown,
  poweroff: shutsDown,
  init,
  telinit: init,
  mkfs: formats,
  mkswap: formats,
  wipefs: formats,
  blkdiscard: formats,
  fdisk: ({ name, args, input }, look) => (args.includes("-l") ? plain : formats({ name, args, input }, look)),
  sfdisk: formats,
  gdisk: formats,
  sgdisk: formats,
  parted: ({ name, args, input }, look) => (args.includes("-l") ? plain : formats({ name, args, input }, look)),
  badblocks: formats,
  cryptsetup: disk,
  mdadm: disk,
  lvremove: disk,
  vgremove: disk,
  diskutil: disk,
  hdparm: disk,
  mount: ({ args }) => (args.length === 0 ? plain : dangerous("it changes disks and what is mounted")),
  umount: disk,
  losetup: disk,
  swapoff: disk,
  crontab,
  at: later,
  batch: later,
  "systemd-run": later,
  useradd: accounts,
  userdel: accounts,
  usermod: accounts,
  groupadd: accounts,
  groupdel: accounts,
  adduser: accounts,
  deluser: accounts,
  passwd: accounts,
  chpasswd: accounts,
  visudo: accounts,
  chsh: accounts,
  iptables: guards,
  ip6tables: guards,
  nft: guards,
  ufw: guards,
  "firewall-cmd": guards,
  setenforce: guards,
  setcap: guards,
  sysctl: ({ args }) =>
    args.some((arg) => /^-(?:w|p|-write|-load)|=/.test(arg)) ? dangerous("it changes the kernel's settings") : plain,
  modprobe: guards,
  insmod: guards,
  rmmod: guards,
  docker: containers,
  podman: containers,
  nerdctl: containers,
  "docker-compose": containers,
  kubectl: ({ args }) =>
    /^(?:get|describe|logs|version|explain|top)$/.test(args[0] ?? "") && !args.some((arg) => /^secrets?$/.test(arg))
      ? plain
      : dangerous("it changes or reads a cluster"),
  helm: always("it changes a cluster"),
  terraform: ({ args }) =>
    /^(?:fmt|validate|version|plan)$/.test(args[0] ?? "") ? plain : dangerous("it changes machines elsewhere"),
  everturn,
};
