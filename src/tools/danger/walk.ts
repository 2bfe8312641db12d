// Goes through a script as it was read and asks the rules about everything that would run. Pure.

import {
  assignment,
  computesScript,
  fills,
  holdsIndex,
  indexed,
  inputOf,
  isBomb,
  isPipe,
  leaves,
  spokenBy,
} from "./facts.ts";
import { Folders } from "./shell/folders.ts";
import { type CommandPlaces, type Judgement, dangerous, plain, worst } from "./judgement.ts";
import { type Call, type Input, type Look, reads, writes } from "./look.ts";
import { argumentsOf, ruleFor, startsFile } from "./rules/index.ts";
import { type Expanded, type Expansion, expand, expandWhole, unknown } from "./shell/expand.ts";
import { readScript } from "./shell/parse.ts";
import type { Command, Pipeline, Redirect, Script, Word } from "./shell/script.ts";
import { Unreadable } from "./shell/words.ts";

const none: Input = { type: "none" };
const downloads = /^(?:curl|wget|fetch|aria2c|http|https|xh|lynx|ftp|nc|ncat|socat)$/;
/** With one of these set, other programs run than the ones named. */
const powers =
  /^(?:PATH|HOME|CDPATH|OLDPWD|GLOBIGNORE|BASHOPTS|RIPGREP_CONFIG_PATH|MANPAGER|BAT_PAGER|TAR_OPTIONS|GREP_OPTIONS|GCC_EXEC_PREFIX|COMPILER_PATH|AWKLIBPATH|AWKPATH|BROWSER|IFS|ENV|BASH_ENV|SHELLOPTS|PS4|PROMPT_COMMAND|LD_\w+|DYLD_\w+|NODE_OPTIONS|PYTHONSTARTUP|PYTHONPATH|PERL5(?:OPT|LIB)|RUBY(?:OPT|LIB)|PAGER|EDITOR|GIT_(?!(?:AUTHOR|COMMITTER)_)\w+|LESSOPEN|VISUAL|EVERTURN_\w+)$/;
/** Scripts inside of a word that say a plain name or number, whatever happens. */
const sayers = /^(?:date|seq|wc|basename|hostname|whoami|uname|nproc|id|git|expr)$/;

export function judgeScript(text: string, places: CommandPlaces): Judgement {
  return new Walk(places).text(text, 0);
}

class Walk {
  readonly #places: CommandPlaces;
  readonly #variables = new Map<string, readonly string[] | null>();
  readonly #folders: Folders;
  readonly #functions = new Map<string, Script>();
  readonly #expansion: Expansion;
  #depth = 0;

  constructor(places: CommandPlaces) {
    this.#places = places;
    this.#folders = new Folders(places.cwd);
    this.#variables.set("PWD", [places.cwd]);
    this.#variables.set("HOME", places.userHome === null ? null : [places.userHome]);
    this.#variables.set("EVERTURN_HOME", [places.home]);
    this.#variables.set("IFS", [" "]);
    if (places.tmp !== undefined) this.#variables.set("TMPDIR", [places.tmp]);
    const { userHome } = places;
    this.#expansion = { variables: this.#variables, userHome, saidBy: (script) => this.#says(script) };
  }

  text(text: string, depth: number): Judgement {
    if (depth > 8) return dangerous("its scripts are too deep inside of each other to be judged");
    const before = this.#depth;
    this.#depth = depth;
    try {
      return this.#script(readScript(text));
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      return dangerous(`it cannot be judged, because ${error.message}`);
    } finally {
      this.#depth = before;
    }
  }

  #script(script: Script, input: Input = none): Judgement {
    return worst(script.map((pipeline) => this.#pipeline(pipeline, input)));
  }

  #pipeline({ commands, background, after }: Pipeline, first: Input): Judgement {
    this.#folders.join(after, commands.length === 1 && leaves(commands[0]));
    const run = (): Judgement => {
      let input = first;
      const found: Judgement[] = [];
      for (const [at, command] of commands.entries()) {
        found.push(this.#command(command, input));
        if (at < commands.length - 1) input = this.#said(command, input);
      }
      return worst(found);
    };
    return commands.length > 1 || background ? this.#alone(run) : run();
  }

  #command(command: Command, input: Input): Judgement {
    if (command.type === "simple") return this.#simple(command.words, command.redirects, input);
    if (command.type === "loop") return this.#loop(command.name, command.values);
    if (command.type === "function") {
      this.#functions.set(command.name, command.body);
      return worst([isBomb(command.name, command.body), this.#alone(() => this.#script(command.body))]);
    }
    const run = () =>
      worst([this.#script(command.body, input), ...command.redirects.map((one) => this.#redirect(one))]);
    // Where a group in parentheses goes, it goes alone.
    return command.apart ? this.#alone(run) : run();
  }

  #alone(run: () => Judgement): Judgement {
    const before = this.#variables.get("PWD") ?? null;
    const found = this.#folders.apart(run);
    this.#variables.set("PWD", before);
    return found;
  }

  #loop(name: string, values: readonly Word[] | null): Judgement {
    const texts = values?.map((value) => expand(value, this.#expansion)?.map(({ text }) => text) ?? null) ?? [null];
    this.#assign(name, texts.includes(null) ? null : texts.flatMap((one) => one ?? []));
    return worst((values ?? []).map((value) => this.#inside(value)));
  }

  #simple(words: readonly Word[], redirects: readonly Redirect[], input: Input): Judgement {
    const found = [...words, ...redirects.map(({ target }) => target)].map((word) => this.#inside(word));
    found.push(...redirects.map((one) => this.#redirect(one)));
    let at = 0;
    for (; at < words.length; at++) {
      const assigned = assignment(words[at] ?? []);
      if (assigned === null) break;
      const isPassing = assigned.name === "IFS" && words.slice(at + 1).some((word) => assignment(word) === null);
      if (!isPassing) found.push(this.#assignment(assigned.name, assigned.value));
    }
    const expanded = words.slice(at).map((word) => expand(word, this.#expansion));
    const args = expanded.flatMap((one) => one ?? []);
    const targets = redirects.filter(({ operator }) => operator.includes(">") && operator !== ">&");
    found.push(
      fills(
        args.map(({ text }) => text),
        targets.flatMap(({ target }) => expandWhole(target, this.#expansion) ?? []),
      ),
    );
    if (expanded.includes(null)) found.push(dangerous("it has more words than can be judged"));
    if (args.length > 0) found.push(this.#call(args, inputOf(redirects, input, this.#expansion)));
    return worst(found);
  }

  /** Scripts inside of words run as well. */
  #inside(word: Word): Judgement {
    return worst(
      word.map((part) => {
        if (part.type === "text") return plain;
        return part.type === "script"
          ? this.#alone(() => this.#script(part.script))
          : worst(part.inner.map((one) => this.#inside([one])));
      }),
    );
  }

  #call([first, ...rest]: readonly Expanded[], input: Input): Judgement {
    if (first === undefined) return plain;
    if (first.text === "[[")
      return computesScript(
        "[[",
        rest.map(({ text }) => text),
      );
    if (first.isGlob && first.text !== "[") return dangerous(unreadableName);
    return this.#words([first.text, ...rest.map(({ text }) => text)], input);
  }

  #words(words: readonly string[], input: Input): Judgement {
    const [first = "", ...args] = words;
    // What is left of `time -p command`.
    if (first.startsWith("-") && args.length > 0) return this.#words(args, input);
    if (first.includes(unknown)) return dangerous(unreadableName);
    if (first === "") return plain;
    if (this.#depth > 8) return dangerous("its commands are too deep inside of each other to be judged");
    const call: Call = { name: first.slice(first.lastIndexOf("/") + 1), args, input };
    const look = this.#look();
    const own = this.#builtin(call);
    const body = this.#functions.get(first);
    return worst([
      own,
      computesScript(call.name, args),
      body === undefined ? ruleFor(call.name)(call, look) : look.again(body),
      startsFile(first, look),
      ...argumentsOf(call).map((arg) => reads(arg, look)),
    ]);
  }

  /** What changes how the rest is read. */
  #builtin({ name, args }: Call): Judgement {
    if (name === "cd" || name === "pushd") this.#go(args.filter((arg) => !/^-[LPe@]+$/.test(arg)));
    if (name === "popd") this.#go(["-"]);
    if (name === "set" && args.some((arg) => /^-[a-z]*e|^errexit$/.test(arg))) this.#folders.isStrict = true;
    if (name === "read" || name === "mapfile" || name === "readarray" || name === "getopts")
      for (const arg of args) if (/^[A-Za-z_]\w*$/.test(arg)) this.#assign(arg, null);
    if (!/^(?:export|declare|typeset|local|readonly|set|env)$/.test(name)) return plain;
    return worst(
      args.map((arg) => {
        const [, variable, value] = /^([A-Za-z_]\w*)\+?=([\s\S]*)$/.exec(arg) ?? [];
        return variable === undefined ? plain : this.#assigned(variable, [value ?? ""]);
      }),
    );
  }

  /** It may fail, and then it stays where it was. */
  #go([target]: readonly string[]): void {
    const { userHome } = this.#places;
    const text = target ?? userHome ?? unknown;
    // A pattern stays one: what is below it may be anything that fits.
    this.#folders.go(text.includes(unknown) || /^[-+]/.test(text) ? null : text);
    const known = this.#folders.sure.filter((folder) => folder !== null);
    this.#variables.set("PWD", known.length < this.#folders.sure.length ? null : known);
  }

  #assignment(name: string, value: Word): Judgement {
    return this.#assigned(name, expandWhole(value, this.#expansion));
  }

  #assigned(name: string, values: readonly string[] | null): Judgement {
    this.#assign(name, values?.some((value) => value.includes(unknown)) === true ? null : values);
    if (values?.some(holdsIndex) === true) return dangerous(indexed);
    // Blanks part words as ever.
    if (name === "IFS" && values?.every((value) => /^\s*$/.test(value)) === true) return plain;
    return powers.test(name) ? dangerous(`it sets ${name}, which decides what other commands do`) : plain;
  }

  /** Branches are not followed, so each value it ever had counts. */
  #assign(name: string, values: readonly string[] | null): void {
    const known = this.#variables.has(name) ? this.#variables.get(name) : [];
    if (known === null || known === undefined || values === null) this.#variables.set(name, null);
    else {
      const all = [...new Set([...known, ...values])];
      this.#variables.set(name, all.length > 64 ? null : all);
    }
  }

  #redirect({ operator, target }: Redirect): Judgement {
    if (operator === "<<" || operator === "<<<" || target.length === 0) return plain;
    const texts = expandWhole(target, this.#expansion) ?? [unknown];
    return worst(
      texts.map((text) => {
        if (/^[<>]&$/.test(operator) && /^(?:\d+-?|-)$/.test(text)) return plain;
        return operator === "<" || operator === "<&" ? reads(text, this.#look()) : writes(text, this.#look());
      }),
    );
  }

  #said(command: Command, input: Input): Input {
    if (command.type === "function" || command.type === "loop") return none;
    if (command.type === "group") {
      const last = command.body.at(-1)?.commands.at(-1);
      const isDownload = command.body.some(({ commands }) => commands.some((one) => isPipe(this.#said(one, none))));
      return last === undefined || isDownload ? { type: "pipe", isDownload } : this.#said(last, input);
    }
    const words = command.words.filter((word) => assignment(word) === null);
    const texts = words.flatMap((word) => expand(word, this.#expansion)?.map(({ text }) => text) ?? [unknown]);
    const heard = inputOf(command.redirects, input, this.#expansion);
    const name = (texts[0] ?? "").replace(/^.*\//, "");
    if (texts.some((text) => downloads.test(text.replace(/^.*\//, "")))) return { type: "pipe", isDownload: true };
    if (name === "cat" && texts.length === 1) return heard;
    const spoken = spokenBy(name, texts.slice(1));
    if (spoken !== null) return { type: "text", text: spoken };
    return { type: "pipe", isDownload: heard.type === "pipe" && heard.isDownload };
  }

  /** Only for what is plain to see. */
  #says(script: Script): string | null {
    const [pipeline] = script;
    const [command] = pipeline?.commands ?? [];
    if (script.length !== 1 || pipeline?.commands.length !== 1 || command?.type !== "simple") return null;
    const expansion: Expansion = { variables: this.#variables, userHome: this.#places.userHome, saidBy: () => null };
    const texts = command.words.flatMap((word) => expand(word, expansion)?.map(({ text }) => text) ?? [unknown]);
    const [name = "", ...args] = texts;
    if (name === "pwd") return this.#folders.sure.length === 1 ? (this.#folders.sure[0] ?? null) : null;
    const spoken = spokenBy(name, args);
    if (spoken !== null) return spoken;
    const isTame = (name === "basename" || args.every((arg) => !/[/\0]|\.\./.test(arg))) && sayers.test(name);
    return isTame && (name !== "git" || args[0] === "rev-parse") ? "0n" : null;
  }

  #look(): Look {
    const depth = this.#depth;
    const deeper = (what: () => Judgement): Judgement => {
      this.#depth = depth + 1;
      const found = what();
      this.#depth = depth;
      return found;
    };
    return {
      places: this.#places,
      folders: this.#folders.sure,
      doubts: this.#folders.doubt,
      run: (words, input = none) => (words.length === 0 ? plain : deeper(() => this.#words(words, input))),
      script: (text) => this.#alone(() => this.#given(text, depth + 1)),
      here: (text) => this.#given(text, depth + 1),
      again: (body) => deeper(() => (this.#depth > 3 ? plain : this.#script(body))),
    };
  }

  #given(text: string, depth: number): Judgement {
    return text.includes(unknown)
      ? worst([dangerous(unreadableScript), this.text(text, depth)])
      : this.text(text, depth);
  }
}

const unreadableName = "it runs a command whose name is not written out, so it cannot be judged";
const unreadableScript = "it runs a script that is not written out, so it cannot be judged";
