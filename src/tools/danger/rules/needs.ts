// Which programs do what is dangerous about them out of a sandbox or not at all: approved inside of it, they would fail, or
// do it to nobody. Where that depends on a program's words, its rule says so itself. Pure.

import type { Needs } from "../judgement.ts";
import { machineRules } from "./machine.ts";
import { networkRules } from "./network.ts";

const words = (text: string): readonly string[] => text.split(" ").filter(Boolean);

/** Programs that use accounts, keys or sockets of the user or of the machine, or that go on by themselves. */
const beyond = words(
  `
  ssh sshpass mosh scp sftp ssh-copy-id ssh-add rclone mail mailx sendmail mutt
  tailscale aws gcloud gsutil az gh glab heroku vercel netlify fly flyctl
  psql mysql mariadb mongosh mongo redis-cli dropdb dropuser mysqladmin pg_dump mysqldump
  security secret-tool pass op bw lpass vault keyctl kwallet-query gpg gpg2 age getent
  xclip pbpaste wl-paste screencapture scrot import ip ifconfig screen tmux start-stop-daemon
  apt apt-get aptitude dpkg rpm dnf yum zypper pacman yay apk brew port snap flatpak nix nix-env winget choco
  rustup nvm volta gem easy_install`.replaceAll("\n", " "),
);

/** Theirs depends on their words. */
const byWords = new Set(["kill", "rsync"]);

const needs: ReadonlyMap<string, Needs> = new Map<string, Needs>(
  [
    ...Object.keys(networkRules).map((name) => [name, "network"] as const),
    ...[...Object.keys(machineRules), ...beyond].map((name) => [name, "outside"] as const),
  ].filter(([name]) => !byWords.has(name)),
);

export function needsOf(name: string): Needs | undefined {
  return needs.get(name);
}
