// Which hosts a command probably needs: those of package registries by a table of programs, and addresses among its words.
// A guess that is wrong costs a needless question, or a command that fails in its sandbox. Pure.

export type NeededHost = {
  /** As in a grant: `host` or `host:port`. */
  readonly host: string;
  readonly isSsh: boolean;
};

const loopback = /^(?:localhost|127(?:\.\d+){3}|\[?::1\]?|0\.0\.0\.0)$/;

/** The destination of an address as it is typed; null for this machine and for what is no address. */
export function destinationOf(text: string): NeededHost | null {
  const scp = /^(?:[\w.-]+@)?([A-Za-z0-9][\w.-]*\.[A-Za-z0-9-]+):(?!\/\/|\d+(?:\/|$))[^\s]/.exec(text);
  if (scp?.[1] !== undefined) return { host: `${scp[1].toLowerCase()}:22`, isSsh: true };
  const [, scheme = "", rest = ""] = /^(https?|ssh|git\+ssh|git|ftps?|wss?):\/\/([^\s]+)$/i.exec(text) ?? [];
  const url = scheme === "" ? null : URL.parse(`http://${rest}`);
  if (url === null || url.hostname === "" || loopback.test(url.hostname)) return null;
  const isSsh = /ssh/i.test(scheme);
  const usual: Readonly<Record<string, string>> = { git: ":9418", ftp: ":21", ftps: ":990" };
  // The parser leaves out the port that is usual for http.
  const typed = /^(?:[^/@]*@)?(?:\[[^\]]*\]|[^/:]*):(\d+)/.exec(rest)?.[1];
  const port = isSsh ? `:${typed ?? "22"}` : typed !== undefined ? `:${typed}` : (usual[scheme.toLowerCase()] ?? "");
  return { host: `${url.hostname}${port}`, isSsh };
}

const npm = ["*.npmjs.org"];
const pypi = ["pypi.org", "files.pythonhosted.org"];
const go = ["proxy.golang.org", "sum.golang.org"];
const crates = ["index.crates.io", "static.crates.io"];
const maven = ["repo.maven.apache.org", "repo1.maven.org"];

/** The first word that is no option decides. */
const registries: readonly (readonly [programs: string, verbs: RegExp, hosts: readonly string[]])[] = [
  [
    "npm pnpm bun",
    /^(?:ci|clean-install|i|in|install|add|update|upgrade|up|audit|publish|view|info|outdated|search|create|init|dlx|x|exec|pack)$/,
    npm,
  ],
  ["yarn", /^(?:install|add|up|upgrade|create|dlx|publish|info|audit|outdated|)$/, [...npm, "registry.yarnpkg.com"]],
  ["npx bunx", /^create-/, npm],
  ["pip pip3 pipx", /^(?:install|download|wheel|index|run|upgrade|inject)$/, pypi],
  ["uv", /^(?:sync|add|lock|pip|tool)$/, pypi],
  ["poetry pdm hatch pipenv", /^(?:install|add|update|lock|sync|publish)$/, pypi],
  ["conda mamba micromamba", /^(?:install|create|update|search)$/, ["conda.anaconda.org", "repo.anaconda.com"]],
  ["go", /^(?:get|install|mod)$/, go],
  ["cargo", /^(?:fetch|install|add|update|search|publish)$/, crates],
  ["gem", /^(?:install|update|fetch|push)$/, ["rubygems.org", "index.rubygems.org"]],
  ["bundle bundler", /^(?:install|update|add|)$/, ["rubygems.org", "index.rubygems.org"]],
  [
    "composer",
    /^(?:install|update|require|create-project)$/,
    ["repo.packagist.org", "api.github.com", "codeload.github.com"],
  ],
  ["mvn", /./, maven],
  ["gradle gradlew", /./, [...maven, "plugins.gradle.org", "services.gradle.org"]],
  ["dotnet", /^(?:restore|add|tool)$/, ["api.nuget.org"]],
  ["rustup", /^(?:update|install|toolchain|component|target)$/, ["static.rust-lang.org"]],
  ["gh", /./, ["api.github.com", "github.com"]],
];
/** A subcommand further on decides for these. */
const narrower: Readonly<Record<string, RegExp>> = { "go mod": /^(?:download|tidy|vendor|why|graph)$/ };

/** They fetch or send what an address among their words names. */
const fetchers = new Set("curl wget http https xh aria2c yt-dlp lynx w3m websocat ssh scp sftp rsync".split(" "));

const isOption = (word: string): boolean => word.startsWith("-");

/** `words` without wrappers such as `env` and `time`, the program first and without its folder. */
export function destinationsOf(words: readonly string[]): readonly NeededHost[] {
  const [program = "", ...all] = words;
  const args = program.startsWith("python") && all[0] === "-m" && all[1] === "pip" ? all.slice(2) : all;
  const name = args === all ? program : "pip";
  const plainArgs = args.filter((word) => !isOption(word));
  const [verb = "", second = ""] = plainArgs;
  const registry = registries.find(([programs, verbs]) => programs.split(" ").includes(name) && verbs.test(verb));
  const isOffline = args.some((word) => /^--(?:offline|no-index|prefer-offline)$/.test(word));
  const isMeant = narrower[`${name} ${verb}`]?.test(second) ?? true;
  const known = registry === undefined || isOffline || !isMeant ? [] : registry[2];
  const hosts = known.map((host): NeededHost => ({ host, isSsh: false }));
  if (registry === undefined && !fetchers.has(name)) return hosts;
  return [...hosts, ...addressesIn(name, args)];
}

function addressesIn(name: string, args: readonly string[]): readonly NeededHost[] {
  const found = args
    .flatMap((word) => [word, word.replace(/^--?[\w-]+=/, "")])
    .flatMap((word) => destinationOf(word) ?? []);
  if (/^(?:curl|wget|http|https|xh)$/.test(name)) found.push(...args.flatMap(bareHost));
  if (/^(?:ssh|sftp)$/.test(name) && found.length === 0) found.push(...sshHost(args));
  return unique(found);
}

/** `curl example.org/x`, without a scheme. */
function bareHost(word: string): readonly NeededHost[] {
  const [, host] = /^((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}(?::\d+)?)(?:\/|$)/i.exec(word) ?? [];
  const isFile = /\.(?:json|txt|html?|csv|xml|gz|zip|tar|md|sh|log|png|jpe?g|pdf|out|ya?ml|conf)$/i.test(host ?? "");
  return host === undefined || isFile ? [] : [{ host: host.toLowerCase(), isSsh: false }];
}

function sshHost(args: readonly string[]): readonly NeededHost[] {
  const target = args.find((word, at) => !isOption(word) && !/^-[BbcDEeFIiJLlmOoPpQRSWw]$/.test(args[at - 1] ?? ""));
  const host = target?.replace(/^[^@]*@/, "").toLowerCase() ?? "";
  return /^[a-z0-9][\w.-]*$/.test(host) && !loopback.test(host) ? [{ host: `${host}:22`, isSsh: true }] : [];
}

export function unique(all: readonly NeededHost[]): readonly NeededHost[] {
  return [...new Map(all.map((one) => [one.host, one])).values()];
}
