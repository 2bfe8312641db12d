// Files that run by themselves later, when nobody is asked: what git runs, and what begins with the user's session. Pure.
// Names are compared without capitals, because some disks do not tell them apart, and patterns count as what they fit.

import { globFits } from "./secrets.ts";

const ofGit = ["hooks", "config", "config.worktree", "attributes", "commondir", "gitdir"];

/** Below the user's own folder; everything inside of a folder counts too. */
const ofUser: readonly (readonly string[])[] = [
  ".ssh .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout",
  ".xprofile .xinitrc .xsession .xsessionrc .pam_environment .inputrc .vimrc .vim .emacs .emacs.d .gdbinit .direnvrc",
  ".gitconfig .npmrc .yarnrc .yarnrc.yml .bunfig.toml .pypirc .condarc .gemrc .irbrc .pythonrc .curlrc .wgetrc .husky",
  ".config/autostart .config/systemd .config/environment.d .config/fish .config/git .config/pip .config/nvim",
  ".config/plasma-workspace .config/husky .local/share/systemd .local/bin bin .cargo/config .cargo/config.toml",
  "Library/LaunchAgents Library/LaunchDaemons .crontab .cron",
]
  .flatMap((line) => line.split(" "))
  .map((path) => path.split("/"));

/** The path is absolute; what is said of it is the end of a sentence: "which git runs by itself". */
export function runsLater(path: string, userHome: string | null): string | null {
  const parts = path.split("/");
  const at = parts.findIndex((part) => fits(part, ".git"));
  const inGit = at < 0 ? [] : parts.slice(at + 1);
  if (at >= 0 && (inGit.length === 0 || inGit.some((part) => ofGit.some((name) => fits(part, name)))))
    return "which git runs by itself";
  const husky = parts.findIndex((part) => fits(part, ".husky"));
  if (husky >= 0) return "which git runs by itself";
  const home = userHome?.split("/").filter((part) => part !== "") ?? null;
  const below = parts.slice(1);
  if (home === null || !home.every((name, i) => fits(below[i] ?? "", name))) return null;
  const inner = below.slice(home.length);
  return ofUser.some((names) => names.every((name, i) => fits(inner[i] ?? "", name)))
    ? "which runs or decides what runs when the user next comes"
    : null;
}

function fits(part: string, name: string): boolean {
  return /[*?[]/.test(part) ? globFits(part, name) : part.toLowerCase() === name.toLowerCase();
}
