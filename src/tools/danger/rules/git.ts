// git: what throws work away, what reaches others, and what makes git run something. Pure.

import { type Judgement, dangerous, plain, worst } from "../judgement.ts";
import { type Call, type Look, type Rules, reads, readsWhole, within, writes } from "../look.ts";
import { readOptions } from "../shell/options.ts";

type Verb = (args: readonly string[], look: Look) => Judgement;

const when = (isSo: boolean, why: string): Judgement => (isSo ? dangerous(why) : plain);

const push: Verb = (args) => {
  const { has, operands } = readOptions(args, "o push-option repo receive-pack exec");
  const forced =
    has("f", "force", "force-with-lease", "force-if-includes", "mirror") || operands.some((one) => one.startsWith("+"));
  if (forced) return dangerous("it overwrites history that others have (git push --force)", "outside");
  if (has("d", "delete", "prune") || operands.some((one) => one.startsWith(":")))
    return dangerous("it deletes branches of others", "outside");
  return dangerous("it publishes commits (git push)", "outside");
};

/** Everything given with -c or config that git would run. */
const runsIt =
  /^(?:core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|gitproxy|askpass)|alias\..*|pager\..*|.*\.(?:cmd|path|command|helper|textconv|clean|smudge|process|driver)|diff\.external|sequence\.editor|include.*|protocol\..*|url\..*|http\..*proxy|init\.templatedir)(?:=|$)/i;

const verbs: Readonly<Record<string, Verb>> = {
  push,
  reset: (args) =>
    when(
      readOptions(args).has("hard", "merge", "keep"),
      "it throws away changes that are not committed (git reset --hard)",
    ),
  clean: (args) => {
    const { has } = readOptions(args, "e exclude");
    return when(has("f", "force") && !has("n", "dry-run"), "it deletes files that git does not know (git clean)");
  },
  checkout: (args) => {
    const { has, operands } = readOptions(args, "b B orphan");
    return when(
      has("f", "force") || args.includes("--") || operands.includes("."),
      "it throws away changes that are not committed (git checkout)",
    );
  },
  restore: (args) => {
    const { has } = readOptions(args, "s source");
    return when(
      !has("S", "staged") || has("W", "worktree"),
      "it throws away changes that are not committed (git restore)",
    );
  },
  switch: (args) =>
    when(
      readOptions(args, "c C").has("f", "force", "discard-changes"),
      "it throws away changes that are not committed (git switch)",
    ),
  branch: (args) => {
    const { has } = readOptions(args, "u set-upstream-to");
    return when(
      has("D") || ((has("d", "delete") || has("M")) && has("f", "force")),
      "it deletes a branch that may not be merged (git branch -D)",
    );
  },
  tag: (args) => when(readOptions(args, "m F u").has("d", "delete", "f", "force"), "it deletes or moves a tag"),
  stash: (args) => when(/^(?:drop|clear)$/.test(args[0] ?? ""), "it throws away what was put aside (git stash)"),
  rebase: (args) => {
    const { values } = readOptions(args, "x exec onto s X");
    return values("x", "exec").length > 0
      ? dangerous("it runs a command for each commit (git rebase --exec)")
      : dangerous("it rewrites history (git rebase)");
  },
  "filter-branch": () => dangerous("it rewrites history (git filter-branch)"),
  "filter-repo": () => dangerous("it rewrites history (git filter-repo)"),
  reflog: (args) =>
    when(/^(?:expire|delete)$/.test(args[0] ?? ""), "it forgets how to get lost commits back (git reflog)"),
  gc: (args) =>
    when(
      args.some((arg) => arg.startsWith("--prune")),
      "it forgets lost commits for good (git gc --prune)",
    ),
  prune: () => dangerous("it forgets lost commits for good (git prune)"),
  "update-ref": () => dangerous("it moves or deletes references by hand"),
  worktree: (args, look) =>
    worst([
      when(args[0] === "remove", "it deletes a working tree"),
      ...(args[0] === "add"
        ? readOptions(args.slice(1), "b B")
            .operands.slice(0, 1)
            .map((one) => writes(one, look))
        : []),
    ]),
  commit: (args) =>
    when(args.includes("--no-verify") || args.includes("-n"), "it passes by the checks of the project (--no-verify)"),
  config: (args) => {
    const { has, operands } = readOptions(args, "f file");
    const isChange = operands.length > 1 || has("unset", "add", "replace-all", "e", "edit");
    if (has("global", "system") && isChange)
      return dangerous("it changes the settings of git for everything", "outside");
    if (operands.some((one) => runsIt.test(one)) && isChange)
      return dangerous("it tells git what to run by itself (git config)");
    return when(
      operands.some((one) => /token|password|credential/i.test(one)),
      "it shows settings that may hold secrets",
    );
  },
  credential: () => dangerous("it shows stored passwords (git credential)", "outside"),
  "credential-store": () => dangerous("it shows stored passwords (git credential)", "outside"),
  clone: (args, look) => {
    const { operands, values } = readOptions(args, "b branch depth o origin c config template u upload-pack j");
    const isRun =
      operands.some((one) => one.startsWith("ext::")) ||
      values("u", "upload-pack", "template", "c", "config").length > 0;
    return worst([
      when(isRun, "it lets git run a program of somebody else's choice"),
      ...operands.slice(1, 2).map((one) => writes(one, look)),
    ]);
  },
  submodule: (args, look) =>
    args[0] === "foreach"
      ? worst([
          look.script(
            args
              .slice(1)
              .filter((one) => !one.startsWith("--"))
              .join(" "),
          ),
        ])
      : plain,
  bisect: (args, look) => (args[0] === "run" ? look.run(args.slice(1)) : plain),
  difftool: () => dangerous("it runs a program that its settings name"),
  mergetool: () => dangerous("it runs a program that its settings name"),
  "send-email": () => dangerous("it sends mail", "outside"),
  daemon: () => dangerous("it lets others connect to this machine", "network"),
  archive: (args, look) =>
    worst(
      readOptions(args, "o output prefix")
        .values("o", "output")
        .map((file) => writes(file, look)),
    ),
  rm: (args) => when(readOptions(args).has("r", "f", "force"), "it deletes files (git rm)"),
  show: (args, look) =>
    worst(args.map((arg) => (arg.includes(":") ? reads(arg.slice(arg.indexOf(":") + 1), look) : plain))),
  "cat-file": (args, look) =>
    worst(args.map((arg) => (arg.includes(":") ? reads(arg.slice(arg.indexOf(":") + 1), look) : plain))),
  remote: (args) =>
    when(/^(?:add|set-url|remove|rm|rename)$/.test(args[0] ?? ""), "it changes where commits are published"),
  diff: (args, look) =>
    args.includes("--no-index") ? worst(readOptions(args).operands.map((one) => reads(one, look))) : plain,
  grep: (args, look) => {
    const { has, operands, values } = readOptions(args, "e f A B C m max-depth threads");
    const folders = operands.slice(values("e", "f").length > 0 ? 0 : 1);
    return worst([
      when(has("O", "open-files-in-pager"), "it opens what it finds with a program"),
      // Then it searches all files, and not those of a repository.
      ...(has("no-index") ? [".", ...folders].map((folder) => readsWhole(folder, look)) : []),
      ...values("f").map((file) => reads(file, look)),
    ]);
  },
  apply: (args, look) =>
    worst([
      when(args.includes("--unsafe-paths"), "it may change files outside of the workspace"),
      ...readOptions(args, "directory p C exclude include")
        .values("directory")
        .map((folder) => writes(folder, look)),
    ]),
  // What it keeps can be shown later.
  "hash-object": (args, look) => worst(readOptions(args, "t path").operands.map((file) => reads(file, look))),
  init: (args, look) => {
    const { operands, values } = readOptions(args, "template b initial-branch separate-git-dir object-format");
    return worst([...operands, ...values("separate-git-dir")].map((folder) => writes(folder, look)));
  },
};

/** Verbs that look, or change nothing but what is committed and staged. */
const tame = new Set(
  [
    "status log blame annotate add mv merge cherry-pick revert am describe shortlog rev-parse rev-list ls-files ls-tree",
    "ls-remote fetch pull for-each-ref show-ref show-branch name-rev merge-base merge-tree count-objects fsck var version",
    "help whatchanged cherry range-diff diff-tree diff-index diff-files check-ignore check-attr check-mailmap notes",
    "format-patch stripspace symbolic-ref verify-commit verify-tag bundle sparse-checkout maintenance lfs",
    "write-tree commit-tree read-tree pack-refs rerere request-pull interpret-trailers mktree",
  ].flatMap((line) => line.split(" ")),
);
/** A program of somebody else's choice, named by an option or an address. */
const named = /^ext::|^--(?:upload-pack|receive-pack|exec|template|ext-diff|open-files-in-pager)(?:=|$)/;

/** Options before the verb: where, and with which settings. */
function git({ args }: Call, outer: Look): Judgement {
  const found: Judgement[] = [];
  let look = outer;
  let at = 0;
  for (; at < args.length && (args[at] ?? "").startsWith("-"); at++) {
    const arg = args[at] ?? "";
    const value = args[at + 1] ?? "";
    if (/^(?:-C|-c|--git-dir|--work-tree|--exec-path|--namespace|--config-env)$/.test(arg)) at += 1;
    if (arg === "-c" || arg === "--config-env")
      found.push(when(runsIt.test(value), "it tells git what to run by itself (git -c)"));
    if (arg === "-C") {
      found.push(reads(value, look));
      look = within(value, look);
    }
    if (/^--(?:git-dir|work-tree)/.test(arg))
      found.push(when(look.places.isSandboxed !== true, "it takes the settings of another folder (git --git-dir)"));
    if (/^--(?:exec-path=|config-env=)/.test(arg)) found.push(dangerous("it chooses the programs git runs"));
  }
  const verb = args[at] ?? "";
  const rest = args.slice(at + 1);
  if (verb.includes("\0")) return dangerous("what git is to do is not written out");
  if (rest.includes("--help")) return worst(found);
  found.push(
    when(
      rest.some((arg) => named.test(arg)),
      "it lets git run a program of somebody else's choice",
    ),
  );
  found.push(...rest.filter((arg) => arg.startsWith("--output=")).map((arg) => writes(arg.slice(9), look)));
  found.push(...filesOf(rest).map((file) => reads(file, look)));
  found.push(...outputs(verb, rest).map((file) => writes(file, look)));
  if (Object.hasOwn(verbs, verb)) found.push(verbs[verb]?.(rest, look) ?? plain);
  else if (verb !== "" && !tame.has(verb) && look.places.isSandboxed !== true)
    found.push(dangerous(`it runs git ${verb}, which is not known here`));
  return worst(found);
}

/** Files that its options name, and what leads out of the repository. */
function filesOf(rest: readonly string[]): readonly string[] {
  const given = readOptions(rest, "F file contents pathspec-from-file").values(
    "F",
    "file",
    "contents",
    "pathspec-from-file",
  );
  return [...given.filter((file) => file !== "-"), ...rest.filter((arg) => /^\/|(?:^|\/)\.\.(?:\/|$)/.test(arg))];
}

/** Where it writes beside the repository. */
function outputs(verb: string, rest: readonly string[]): readonly string[] {
  if (verb === "format-patch") return readOptions(rest, "o output-directory").values("o", "output-directory");
  if (verb === "bundle" && rest[0] === "create") return rest.slice(1, 2);
  return rest.flatMap((arg, at) => (arg === "--output" ? [rest[at + 1] ?? "\0"] : []));
}

export const gitRules: Rules = {
  git,
  hub: git,
  "git-lfs": () => plain,
  bfg: () => dangerous("it rewrites history (bfg)"),
};
