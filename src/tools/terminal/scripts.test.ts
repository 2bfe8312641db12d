// Which files decide what a command does, and that an approval is for these as they are.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { scriptDigests } from "./scripts.ts";
import { subjectOf, vetCommand } from "./vet.ts";

test("an approval is bound to the command, its folder, its sandbox and its scripts", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "everturn-scripts-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "x.sh"), "echo 1");
  const vet = async (change: {
    command?: string;
    cwd?: string;
    isSandboxed?: boolean;
    background?: boolean;
    network?: boolean;
  }) => {
    const { command = "sh x.sh", cwd = folder, isSandboxed = false, background = false, network = false } = change;
    const places = { workspace: folder, home: "/h", userHome: null, cwd, isSandboxed };
    const verdict = await vetCommand({ command, places, background, network, policy: "always", outside: false });
    return verdict.type === "approve" ? verdict : assert.fail(verdict.type);
  };
  const first = await vet({});
  assert.equal((await vet({})).bound, first.bound);
  const others = [
    { command: "sh x.sh 2" },
    { cwd: tmpdir() },
    { isSandboxed: true },
    { background: true },
    { network: true },
  ];
  for (const change of others) assert.notEqual((await vet(change)).bound, first.bound, JSON.stringify(change));
  assert.match(first.what, /^sh x\.sh\n\(in /);
  writeFileSync(join(folder, "x.sh"), "rm -rf something");
  const changed = await vet({});
  assert.notEqual(changed.bound, first.bound);
  assert.notEqual(changed.subject, first.subject, "what was always allowed is not what this script does");
  const names = (await scriptDigests("cd /; sh $PWD/none; cd '" + folder + "' && ./x.sh", folder)).map(
    ([name]) => name,
  );
  assert.deepEqual(names, ["x.sh"], "by the name it has in its folder");
  assert.equal((await scriptDigests("sh missing.sh", folder)).length, 0);
});

test("what is allowed for good can be read in a list", () => {
  assert.equal(subjectOf("make", "/w", []), "make (in /w)");
  assert.equal(subjectOf("sh x", "/w", [["x", "0123456789abcdef"]]), "sh x (in /w, x@0123456789ab)");
  assert.equal(subjectOf("a\nb", "/w", []), null);
  assert.equal(subjectOf("a".repeat(600), "/w", []), null);
});
