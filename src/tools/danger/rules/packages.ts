// Programs that install what others wrote or run what a project says. Pure.
// Their words do not show what happens: it is in files of the project, or on another machine.

import { type Judgement, dangerous, needing, plain, worst } from "../judgement.ts";
import { type Call, type Rule, type Rules, writes } from "../look.ts";
import { readOptions } from "../shell/options.ts";

const installs = (name: string): Judgement => dangerous(`it installs programs that others wrote (${name})`, "network");
const runsProject = (what: string): Judgement => dangerous(`it runs what the project says (${what})`);

function npm({ name, args }: Call): Judgement {
  const [verb = ""] = readOptions(args, "C prefix w workspace").operands;
  if (name === "yarn" && verb === "" && !args.some((arg) => /^(?:-v|--version|-h|--help)$/.test(arg)))
    return installs(name);
  const isGlobal = verb === "global" || args.some((arg) => /^(?:-g|--global|--location=global)$/.test(arg));
  if (
    /^(?:i|in|install|ci|add|update|upgrade|up|link|rebuild|install-test|it|dlx|x|exec|create|init|global|remove|rm|uninstall|un|prune|dedupe)$/.test(
      verb,
    )
  )
    return verb === "init" && args.includes("-y")
      ? plain
      : needing(isGlobal ? "outside" : undefined, installs(`${name} ${verb}`));
  if (
    /^(?:publish|unpublish|deprecate|login|adduser|logout|token|access|owner|dist-tag|profile|set|config)$/.test(verb)
  )
    return verb === "config" && /^(?:get|list|ls)?$/.test(args[1] ?? "")
      ? dangerous("it shows settings that may hold secrets")
      : dangerous(`it changes an account or settings (${name} ${verb})`, "outside");
  if (/^(?:run|run-script|rum|urn|test|t|tst|start|stop|restart|pack|version|build)$/.test(verb))
    return args.length === 1 && verb === "run" ? plain : runsProject(`${name} ${verb}`);
  const isQuestion =
    /^(?:|ls|list|ll|view|info|show|outdated|audit|why|explain|help|root|bin|prefix|search|doctor|fund|ping|whoami|docs|query)$/.test(
      verb,
    );
  if (isQuestion) return args.includes("fix") ? installs(`${name} audit fix`) : plain;
  // yarn and pnpm run any script by its name.
  return name === "npm" ? plain : runsProject(`${name} ${verb}`);
}

const npx: Rule = ({ name, args }) =>
  args.length === 1 && /^(?:-v|--version|--help)$/.test(args[0] ?? "") ? plain : installs(name);

function pip({ name, args }: Call): Judgement {
  const [verb = ""] = readOptions(args).operands;
  if (/^(?:|list|show|freeze|check|help|search|index|debug|inspect|hash)$/.test(verb)) return plain;
  return verb === "config"
    ? dangerous("it shows or changes settings that may hold secrets")
    : installs(`${name} ${verb}`);
}

/** Programs whose first word says what they do. */
function verbs(plainVerbs: string, runVerbs = ""): Rule {
  const isPlain = new Set(plainVerbs.split(" "));
  const isRun = new Set(runVerbs.split(" "));
  return ({ name, args }) => {
    const verb = readOptions(args).operands[0] ?? "";
    if (verb === "" || isPlain.has(verb)) return plain;
    return isRun.has(verb) ? runsProject(`${name} ${verb}`) : installs(`${name} ${verb}`);
  };
}

const make: Rule = ({ name, args }, look) => {
  const { has, operands, values } = readOptions(args, "C f j directory file o W I");
  if (has("version", "help", "v")) return plain;
  const isInstall = operands.some((one) => /install|deploy|publish/.test(one));
  const assigned = operands.filter((one) => /^SHELL[:+?]?=/.test(one));
  return worst([
    isInstall ? installs(`${name} ${operands.join(" ")}`) : runsProject([name, ...operands].join(" ")),
    ...values("C", "directory").map((folder) => writes(folder, look)),
    ...assigned.map(() => dangerous("it chooses its own shell")),
  ]);
};

const project: Rule = ({ name, args }) =>
  args.length === 1 && /^(?:-v|-V|--version|--help|version|help)$/.test(args[0] ?? "")
    ? plain
    : runsProject([name, ...args.slice(0, 1)].join(" "));

const system: Rule = ({ name, args }) => {
  const verb = readOptions(args).operands[0] ?? "";
  const isQuestion =
    /^(?:|list|search|show|info|policy|depends|rdepends|version|help|outdated|deps|config|doctor|leaves|madison|provides)$/;
  const isAsked =
    args.some((arg) => /^-(?:Q|Ss|Si|l|L|s|S|-list|-status|q)/.test(arg)) &&
    !args.some((arg) => /^-(?:S$|Sy|R|U|i|-install|e$)/.test(arg));
  return (isQuestion.test(verb) && !args.some((arg) => /^-[iSRUe]/.test(arg))) || isAsked
    ? plain
    : installs([name, verb].join(" ").trim());
};

export const packageRules: Rules = {
  npm,
  pnpm: npm,
  yarn: npm,
  bun: ({ name, args, input }, look) =>
    /\.[cm]?[jt]sx?$/.test(args.join(" ")) ? look.run(["node", ...args]) : npm({ name, args, input }),
  npx,
  bunx: npx,
  pnpx: npx,
  uvx: npx,
  pip,
  uv: verbs("version help tree", "run"),
  poetry: verbs("show check version env about", "run"),
  pipenv: verbs("graph check verify", "run"),
  conda: verbs("list info search env config", "run"),
  mamba: verbs("list info search", "run"),
  easy_install: () => installs("easy_install"),
  gem: verbs("list search help environment env info which contents"),
  bundle: verbs("list show check info outdated", "exec"),
  cargo: verbs("tree metadata search help version fmt check clippy doc fix", "run test build bench b r t"),
  go: (call, look) =>
    call.args.some((arg) => /^--?(?:toolexec|exec|vettool|overlay)/.test(arg))
      ? dangerous("it names another program that is to be run (go)")
      : verbs("version env list doc vet fmt help mod build", "run test generate")(call, look),
  composer: verbs("show info validate outdated search", "run run-script"),
  dotnet: verbs("list help --info", "run test build"),
  mvn: project,
  gradle: project,
  ant: project,
  rake: project,
  just: project,
  task: project,
  tox: project,
  nox: project,
  ninja: project,
  bazel: project,
  meson: project,
  pytest: project,
  jest: project,
  mocha: project,
  ava: project,
  eslint: project,
  prettier: project,
  mypy: project,
  pylint: project,
  flake8: project,
  webpack: project,
  vite: project,
  esbuild: project,
  rollup: project,
  vitest: project,
  make,
  gmake: make,
  cmake: ({ name, args, input }, look) =>
    args.includes("-E")
      ? look.run(
          args.slice(args.indexOf("-E") + 1).map((word, at) => (at === 0 && word === "remove_directory" ? "rm" : word)),
        )
      : args.includes("--install")
        ? installs("cmake --install")
        : args.includes("--build")
          ? runsProject("cmake --build")
          : project({ name, args, input }, look),
  apt: system,
  "apt-get": system,
  "apt-cache": () => plain,
  aptitude: system,
  dpkg: system,
  rpm: system,
  dnf: system,
  yum: system,
  zypper: system,
  pacman: system,
  yay: system,
  apk: system,
  brew: system,
  port: system,
  snap: system,
  flatpak: system,
  nix: () => installs("nix"),
  "nix-env": () => installs("nix-env"),
  winget: system,
  choco: system,
  rustup: verbs("show help"),
  nvm: verbs("ls list current which version"),
  volta: verbs("list which"),
};
