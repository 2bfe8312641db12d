// Which commands need a person at a terminal.

import assert from "node:assert/strict";
import { test } from "node:test";
import { interactiveWhy } from "./interactive.ts";

const user = { isRoot: false };

test("programs that wait for a person are refused, with the way around", () => {
  const cases: readonly (readonly [line: string, why: RegExp])[] = [
    ["vim x", /edit_file/],
    ["/usr/bin/nano notes.txt", /editor/],
    ["cd src && vi main.c", /editor/],
    ["FOO=1 emacs x", /emacs --batch/],
    ["less README", /cat, head, tail/],
    ["git log | less", /cat, head, tail/],
    ["top", /top -b -n 1/],
    ["htop", /top -b -n 1/],
    ["watch -n1 date", /runs for ever/],
    ["python3", /-c or -e/],
    ["python3 -i x.py", /-c or -e/],
    ["node", /script/],
    ["bash", /commands themselves/],
    ["ssh box", /BatchMode/],
    ["ssh box uptime", /BatchMode/],
    ["ssh -o BatchMode=yes box", /COMMAND/],
    ["sudo apt-get update", /sudo -n/],
    ["sudo vim /etc/hosts", /password/],
    ["su - ann", /password/],
    ["passwd", /passwords/],
    ["psql mydb", /-c/],
    ["mysql -u root", /-e/],
    ["sqlite3 x.db", /statement/],
    ["redis-cli", /words/],
    ["tmux", /background/],
    ["git rebase -i HEAD~3", /-i and -p/],
    ["git add -p", /-i and -p/],
    ["docker run -it alpine sh", /-it/],
    ["crontab -e", /crontab -l/],
    ["env X=1 vim y", /editor/],
    ["timeout 5 top", /top -b/],
    ["nohup python3 &", /-c or -e/],
    ["true; (cd x; nano y)", /editor/],
    ["crontab -l\nvim x", /editor/],
    ["telnet mail 25", /person/],
    ["if true; then vim x; fi", /editor/],
    ["echo $(less x)", /cat/],
    ["v''im x", /editor/],
    ["fzf", /keys/],
  ];
  for (const [line, why] of cases) assert.match(interactiveWhy(line, user) ?? "nothing was said", why, line);
});

test("what needs nobody is left alone", () => {
  const cases = [
    "ls -la",
    "echo vim",
    "echo 'top; less'",
    "grep -rn less src",
    "which vim python3 node",
    "vim --version",
    "vim -es -c '%s/a/b/' -c wq x",
    "emacs --batch -l x.el",
    "top -b -n 1",
    "top -bn1 | head",
    "python3 x.py",
    "python3 -c 'print(1)'",
    "echo 'print(1)' | python3",
    "python3 <x.py",
    "python3 - <<'E'\nprint(1)\nE",
    "node -e 1",
    "node --version",
    "bash x.sh",
    "bash -c 'echo hi'",
    "curl -s http://x | bash",
    "ssh -T -o BatchMode=yes box uptime",
    "ssh -o BatchMode=yes -i key -p 22 ann@box 'ls | wc'",
    "sudo -n true",
    "psql -c 'select 1' mydb",
    "psql -f x.sql",
    "mysql -e 'show tables'",
    "sqlite3 x.db 'select 1'",
    "redis-cli ping",
    "tmux ls",
    "git rebase main",
    "git add -A",
    "git commit -m 'edit -p'",
    "docker run --rm alpine echo hi",
    "docker exec box ls -t",
    "ls | xargs -I{} grep less {}",
    "crontab -l",
    "find . -name top",
    "man ls | cat",
    "apt-get install -y vim less",
    "npm run watch",
    "X=1",
    "cat <<'E'\nvim x\nE",
    "# vim",
    "",
  ];
  for (const line of cases) assert.equal(interactiveWhy(line, user), null, line);
});

test("the administrator is not asked for a password, but what sudo starts is looked at", () => {
  const root = { isRoot: true };
  assert.equal(interactiveWhy("sudo apt-get update", root), null);
  assert.match(interactiveWhy("sudo vim x", root) ?? "", /editor/);
  assert.match(interactiveWhy("sudo -u ann less x", root) ?? "", /cat/);
  assert.equal(interactiveWhy("su ann -c ls", root), null);
});
