// Programs that run programs: scripts in files, and text given as code on the command line. Pure.
// Code is plain only where it uses nothing but what is known to touch nothing; everything else is asked for.

import { type Judgement, dangerous, plain, worst } from "../judgement.ts";
import { type Call, type Look, type Rule, type Rules, writes } from "../look.ts";
import { readOptions } from "../shell/options.ts";

/** Modules of Python that neither open nor start anything. */
const tameModules =
  /^(?:json|sys|math|re|datetime|time|random|string|collections|itertools|functools|statistics|decimal|fractions|textwrap|hashlib|base64|uuid|calendar|unicodedata|operator|typing|enum|dataclasses|platform|secrets|html|colorsys|bisect|heapq|copy|pprint|cmath|zlib|binascii|struct|locale|difflib)$/;

function tamePython(code: string): boolean {
  const modules = [...code.matchAll(/\b(?:import|from)\s+([\w., ]+)/g)].flatMap(([all, names = ""]) =>
    all.startsWith("from")
      ? [names.trim().split(/\s/)[0] ?? ""]
      : names.split(",").map((name) => name.trim().split(/[\s.]/)[0] ?? ""),
  );
  const wild =
    /__|\b(?:open|eval|exec|compile|getattr|setattr|globals|locals|vars|breakpoint|input|modules|memoryview|environ)\b|\\x|\\u|\\[0-7]/;
  return modules.every((name) => tameModules.test(name)) && !wild.test(code);
}

function tameScript(code: string): boolean {
  const wild =
    /\b(?:require|import|eval|Function|constructor|globalThis|global|this|fetch|WebSocket|module|exports|Reflect|Proxy|Deno|Bun|prototype|__proto__|mainModule|binding|dlopen|env|kill|exit|chdir)\b|\\x|\\u|\[\s*["'`][^"'`\]]*["'`]\s*\+/;
  const parts = [...code.matchAll(/\bprocess\b(\.\w+)?/g)].map(([, part]) => part ?? "");
  const isTame = parts.every((part) =>
    /^\.(?:stdout|stderr|argv|version|versions|platform|arch|cwd|memoryUsage|uptime|hrtime)$/.test(part),
  );
  return isTame && !wild.test(code);
}

const tamePerl = (code: string): boolean =>
  !/`|\b(?:system|exec|open|unlink|rmdir|mkdir|rename|eval|qx|fork|kill|socket|require|use|do|syscall|chmod|chown|symlink|link|truncate|utime|pipe|connect|IO|ENV|File|Process|Kernel|Dir|spawn|popen|send|instance_eval|shell_exec|passthru|proc_open|file_put_contents|file_get_contents|include|fopen|curl_exec|os|io|dofile|loadstring|load|ARGV|STDIN|glob)\b|\/[a-z]*e[a-z]*\s*(?:;|$)|%ENV|\$ENV|<\s*[~/]|\\x/.test(
    code,
  );

const tameAwk = (code: string): boolean =>
  !/\bsystem\s*\(|\||\bprintf?\b[^;}\n]*>|\bgetline\b|@load|\b(?:ENVIRON|ARGV|ARGC)\b|\\x/.test(code);

type Language = {
  /** Options that are followed by code. */
  readonly code: string;
  /** Options that are followed by something else. */
  readonly valued: string;
  readonly isTame: (code: string) => boolean;
  /** Words with which it only says something about itself. */
  readonly asks: RegExp;
};

const asks = /^(?:-v|-V|--version|-h|--help)$/;

function interpreter(language: Language): Rule {
  return ({ name, args, input }, look) => {
    if (args.length === 1 && language.asks.test(args[0] ?? "")) return plain;
    const { values, operands } = readOptions(untilFile(args, language), `${language.code} ${language.valued}`);
    const codes = values(...language.code.split(" "));
    const module = values("m")[0];
    if (module !== undefined && name.startsWith("py"))
      return pythonModule(module, args.slice(args.indexOf("-m") + 2), look);
    if (codes.length > 0) return worst(codes.map((code) => judgeCode(name, code, language, look)));
    const inner = values("r", "require", "import", "loader", "experimental-loader");
    if (inner.length > 0 && look.places.isSandboxed !== true)
      return dangerous(`it runs ${inner.join(" ")}, whose content is not judged`);
    const [file] = operands;
    if (file === undefined || file === "-") return judgeInput(name, input, language, look);
    return runsFile(file, look);
  };
}

/** Options after the file are the file's own. */
function untilFile(args: readonly string[], { code, valued }: Language): readonly string[] {
  const takesNext = new Set(`${code} ${valued}`.split(" "));
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? "";
    if (!arg.startsWith("-") || arg === "-") return args.slice(0, at + 1);
    const name = arg.replace(/^--?/, "");
    if (takesNext.has(name) || (!arg.startsWith("--") && takesNext.has(name.slice(-1)))) at += 1;
  }
  return args;
}

function judgeCode(name: string, code: string, language: Language, look: Look): Judgement {
  if (code.includes("\0")) return dangerous(`it runs code that is not written out (${name})`);
  return language.isTame(code) || isHarmlessInside(look)
    ? plain
    : dangerous(`it runs code that may do anything (${name})`);
}

function judgeInput(name: string, input: Call["input"], language: Language, look: Look): Judgement {
  if (input.type === "text") return judgeCode(name, input.text, language, look);
  if (input.type === "pipe")
    return dangerous(
      input.isDownload ? `it runs what it downloads (${name})` : `it runs what another program says (${name})`,
      input.isDownload ? "network" : undefined,
    );
  return dangerous(`it runs what it is told later (${name})`);
}

const isHarmlessInside = (look: Look): boolean => look.places.isSandboxed === true;

export function runsFile(file: string, look: Look): Judgement {
  if (file.includes("\0")) return dangerous("it runs a script whose name is not written out, so it cannot be judged");
  if (/^\/(?:dev\/(?:fd|stdin|tcp)|proc)\b/.test(file)) return dangerous("it runs what another program says");
  return look.places.isSandboxed === true ? plain : dangerous(`it runs ${file}, whose content is not judged`);
}

function pythonModule(module: string, args: readonly string[], look: Look): Judgement {
  if (/^(?:json\.tool|this|calendar|platform|timeit|tabnanny|py_compile|compileall|unittest\.__help__)$/.test(module))
    return plain;
  if (module === "pip" || module === "ensurepip") return look.run(["pip", ...args]);
  if (module === "http.server" || module === "smtpd")
    return dangerous("it lets others connect to this machine", "network");
  if (module === "venv") return worst(readOptions(args).operands.map((folder) => writes(folder, look)));
  return dangerous(`it runs the module ${module}, whose content is not judged`);
}

function awk({ args }: Call, look: Look): Judgement {
  const { values, operands } = readOptions(args, "F v f e i l E source file include load exec");
  const [file] = values("f", "file", "i", "include", "l", "load", "E", "exec");
  if (file !== undefined) return runsFile(file, look);
  const code = values("e", "source")[0] ?? operands[0] ?? "";
  return tameAwk(code.replace(/"[^"]*"/g, (text) => (/[|>]/.test(text) ? '""' : text)).replace(/\|\|/g, ""))
    ? plain
    : dangerous("its awk program may run commands or write files");
}

const perl: Language = { code: "e E", valued: "I M m", isTame: tamePerl, asks };

function perlLike(call: Call, look: Look): Judgement {
  const inPlace = call.args.some((arg) => /^-[lnpa0s]*i/.test(arg));
  const files = readOptions(call.args, "e E I M m").operands;
  // -pe and -ne end with the letter that takes the code.
  const judged = interpreter(perl)(call, look);
  return inPlace ? worst([judged, ...files.map((file) => writes(file, look))]) : judged;
}

const node: Language = {
  code: "e p eval print pe",
  valued: "r require import loader experimental-loader C conditions input-type",
  isTame: tameScript,
  asks,
};

export const codeRules: Rules = {
  python: interpreter({ code: "c", valued: "m W X", isTame: tamePython, asks }),
  node: interpreter(node),
  nodejs: interpreter(node),
  deno: ({ args }, look) =>
    /^(?:fmt|lint|check|info|doc|--version|types|help)$/.test(args[0] ?? "") ? plain : runsFile(args[1] ?? "\0", look),
  tsx: interpreter(node),
  "ts-node": interpreter(node),
  perl: perlLike,
  ruby: perlLike,
  php: interpreter({ code: "r", valued: "d f S", isTame: tamePerl, asks }),
  lua: interpreter({ code: "e", valued: "l", isTame: tamePerl, asks }),
  rscript: interpreter({ code: "e", valued: "", isTame: () => false, asks }),
  osascript: interpreter({ code: "e", valued: "l", isTame: () => false, asks }),
  powershell: interpreter({ code: "Command c EncodedCommand", valued: "", isTame: () => false, asks }),
  pwsh: interpreter({ code: "Command c EncodedCommand", valued: "", isTame: () => false, asks }),
  java: ({ args }, look) =>
    args.every((arg) => asks.test(arg) || arg === "-version") ? plain : runsFile(args.at(-1) ?? "\0", look),
  awk,
  vim: () => dangerous("it opens an editor, which may run commands and waits for keys"),
  vi: () => dangerous("it opens an editor, which may run commands and waits for keys"),
  nvim: () => dangerous("it opens an editor, which may run commands and waits for keys"),
  emacs: () => dangerous("it opens an editor, which may run commands and waits for keys"),
  gdb: () => dangerous("it looks into and changes other programs"),
  lldb: () => dangerous("it looks into and changes other programs"),
  strace: ({ args }, look) =>
    worst([dangerous("it looks into other programs"), look.run(args.filter((arg) => !arg.startsWith("-")))]),
};
