// What a command line wants that its sandbox does not have: hosts, folders outside, credentials, or to run outside
// altogether. A hint for the question that a user is asked, never a wall: what is missed here fails in the sandbox. Pure.

import { posix } from "node:path";
import type { CredentialGrant, PathGrant } from "../../core/grant.ts";
import { type NeededHost, destinationOf, destinationsOf, unique } from "./destinations.ts";
import { type SimpleCommand, readCommands, unknown } from "./shell.ts";

/** A path as it was typed, made absolute. */
export type PathNeed = PathGrant & {
  /** It is itself removed or renamed, so its folder must be writable. */
  readonly isMoved: boolean;
};

/** What git is to reach: an address, or the name of a remote that only the repository knows. */
export type GitNeed = {
  readonly verb: "push" | "fetch";
  /** Null for the usual one. */
  readonly remote: string | null;
  /** Where the repository is; absolute. */
  readonly folder: string;
};

export type Needs = {
  readonly hosts: readonly string[];
  readonly paths: readonly PathNeed[];
  readonly credentials: readonly CredentialGrant[];
  readonly git: readonly GitNeed[];
  /** Programs that cannot work in a sandbox. */
  readonly outside: readonly string[];
  /** What it deletes, as typed. */
  readonly deletes: readonly string[];
  /** It sends commits or packages to others. */
  readonly publishes: boolean;
};

export type NeedsPlaces = {
  readonly workspace: string;
  readonly cwd: string;
  readonly userHome: string | null;
};

/** They need the rights or the services of the machine itself. */
const outsiders = new Set(
  "sudo doas su pkexec docker docker-compose podman nerdctl systemctl service journalctl loginctl mount umount reboot shutdown poweroff halt iptables nft ufw firewall-cmd modprobe insmod useradd usermod userdel groupadd passwd visudo apt apt-get aptitude dnf yum pacman zypper apk snap flatpak brew launchctl at".split(
    " ",
  ),
);

const shells = /^(?:ba|z|k|da|a)?sh$/;
const wrappers = new Set(
  "env nohup nice ionice timeout time stdbuf setsid exec command builtin xargs unbuffer busybox toybox".split(" "),
);

export function needsOf(line: string, places: NeedsPlaces): Needs {
  const found = new Gathering(places);
  found.line(line, 0);
  return found.result();
}

class Gathering {
  readonly #places: NeedsPlaces;
  #cwd: string;
  readonly #hosts: NeededHost[] = [];
  readonly #paths: PathNeed[] = [];
  readonly #git: GitNeed[] = [];
  readonly #outside = new Set<string>();
  readonly #deletes = new Set<string>();
  readonly #credentials: CredentialGrant[] = [];
  #publishes = false;

  constructor(places: NeedsPlaces) {
    this.#places = places;
    this.#cwd = places.cwd;
  }

  line(text: string, depth: number): void {
    for (const one of readCommands(text, depth)) this.#command(one, depth);
  }

  result(): Needs {
    const hosts = unique(this.#hosts).map(({ host }) => host);
    const paths = [...new Map(this.#paths.map((one) => [JSON.stringify(one), one])).values()];
    return {
      hosts,
      paths,
      credentials: this.#credentials,
      git: this.#git,
      outside: [...this.#outside],
      deletes: [...this.#deletes],
      publishes: this.#publishes,
    };
  }

  #command({ words, outputs }: SimpleCommand, depth: number): void {
    for (const target of outputs) this.#path(target, "write");
    const [program = "", ...args] = unwrapped(words);
    const name = posix.basename(program);
    if (outsiders.has(name)) this.#outside.add(name);
    if ((shells.test(name) && /^-\w*c$/.test(args[0] ?? "")) || name === "eval") {
      const text = name === "eval" ? args.join(" ") : (args[1] ?? "");
      return this.line(text, depth + 1);
    }
    if (name === "cd" && args[0] !== undefined && !args[0].includes(unknown))
      this.#cwd = this.#absolute(args[0]) ?? this.#cwd;
    if (name === "git") this.#gitCommand(args);
    else this.#reach(destinationsOf([name, ...args]));
    if (/^(?:npm|pnpm|yarn|cargo|gem|poetry)$/.test(name) && args.includes("publish")) this.#publishes = true;
    this.#files(name, args);
  }

  #reach(found: readonly NeededHost[]): void {
    this.#hosts.push(...found);
    for (const { host, isSsh } of found) if (isSsh) this.#credential("ssh-agent", host);
  }

  #credential(kind: CredentialGrant["kind"], destination: string): void {
    const host = destination.replace(/:\d+$/, "");
    if (!this.#credentials.some((one) => one.kind === kind && one.host === host))
      this.#credentials.push({ kind, host });
  }

  #gitCommand(args: readonly string[]): void {
    const at = args.findIndex(
      (word, i) => !word.startsWith("-") && !/^(?:-C|-c|--git-dir|--work-tree)$/.test(args[i - 1] ?? ""),
    );
    const folderAt = args.indexOf("-C");
    const folder = folderAt >= 0 && folderAt < at ? (this.#absolute(args[folderAt + 1] ?? "") ?? this.#cwd) : this.#cwd;
    const [verb = "", ...rest] = args.slice(Math.max(0, at));
    const plain = rest.filter((word) => !word.startsWith("-"));
    if (verb === "clone" || verb === "ls-remote") {
      this.#reach(unique(rest.flatMap((word) => destinationOf(word) ?? [])));
      if (verb === "clone" && /^[/~]/.test(plain[0] ?? "")) this.#path(plain[0] ?? "", "read");
    }
    if (verb === "clean" && rest.some((word) => /^-\w*f|^--force$/.test(word)))
      this.#deletes.add("files that git does not track");
    const isRemote =
      /^(?:fetch|pull|push)$/.test(verb) ||
      (/^(?:submodule|remote)$/.test(verb) && /^(?:update|add)$/.test(plain[0] ?? ""));
    if (!isRemote || (verb === "remote" && plain[0] === "add")) return;
    this.#publishes ||= verb === "push";
    const named = /^(?:submodule|remote)$/.test(verb) ? null : (plain[0] ?? null);
    const direct = named === null ? null : destinationOf(named);
    if (direct === null) this.#git.push({ verb: verb === "push" ? "push" : "fetch", remote: named, folder });
    else {
      this.#reach([direct]);
      if (verb === "push" && !direct.isSsh) this.#credential("git-credential", direct.host);
    }
  }

  /** Words that name something outside of the workspace. */
  #files(name: string, args: readonly string[]): void {
    const isRemoval = removers.test(name);
    const removesFound = name === "find" && findRemoves(args);
    this.#removals([name, ...args]);
    if (silent.has(name) || outsiders.has(name)) return;
    const startsMax = args.findIndex((word) => /^[-(!]/.test(word));
    for (const [at, word] of args.entries()) {
      const value = word.replace(/^--?[\w-]+=/, "").replace(/^(?:of|if)=/, "");
      const isLast = at === args.length - 1;
      const isWritten =
        writers.test(name) ||
        (removesFound && at < startsMax) ||
        (/^(?:cp|install|rsync|scp)$/.test(name) && isLast) ||
        /^(?:-C|-o|-O|-d|--output|--directory|--target-directory)$/.test(args[at - 1] ?? "") ||
        word.startsWith("of=") ||
        (/^(?:sed|perl)$/.test(name) && args.some((one) => /^-\w*i/.test(one)));
      const isMoved = isRemoval || (name === "mv" && !isLast) || (name === "sed" && isWritten);
      this.#path(value, isWritten ? "write" : "read", isMoved);
    }
  }

  /** What it deletes, also where it runs with the rights of another user. */
  #removals(words: readonly string[], depth = 0): void {
    const [program = "", ...args] = unwrapped(words);
    const name = posix.basename(program);
    const operands = args.filter((word) => !word.startsWith("-"));
    if (elevators.has(name) && depth < 4) this.#removals(elevated(args), depth + 1);
    else if (depth > 0 && shells.test(name) && /^-\w*c$/.test(args[0] ?? "")) {
      for (const one of readCommands(args[1] ?? "", depth)) this.#removals(one.words, depth + 1);
    } else if (removers.test(name)) {
      for (const one of operands) this.#deletes.add(this.#removed(one));
      if (operands.length === 0) this.#deletes.add("the files it is given");
    } else if (name === "find" && findRemoves(args))
      this.#deletes.add(`what it finds in ${this.#removed(operands[0] ?? ".")}`);
    else if (name === "rsync" && args.some((word) => /^--del(?:ete|$)/.test(word)))
      this.#deletes.add(`what the source lacks in ${this.#removed(operands.at(-1) ?? ".")}`);
  }

  /** As typed, unless that would hide that it is outside of the workspace. */
  #removed(typed: string): string {
    const path = /^[/~$]/.test(typed) ? null : this.#absolute(typed);
    return path === null || isVisible(path, "write", this.#places.workspace) ? shown(typed) : path;
  }

  #path(typed: string, access: PathGrant["access"], isMoved = false): void {
    const path = this.#absolute(typed);
    if (path === null || isVisible(path, access, this.#places.workspace)) return;
    this.#paths.push({ path, access, isMoved });
  }

  /** Null for what is no path that can be known. */
  #absolute(typed: string): string | null {
    if (typed === "" || typed.includes(unknown) || typed.startsWith("-") || typed.length > 4_096) return null;
    const { userHome } = this.#places;
    const text = typed.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/, userHome ?? unknown);
    if (text.includes(unknown) || /[$\n]|^~|:\/\//.test(text)) return null;
    // A pattern is looked for in its folder.
    const [fixed = ""] = /^[^*?[{]*/.exec(text) ?? [];
    const whole = fixed === text ? text : fixed.slice(0, fixed.lastIndexOf("/") + 1);
    return posix.resolve(this.#cwd, whole);
  }
}

const removers = /^(?:rm|rmdir|unlink|shred|srm|trash)$/;
const elevators = new Set(["sudo", "doas", "pkexec"]);

/** The command that sudo and its like run: theirs are the options before it, some with a value. */
function elevated(args: readonly string[]): readonly string[] {
  const at = args.findIndex(
    (word, i) => !/^-|^[A-Za-z_]\w*=/.test(word) && !/^-[ugphCrtUDRT]$/.test(args[i - 1] ?? ""),
  );
  return at === -1 ? [] : args.slice(at);
}

/** By itself, or by a program that it starts for what it finds. */
function findRemoves(args: readonly string[]): boolean {
  return args.some(
    (word, i) =>
      word === "-delete" || (/^-(?:exec|ok)(?:dir)?$/.test(word) && removers.test(posix.basename(args[i + 1] ?? ""))),
  );
}

/** Their words are not opened. */
const silent = new Set("echo printf cd export set test [ [[ true false which type alias curl wget git ssh".split(" "));
const writers = /^(?:rm|rmdir|unlink|shred|mv|mkdir|touch|tee|chmod|chown|chgrp|ln|truncate|dd|mkfifo|trash)$/;

/** Not the folders that every sandbox has. */
const base = /^\/(?:usr|s?bin|lib\d*|libx?\d+|opt|etc|nix|System|Library)(?:\/|$)/;
const own = /^\/(?:tmp|dev|proc|sys|run|var\/tmp|private\/tmp)(?:\/|$)|^\/$/;

/** Whether every sandbox has it, as its own or as the machine's. */
export function isVisible(path: string, access: PathGrant["access"], workspace: string): boolean {
  if (path === workspace || path.startsWith(`${workspace}/`) || own.test(path)) return true;
  return access === "read" && base.test(path);
}

/** What another program is started by is left out. */
function unwrapped(words: readonly string[], depth = 0): readonly string[] {
  const [program = "", ...args] = words;
  const name = posix.basename(program);
  if (!wrappers.has(name) || depth > 4) return words;
  let at = 0;
  while (at < args.length) {
    const word = args[at] ?? "";
    if (/^-[ukCSngsIPnL]$/.test(word)) at += 2;
    else if (word.startsWith("-") || /^[A-Za-z_]\w*=/.test(word)) at += 1;
    else break;
  }
  const rest = args.slice(name === "timeout" ? at + 1 : at);
  return rest.length === 0 ? words : unwrapped(rest, depth + 1);
}

const shown = (word: string): string => word.replaceAll(unknown, "…");
