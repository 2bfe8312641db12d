// Which files decide what a command does, and that an approval is for these as they are.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { JobSandbox } from "../../ports/jobs.ts";
import { plain } from "../danger/index.ts";
import { scriptDigests } from "./scripts.ts";
import { subjectOf, vetCommand } from "./vet.ts";

test("an approval is bound to the command, its folder, its sandbox and its scripts", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "everturn-scripts-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "x.sh"), "echo 1");
  const vet = async (change: { command?: string; cwd?: string; way?: JobSandbox; background?: boolean }) => {
    const { command = "sh x.sh", cwd = folder, way = null, background = false } = change;
    const what = { command, judgement: plain, way, cwd, userHome: null, background };
    const verdict = await vetCommand({ ...what, policy: "always", outside: false });
    return verdict.type === "approve" ? verdict : assert.fail(verdict.type);
  };
  const first = await vet({});
  assert.equal((await vet({})).bound, first.bound);
  const others: readonly Parameters<typeof vet>[0][] = [
    { command: "sh x.sh 2" },
    { cwd: tmpdir() },
    { way: "closed" },
    { way: "network" },
    { way: "past" },
    { background: true },
  ];
  for (const change of others) assert.notEqual((await vet(change)).bound, first.bound, JSON.stringify(change));
  assert.equal(first.what, `sh x.sh\n(in ${folder})`);
  const shown = async (way: JobSandbox) => (await vet({ way, background: true })).what.slice(first.what.length - 1);
  assert.equal(await shown("closed"), ", in a sandbox, without network, in the background)");
  assert.equal(await shown("network"), ", in a sandbox, with network, in the background)");
  assert.equal(await shown("past"), ", outside the sandbox, in the background)");
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
  assert.equal(subjectOf("make", "/w", [], true), "make (in /w, outside the sandbox)");
  assert.equal(subjectOf("sh x", "/w", [["x", "0123456789abcdef"]]), "sh x (in /w, x@0123456789ab)");
  assert.equal(subjectOf("a\nb", "/w", []), null);
  assert.equal(subjectOf("a".repeat(600), "/w", []), null);
});
