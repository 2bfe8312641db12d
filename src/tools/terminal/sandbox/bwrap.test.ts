// The words for bubblewrap, and when a sandbox is used.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { type View, bwrapWords } from "./bwrap.ts";
import { hiddenPaths } from "./hidden.ts";
import { decideSandbox, openSandbox, sandboxWarning } from "./sandbox.ts";

const view: View = {
  workspace: "/home/ann/.everturn/workspace",
  cwd: "/home/ann/.everturn/workspace/a",
  scratch: "/home/ann/.everturn/tmp/a1",
  network: false,
  hidden: [
    { path: "/home/ann/.everturn", kind: "folder" },
    { path: "/home/ann/.netrc", kind: "file" },
  ],
};

/** Where some words stand in a row; -1 when they do not. */
function at(words: readonly string[], ...wanted: readonly string[]): number {
  return words.findIndex((_, i) => wanted.every((word, j) => words[i + j] === word));
}

test("a command has no rights, and its name spaces end with it", () => {
  const words = bwrapWords(view);
  for (const word of ["--unshare-user", "--unshare-pid", "--unshare-net", "--new-session", "--die-with-parent"])
    assert.ok(words.includes(word), word);
  assert.ok(at(words, "--uid", "1000") >= 0 && at(words, "--gid", "1000") >= 0 && at(words, "--cap-drop", "ALL") >= 0);
  assert.equal(words.at(-1), "--");
  assert.ok(at(words, "--chdir", view.cwd) >= 0);
  assert.equal(bwrapWords({ ...view, network: true }).includes("--unshare-net"), false);
});

test("what lies inside of something else is mounted after it", () => {
  const words = bwrapWords(view);
  const everything = at(words, "--ro-bind", "/", "/");
  const home = at(words, "--tmpfs", "/home/ann/.everturn");
  const workspace = at(words, "--bind", view.workspace, view.workspace);
  const closed = at(words, "--remount-ro", "/home/ann/.everturn");
  assert.ok(everything >= 0 && everything < home && home < workspace && workspace < closed);
  assert.ok(at(words, "--ro-bind", "/dev/null", "/home/ann/.netrc") > everything);
  assert.ok(
    at(words, "--bind", "/home/ann/.everturn/tmp/a1", "/tmp") > everything && at(words, "--tmpfs", "/run") > everything,
  );
  // The other way round: the home inside of the workspace stays hidden.
  const around = bwrapWords({ ...view, workspace: "/home/ann", cwd: "/home/ann" });
  assert.ok(at(around, "--bind", "/home/ann", "/home/ann") < at(around, "--tmpfs", "/home/ann/.everturn"));
});

test("secrets are found where people keep them", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "everturn-hidden-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [home, workspace] = [join(folder, ".everturn"), join(folder, ".everturn", "workspace")];
  for (const name of [".ssh", ".config/gh", ".config/other", ".everturn/workspace", ".everturn/.ssh", "src"])
    mkdirSync(join(folder, name), { recursive: true });
  for (const name of [".netrc", ".bashrc", "notes.txt"]) writeFileSync(join(folder, name), "x");
  symlinkSync("/nowhere", join(folder, ".git-credentials"));
  const found = (await hiddenPaths({ home, workspace, userHome: folder })).filter((one) => one.path.startsWith(folder));
  const short = found.map(({ path, kind }) => `${path.slice(folder.length + 1)} ${kind}`).toSorted();
  assert.deepEqual(short, [".config/gh folder", ".everturn folder", ".netrc file", ".ssh folder"]);
});

const broken = { works: false, why: "it is not installed" } as const;

test("the choice and the trial decide together", async () => {
  assert.deepEqual(decideSandbox("auto", { works: true }), { type: "on" });
  assert.deepEqual(decideSandbox("bwrap", { works: true }), { type: "on" });
  assert.deepEqual(decideSandbox("off", { works: true }), { type: "off", warning: null });
  const without = decideSandbox("auto", broken);
  assert.ok(without.type === "off");
  assert.match(without.warning ?? "", /without a sandbox.*it is not installed.*apt install bubblewrap/);
  const missing = decideSandbox("bwrap", broken);
  assert.ok(missing.type === "missing");
  assert.match(missing.why, /it is not installed.*apt install bubblewrap.*agent\.tools\.terminal\.sandbox/);
  assert.equal(await sandboxWarning("off"), null);
  assert.match((await sandboxWarning("auto", () => Promise.resolve(broken))) ?? "", /without a sandbox/);
});

test("it is tried once, and not at all where it is off", async () => {
  let tries = 0;
  const trying = () => Promise.resolve({ works: ++tries > 0 } as const as { works: true });
  const places = { workspace: "/w", home: "/h", userHome: null };
  const sandbox = openSandbox("auto", places, trying);
  await Promise.all([sandbox.state(), sandbox.state()]);
  assert.equal(tries, 1);
  assert.deepEqual(await openSandbox("off", places, trying).state(), { type: "off", warning: null });
  assert.equal(tries, 1);
});
