// What is not written out, not known here, goes on by itself or runs later: all of it is asked for.

import assert from "node:assert/strict";
import { test } from "node:test";
import { judgeCommand } from "./command.ts";
import type { CommandPlaces, Judgement } from "./judgement.ts";

const places: CommandPlaces = {
  workspace: "/home/ann/.everturn/workspace",
  home: "/home/ann/.everturn",
  userHome: "/home/ann",
  cwd: "/home/ann/.everturn/workspace",
  pid: 4242,
};

/** One command a line, in a group that shares its level. */
function table(title: string, level: Judgement["level"], commands: readonly string[]): void {
  test(title, () => {
    const wrong = commands
      .map((command) => [command, judgeCommand(command, places)] as const)
      .filter(([, judgement]) => judgement.level !== level)
      .map(([command, judgement]) => `${command}  →  ${JSON.stringify(judgement)}`);
    assert.deepEqual(wrong, []);
  });
}

table("reads what is not written out", "dangerous", [
  "cd $X; rev config.yaml",
  "cd -; rev config.yaml",
  "cd $(ls -d ../h?); rev config.yaml",
  "rev $(ls -d /home/ann/.ever*)/config.yaml",
  "rev $X/config.yaml",
  "rev < $X",
  "find / -name config.yaml | head -1 | xargs rev",
  "find /home -name config.yaml -exec rev {} +",
  "find ~ -name config.yaml -execdir tac {} \\;",
  'find / -name config.yaml | while read f; do rev "$f"; done',
  "git -C /home/ann grep --no-index -h apiKey | rev",
  "cd /home && git grep --no-index apiKey",
  "cd / && grep -r apiKey",
  "cd /home && rg apiKey",
  "egrep -r apiKey /home",
  "grep -d recurse apiKey /home",
  "rg -. apiKey ~",
  "tar -C /home -cf - ann | rev",
  "tar cf - -T names | rev",
  "ls /home/ann/.everturn/* | zip -@ x.zip",
  "rsync -a ~/ copy",
  "diff -r /home x",
  "cp -r /home x",
  "cd ..; cd workspace; rev ~-/config.yaml",
  "CDPATH=/home/ann; cd .everturn; rev config.yaml",
  "HOME=/home/ann/.everturn; rev ~/config.yaml",
  "shopt -s dotglob; rev ~/*/config.yaml",
  "GLOBIGNORE=x; rev ~/*/config.yaml",
  'awk \'BEGIN { ARGV[1] = "/home/ann/.ever" "turn/config.yaml"; ARGC = 2 } { print }\'',
  "sort --files0-from=names",
  "git hash-object -w $X",
  "git commit -F $X",
]);
table("runs or writes by an option, or is not known", "dangerous", [
  "patch ~/.bashrc x",
  "ed -s x <<< 'w /home/ann/.bashrc'",
  "ex -s -c 'w! ~/.bashrc|q' x",
  "pandoc x.md -o ~/y",
  "ffmpeg -i x ~/y",
  "convert x ~/y",
  "xxd -r -p x ~/.bashrc",
  "uniq x ~/.bashrc",
  "gzip /tmp/x",
  "git init --template=./evil",
  "git ls-remote ext::'sh -c evil'",
  "git fetch --upload-pack=./evil origin",
  "git --git-dir=./evil status",
  "git frobnicate",
  "git apply --directory=/tmp x.patch",
  "rg --pre ./evil x",
  "sort --compress-program ./evil x",
  "sort --compress-prog=./evil x",
  "split --filter=sh x",
  "zip -T -TT ./evil x.zip x",
  "gcc -wrapper ./evil x.c",
  "cc -fplugin=./evil.so x.c",
  "gcc -o ~/x x.c",
  "go build -toolexec ./evil",
  "fd -x rm",
  "fd -HX rm",
  "watch ls",
  "ls | entr ls",
  "man -P ./evil ls",
  "hash -p /bin/rm ls; ls -rf docs",
  "enable -f ./evil.so evil",
  "test -v 'a[$(rm -rf docs)]'",
  "let 'a[$(rm -rf docs)]'",
  "printf -v 'a[$(rm -rf docs)]' x",
  "[[ 'a[$(rm -rf docs)]' -eq 1 ]]",
  "x='a[$(rm -rf docs)]'; echo $((x))",
  "bwrap --bind / / rm -rf docs",
  "tclsh x.tcl",
  "m4 x.m4",
  "julia -e 'x'",
  "R -e 'x'",
  "ghci -e x",
  "erl -eval x",
  "elixir -e x",
  "nix-shell -p x",
  "twine upload x",
  "croc send x",
  "busctl call x",
  "dbus-send x",
  "fuser -k 80/tcp",
  "pm2 kill",
  "dc -e '!ls'",
  "ldd ./x",
  "frobnicate",
  "gawk -l ./evil 'BEGIN { }'",
  "sed -f x.sed y",
]);
table("may outlive the gateway", "dangerous", [
  "env -i sleep 1",
  "env - sleep 1",
  "env -u EVERTURN_JOB sleep 1",
  "exec -c sleep 1",
  "unset EVERTURN_JOB",
  "setsid sleep 1",
  "nohup sleep 1 &",
  "sleep 1 & disown",
  "echo ls | at now",
  "batch",
  "systemd-run ls",
]);
table("writes what runs later", "dangerous", [
  "echo x > .GIT/Hooks/pre-commit",
  "tee .gi[t]/hooks/pre-commit < x",
  "cp x .git/modules/a/hooks/post-checkout",
  "echo x >> .git/info/attributes",
  "echo x > .husky/pre-commit",
  "mv hooks .git/hooks",
  "cp -r evil/.git .",
  "cp evil/config .git",
]);
