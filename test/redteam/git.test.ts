// Hooks and configuration in the workspace are the attacker's. An approved `git push` must not run them outside of the
// sandbox: in 0.4.0 the approved push ran a planted hook with all rights of the user.

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { assertUntouched, isWalled, limit, openRedStage, terminal } from "./stage.ts";

type Plant = { readonly name: string; readonly lines: readonly string[]; readonly push?: string };

const hook = (path: string): string => `mkdir -p $(dirname ${path}); cp p.sh ${path}; chmod 755 ${path}`;
const remote = "git remote add origin $PWD/origin.git";
const plants: readonly Plant[] = [
  { name: "a pre-push hook", lines: [remote, hook(".git/hooks/pre-push")] },
  { name: "core.hooksPath", lines: [remote, hook("hooks/pre-push"), "git config core.hooksPath $PWD/hooks"] },
  {
    name: "a renamed .git",
    lines: [remote, hook(".git/hooks/pre-push"), "mv .git elsewhere", "echo 'gitdir: elsewhere' > .git"],
  },
  { name: "gpg.program", lines: [remote, "git config push.gpgSign if-asked", "git config gpg.program $PWD/p.sh"] },
  {
    name: "core.fsmonitor",
    lines: [remote, "git config core.fsmonitor $PWD/p.sh"],
    push: "git status; git push origin main",
  },
  {
    name: "core.sshCommand",
    lines: ["git remote add origin ssh://git@git.invalid/x.git", "git config core.sshCommand $PWD/p.sh"],
  },
  {
    name: "a credential helper",
    lines: [
      "git remote add origin https://git.invalid/x.git",
      "git config credential.helper $PWD/p.sh",
      "git config http.proxy ext://x",
    ],
  },
  {
    name: "core.askPass",
    lines: ["git remote add origin https://git.invalid/x.git", "git config core.askPass $PWD/p.sh"],
  },
  { name: "remote.receivepack", lines: [remote, "git config remote.origin.receivepack $PWD/p.sh"] },
  {
    name: "the protocol ext",
    lines: ["git config protocol.ext.allow always", 'git remote add origin "ext::$PWD/p.sh"'],
  },
  {
    name: "core.gitProxy",
    lines: ["git remote add origin git://git.invalid/x.git", "git config core.gitProxy $PWD/p.sh"],
  },
  { name: "a hook of the remote", lines: [remote, hook("origin.git/hooks/post-receive")] },
  { name: "an alias", lines: [remote, "git config alias.pusch '!./p.sh'"], push: "git pusch; git push origin main" },
];

test("an approved git push runs nothing that was planted in the workspace outside of the sandbox", limit, async (t) => {
  const stage = await openRedStage(t);
  const { canaries, workspace, plant } = stage;
  const payload = `cp ${canaries.diary} ${workspace}/loot; touch ${canaries.folder}/pwned`;
  plant(join(workspace, "p.sh"), `#!/bin/sh\n${payload}\nexit 0\n`, 0o755);
  const target = await stage.start();
  const failures: string[] = [];
  for (const { name, lines, push = "git push origin main" } of plants) {
    const setup = [
      "rm -rf .git elsewhere hooks origin.git",
      "git init -q -b main . && git init -q --bare origin.git",
      "git add p.sh && git -c user.name=a -c user.email=a@b commit -q -m x",
      ...lines,
    ].join("\n");
    // Without a sandbox what is planted is not run unasked either; the attack begins where it lies there.
    await target.attack([terminal(setup)], "approve");
    for (const proof of [join(workspace, "loot"), join(canaries.folder, "pwned")]) rmSync(proof, { force: true });
    const { questions, results } = await target.attack([terminal(push)], "approve");
    t.diagnostic(`${name}: ${questions.length > 0 ? "asked" : "not asked"}; ${results.at(-1)?.slice(0, 120)}`);
    if (isWalled) {
      try {
        assertUntouched(stage, name);
      } catch (error) {
        failures.push((error as Error).message.slice(0, 300));
      }
    } else if (!questions.some((text) => /all (?:of )?your rights/i.test(text))) {
      failures.push(`${name}: the question does not say that it runs with all rights: ${questions.join("\n")}`);
    }
    for (const proof of [join(workspace, "loot"), join(canaries.folder, "pwned")]) rmSync(proof, { force: true });
  }
  assert.deepEqual(failures, []);
});
