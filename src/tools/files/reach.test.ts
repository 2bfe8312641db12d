// Each place by itself: the workspace, the gateway's folder around it, secrets, the machine, and everything else.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Judgment } from "../policy/index.ts";
import { type Places, judgePath } from "./reach.ts";

const places: Places = {
  workspace: "/home/ann/.everturn/workspace",
  home: "/home/ann/.everturn",
  userHome: "/home/ann",
  writable: ["/tmp/scratch"],
};

const cases: readonly (readonly [path: string, read: Judgment["level"], write: Judgment["level"]])[] = [
  ["/home/ann/.everturn/workspace", "plain", "plain"],
  ["/home/ann/.everturn/workspace/a/b.txt", "plain", "plain"],
  ["/home/ann/.everturn/workspace/.env", "dangerous", "plain"],
  ["/home/ann/.everturn/workspace/.env.example", "plain", "plain"],
  ["/home/ann/.everturn/workspace/config/prod.env", "dangerous", "plain"],
  ["/home/ann/.everturn/workspace/.git/hooks/pre-commit", "plain", "dangerous"],
  ["/home/ann/.everturn/workspace/sub/.git/config", "plain", "dangerous"],
  ["/home/ann/.everturn/workspace/.GIT/Hooks/pre-commit", "plain", "dangerous"],
  ["/home/ann/.everturn/workspace/.git", "plain", "dangerous"],
  ["/home/ann/.everturn/workspace/.git/modules/a/b/hooks/pre-commit", "plain", "dangerous"],
  ["/home/ann/.everturn/workspace/.git/info/attributes", "plain", "dangerous"],
  ["/home/ann/.everturn/workspace/.git/hook*/pre-commit", "plain", "dangerous"],
  ["/home/ann/.everturn/workspace/.gi[t]/config", "plain", "dangerous"],
  ["/home/ann/.everturn/workspace/.husky/pre-commit", "plain", "dangerous"],
  ["/home/ann/.everturn/workspace/.git/COMMIT_EDITMSG", "plain", "plain"],
  ["/home/ann/.everturn/workspace/hooks/config", "plain", "plain"],
  ["/home/ann/.everturn/workspace/.bashrc", "plain", "plain"],
  ["/tmp/scratch/x/.git/hooks/pre-commit", "plain", "dangerous"],
  ["/home/ann/.everturn/workspace/.gitignore", "plain", "plain"],
  ["/home/ann/.everturn/workspace-2/x", "forbidden", "forbidden"],
  ["/home/ann/.everturn/workspace/../control.token", "forbidden", "forbidden"],
  ["/home/ann/.everturn", "forbidden", "forbidden"],
  ["/home/ann/.everturn/", "forbidden", "forbidden"],
  ["/home/ann/.everturn/control.token", "forbidden", "forbidden"],
  ["/home/ann/.everturn/.env", "forbidden", "forbidden"],
  ["/home/ann/.everturn/config.yaml", "forbidden", "forbidden"],
  ["/home/ann/.Everturn/Config.yaml", "forbidden", "forbidden"],
  ["/home/ann/.everturn/logs/gateway.log", "dangerous", "forbidden"],
  ["/home/ann/.everturn/files/a.png", "plain", "forbidden"],
  ["/home/ann/.everturn/jobs/1/output", "plain", "forbidden"],
  ["/home/ann/.everturn2/x", "plain", "dangerous"],
  ["/home/ann/notes.txt", "plain", "dangerous"],
  ["/home/ann/.ssh/id_ed25519", "dangerous", "dangerous"],
  ["/home/ann/.ssh/id_ed25519.pub", "plain", "dangerous"],
  ["/home/ann/.ssh/known_hosts", "plain", "dangerous"],
  ["/home/ann/.ssh", "dangerous", "dangerous"],
  ["/home/ann/.SSH/config", "dangerous", "dangerous"],
  ["/home/ann/.aws/credentials", "dangerous", "dangerous"],
  ["/home/ann/.config/gh/hosts.yml", "dangerous", "dangerous"],
  ["/home/ann/.mozilla/firefox/x/cookies.sqlite", "dangerous", "dangerous"],
  ["/home/ann/Library/Keychains/login.keychain-db", "dangerous", "dangerous"],
  ["/home/ann/project/server.key", "dangerous", "dangerous"],
  ["/home/ann/project/keyboard.ts", "plain", "dangerous"],
  ["/tmp/scratch/x", "plain", "plain"],
  ["/tmp/x", "plain", "dangerous"],
  ["/etc/hosts", "plain", "dangerous"],
  ["/etc/passwd", "plain", "forbidden"],
  ["/private/etc/sudoers", "plain", "forbidden"],
  ["/etc/shadow", "dangerous", "forbidden"],
  ["/etc/sudoers.d/ann", "dangerous", "forbidden"],
  ["/proc/self/environ", "dangerous", "forbidden"],
  ["/proc/cpuinfo", "plain", "forbidden"],
  ["/dev/null", "plain", "plain"],
  ["/dev/stderr", "plain", "plain"],
  ["/dev/sda", "dangerous", "forbidden"],
  ["/dev/tcp/10.0.0.1/80", "dangerous", "dangerous"],
  ["/boot/vmlinuz", "plain", "forbidden"],
  ["/", "plain", "forbidden"],
  ["/usr", "plain", "forbidden"],
  ["/usr/local/bin/x", "plain", "dangerous"],
];

test("what may be read and written where", () => {
  for (const [path, read, write] of cases) {
    assert.equal(judgePath(path, "read", places).level, read, `reading ${path}`);
    assert.equal(judgePath(path, "write", places).level, write, `writing ${path}`);
  }
});

test("a workspace elsewhere leaves the gateway's folder closed", () => {
  const apart = { ...places, workspace: "/srv/project" };
  assert.equal(judgePath("/home/ann/.everturn/workspace/x", "write", apart).level, "forbidden");
  assert.equal(judgePath("/srv/project/x", "write", apart).level, "plain");
});

test("a gateway's folder inside of the workspace stays closed", () => {
  const around = { ...places, workspace: "/home/ann" };
  assert.equal(judgePath("/home/ann/.everturn/control.token", "read", around).level, "forbidden");
  assert.equal(judgePath("/home/ann/.everturn/state", "write", around).level, "forbidden");
  assert.equal(judgePath("/home/ann/x", "write", around).level, "plain");
});

test("what runs later is asked for where the user's own folder is the workspace", () => {
  const around = { ...places, workspace: "/home/ann" };
  const later = [
    ".ssh/authorized_keys .bashrc .BashRC .profile .zshrc .gitconfig .npmrc .config/autostart/x.desktop .bash*",
    ".config/systemd/user/x.service Library/LaunchAgents/x.plist .config/git/config .local/bin/ls x/.git/hooks/y",
  ].flatMap((line) => line.split(" "));
  for (const path of later) assert.equal(judgePath(`/home/ann/${path}`, "write", around).level, "dangerous", path);
  for (const path of ["notes.txt", "x/.bashrc", ".config/app/x.json", "project/bin/x"])
    assert.equal(judgePath(`/home/ann/${path}`, "write", around).level, "plain", path);
});

test("the reason names the path", () => {
  const judgement = judgePath("/home/ann/.ssh/id_rsa", "read", places);
  assert.ok(judgement.level === "dangerous" && judgement.why.includes("/home/ann/.ssh/id_rsa"));
});
