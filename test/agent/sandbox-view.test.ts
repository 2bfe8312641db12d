// Attacks on the wall around programs, from inside of a real one: what can be seen and written.
// Needs bubblewrap and the right to make namespaces.

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { newFolder, sandboxMissing, stageSandbox } from "./sandbox-stage.ts";

const skip = await sandboxMissing();

test("only the workspace, HOME and /tmp can be written", { skip }, async (t) => {
  const { run, home, workspace } = stageSandbox(t);
  const places =
    "/ /etc /usr /usr/local /opt /bin /root /home /var /run /dev /sys /proc /proc/sys/kernel /run/everturn";
  const { said } = await run(
    `for p in ${places} ${home} ${home}/jobs; do touch $p/planted 2>/dev/null && echo WROTE $p; done
     find / -xdev -writable -type d 2>/dev/null | sort; touch ~/a /tmp/b c && echo fine; id -u; hostname`,
  );
  assert.equal(said, `/home/sandbox\n${workspace}\n/tmp\n/var/tmp\nfine\n1000\nsandbox\n`);
});

test("neither the gateway's home nor the user's own files are there", { skip }, async (t) => {
  const userHome = newFolder(t, "user");
  for (const folder of [".ssh", "src"]) mkdirSync(join(userHome, folder));
  for (const file of [".ssh/id_ed25519", ".netrc", "src/code.txt"]) writeFileSync(join(userHome, file), "PLANTED");
  const { run, home } = stageSandbox(t, userHome);
  for (const file of ["control.token", "config.yaml"]) writeFileSync(join(home, file), "PLANTED");
  const { said } = await run(
    `cat ${home}/* ${userHome}/.ssh/* ${userHome}/.netrc ${userHome}/src/* /proc/1/root${home}/* 2>/dev/null
     grep -rs PLANTED /proc/*/environ /root /home /etc; ls -A ${home} ; ls ${userHome} 2>&1`,
  );
  assert.equal(said, `workspace\nls: cannot access '${userHome}': No such file or directory\n`);
});
