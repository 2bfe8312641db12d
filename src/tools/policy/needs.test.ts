// What a command is guessed to need. A wrong guess costs a question or a failure in the sandbox, never more.

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Needs, needsOf } from "./needs.ts";
import { remoteNeeds } from "./remotes.ts";

const places = { workspace: "/w", cwd: "/w/app", userHome: "/home/ann" };
const nothing: Needs = {
  hosts: [],
  paths: [],
  credentials: [],
  git: [],
  outside: [],
  deletes: [],
  publishes: false,
};
const ssh = (host: string) => ({ kind: "ssh-agent", host }) as const;
const npm = ["*.npmjs.org"];
const pypi = ["pypi.org", "files.pythonhosted.org"];
const read = (path: string) => [{ path, access: "read", isMoved: false }] as const;
const write = (path: string, isMoved = false) => [{ path, access: "write", isMoved }] as const;

const cases: readonly (readonly [line: string, needs: Partial<Needs>])[] = [
  ["ls -la", {}],
  ["rm -rf build", { deletes: ["build"] }],
  ["npm test", {}],
  ["npm run build", {}],
  ["npm ci", { hosts: npm }],
  ["cd web && npm install left-pad", { hosts: npm }],
  ["npm ci --offline", {}],
  ["npm publish", { hosts: npm, publishes: true }],
  ["pip install requests", { hosts: pypi }],
  ["python3 -m pip install -r requirements.txt", { hosts: pypi }],
  ["python3 -m venv .venv && .venv/bin/pip install x", { hosts: pypi }],
  ["python3 -m venv .venv", {}],
  ["pip install --no-index x", {}],
  ["go build ./... && go test ./...", {}],
  ["go mod tidy", { hosts: ["proxy.golang.org", "sum.golang.org"] }],
  ["go mod init x", {}],
  ["cargo add serde", { hosts: ["index.crates.io", "static.crates.io"] }],
  ["curl -sS https://a.example/x -o x", { hosts: ["a.example"] }],
  ["curl a.example:8443/x", { hosts: ["a.example:8443"] }],
  ["curl -o data.json https://a.example/", { hosts: ["a.example"] }],
  ["curl http://localhost:3000/", {}],
  ["curl http://127.0.0.1:3000/ http://[::1]/", {}],
  ["wget https://a.example:444/x", { hosts: ["a.example:444"] }],
  ["bash -c 'npm ci'", { hosts: npm }],
  ["env A=1 timeout 60 npm ci", { hosts: npm }],
  ["git status && git commit -m 'see https://a.example'", {}],
  ["git clone https://github.com/a/b", { hosts: ["github.com"] }],
  ["git clone git@github.com:a/b.git", { hosts: ["github.com:22"], credentials: [ssh("github.com")] }],
  ["git clone ssh://git@a.example:2222/b", { hosts: ["a.example:2222"], credentials: [ssh("a.example")] }],
  ["git push", { git: [{ verb: "push", remote: null, folder: "/w/app" }], publishes: true }],
  ["git -C ../lib push up main", { git: [{ verb: "push", remote: "up", folder: "/w/lib" }], publishes: true }],
  ["git pull --rebase origin", { git: [{ verb: "fetch", remote: "origin", folder: "/w/app" }] }],
  [
    "git push https://a.example/b main",
    { hosts: ["a.example"], credentials: [{ kind: "git-credential", host: "a.example" }], publishes: true },
  ],
  ["git remote add origin git@github.com:a/b.git", {}],
  ["git clean -fdx", { deletes: ["files that git does not track"] }],
  ["ssh -T -o BatchMode=yes a.example ls", { hosts: ["a.example:22"], credentials: [ssh("a.example")] }],
  ["scp x ann@a.example:y", { hosts: ["a.example:22"], credentials: [ssh("a.example")] }],
  ["cat /srv/x", { paths: read("/srv/x") }],
  ["cat ~/notes.txt", { paths: read("/home/ann/notes.txt") }],
  ["cat $HOME/notes.txt", { paths: read("/home/ann/notes.txt") }],
  ["ls ../../other", { paths: read("/other") }],
  ["ls ../lib", {}],
  ["ls /srv/*.log", { paths: read("/srv") }],
  ["cat /usr/share/x /etc/os-release /proc/cpuinfo /tmp/y", {}],
  ["echo x > /srv/x", { paths: write("/srv/x") }],
  ["echo x >/tmp/x 2>/dev/null", {}],
  ["rm -rf /srv/old", { paths: write("/srv/old", true), deletes: ["/srv/old"] }],
  ["cd /srv && rm -rf old", { paths: write("/srv/old", true), deletes: ["/srv/old"] }],
  ["rm -rf ../other/x", { deletes: ["../other/x"] }],
  ["rm -rf ../../other", { paths: write("/other", true), deletes: ["/other"] }],
  ["busybox rm /srv/a", { paths: write("/srv/a", true), deletes: ["/srv/a"] }],
  ["sudo -n rm -rf /srv/old", { outside: ["sudo"], deletes: ["/srv/old"] }],
  ["sudo -u ann A=1 rm -rf /srv/old", { outside: ["sudo"], deletes: ["/srv/old"] }],
  ["sudo sh -c 'cd / && rm -rf /srv/old'", { outside: ["sudo"], deletes: ["/srv/old"] }],
  ["cat list | xargs rm -rf", { deletes: ["the files it is given"] }],
  ["find /srv -exec /bin/rm {} +", { paths: write("/srv"), deletes: ["what it finds in /srv"] }],
  ["rsync -a --delete a/ /srv/b/", { paths: write("/srv/b"), deletes: ["what the source lacks in /srv/b/"] }],
  ["cp a /srv/b", { paths: write("/srv/b") }],
  ["cp /srv/b .", { paths: read("/srv/b") }],
  ["tar -xf a.tar -C /srv/x", { paths: write("/srv/x") }],
  ["find /srv -name x -delete", { paths: write("/srv"), deletes: ["what it finds in /srv"] }],
  ["dd if=/dev/zero of=/srv/x", { paths: write("/srv/x") }],
  ["sudo apt install jq", { outside: ["sudo"] }],
  ["echo hi && docker ps", { outside: ["docker"] }],
  ["systemctl restart x", { outside: ["systemctl"] }],
  ["echo sudo make me a sandwich", {}],
  ["cat <<EOF\nsudo rm\nEOF", {}],
];

test("what commands need", () => {
  for (const [line, needs] of cases) assert.deepEqual(needsOf(line, places), { ...nothing, ...needs }, line);
});

test("what git needs for its remotes", () => {
  const printed = [
    "origin\tgit@github.com:a/b.git (fetch)",
    "origin\tgit@github.com:a/b.git (push)",
    "up\thttps://a.example/b (fetch)",
    "up\thttps://b.example:8443/b (push)",
    "disk\t/srv/git/b (fetch)",
    "disk\t/srv/git/b (push)",
    "broken",
  ].join("\n");
  const of = (verb: "push" | "fetch", remote: string | null) => remoteNeeds({ verb, remote, folder: "/w" }, printed);
  const none = { hosts: [], credentials: [], paths: [] };
  assert.deepEqual(of("push", null), { ...none, hosts: ["github.com:22"], credentials: [ssh("github.com")] });
  assert.deepEqual(of("fetch", "up"), { ...none, hosts: ["a.example"] });
  assert.deepEqual(of("push", "up"), {
    ...none,
    hosts: ["b.example:8443"],
    credentials: [{ kind: "git-credential", host: "b.example" }],
  });
  assert.deepEqual(of("push", "disk"), { ...none, paths: [{ path: "/srv/git/b", access: "write" }] });
  assert.deepEqual(of("push", "none"), none);
  assert.deepEqual(remoteNeeds({ verb: "push", remote: null, folder: "/w" }, ""), none);
});
