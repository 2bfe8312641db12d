// From what was typed to what is printed and the exit code: help, faults as text and as JSON, and homes that cannot be.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { makeWorkspace, markWorkspace } from "../host/workspaces.ts";
import type { Doors } from "./context.ts";
import { runCommand } from "./index.ts";

async function type(...argv: readonly string[]) {
  const out: string[] = [];
  const err: string[] = [];
  const never = () => assert.fail("no door is opened here");
  const doors: Doors = {
    version: "1.2.3",
    runGateway: never,
    copyStore: never,
    readCopy: never,
    readBoots: never,
    lookAtStore: never,
    lookAtAgent: never,
  };
  const output = {
    out: (text: string) => void out.push(text),
    err: (text: string) => void err.push(text),
    columns: 80,
    tty: false,
    colour: false,
  };
  const code = await runCommand(argv, output, doors);
  return { code, out: out.join("\n"), err: err.join("\n") };
}

function newFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "everturn-cli-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

test("version and help are results, wrong words are not", async () => {
  assert.deepEqual(await type("--version"), { code: 0, out: "1.2.3", err: "" });
  assert.match(
    (await type("gateway", "stop", "--help")).out,
    /^Usage: everturn gateway stop \[options\]\n\nStop the gateway/,
  );
  assert.match((await type("gateway", "--help")).out, /^Usage: everturn gateway <command> \[options\]\n\nCommands:\n/);
  assert.match(
    (await type("pair", "--help")).out,
    /^Usage: everturn pair \[command\] \[options\]\n +everturn pair means everturn pair list\.\n\nCommands:\n/,
  );
  const logs = await type("logs", "--help");
  assert.match(logs.out, /--follow, -f +go on with what is written/);
  const wrong = await type("gateway", "statsu");
  assert.deepEqual([wrong.code, wrong.out], [64, ""]);
  assert.match(
    wrong.err,
    /no command `gateway statsu`\. Did you mean `gateway status`\? `everturn gateway --help` shows/,
  );
});

test("hooks are shown under the names of config.yaml, without what cannot be written there", async (t) => {
  const home = newFolder(t);
  writeFileSync(join(home, "config.yaml"), "platforms: { hooks: { ci: { secret: planted-secret-of-ci } } }\n");
  const { code, out } = await type("config", "show", "--home", home);
  assert.equal(code, 0);
  assert.deepEqual(
    out
      .split("\n")
      .filter((line) => line.startsWith("platforms.hooks."))
      .map((line) => line.replace(/ +/, " ")),
    ['platforms.hooks.ci.secret "[secret]"', 'platforms.hooks.ci.style "everturn"', 'platforms.hooks.ci.role "person"'],
  );
});

test("a fault is one sentence, or one object where JSON was asked for", async (t) => {
  const home = join(newFolder(t), "home");
  for (const words of [["sessions"], ["turns", "show", "x"], ["outbox"], ["gateway", "resume"]]) {
    const plain = await type(...words, "--home", home);
    assert.equal(plain.code, 1);
    assert.match(
      plain.err,
      new RegExp(`^No gateway is running for ${home}\\. Start one with \`everturn gateway start`),
    );
    const { code, out, err } = await type(...words, "--json", "--home", home);
    assert.deepEqual([code, out], [1, ""]);
    assert.deepEqual(JSON.parse(err), { error: { code: "not-found", message: plain.err } });
  }
  const usage = await type("sessions", "list", "--json", "--limit", "-1");
  assert.equal(usage.code, 64);
  assert.equal((JSON.parse(usage.err) as { error: { code: string } }).error.code, "usage");
});

test("words of others in a fault cannot steer the terminal", async () => {
  const { err } = await type("gateway", "x\u001B[2Jy");
  assert.ok(!err.includes("\u001B"), err);
});

test("a home that is a file, or below one, or below proc, is refused at once with what to do", async (t) => {
  const file = join(newFolder(t), "file");
  writeFileSync(file, "");
  const homes: [string, RegExp][] = [
    [file, /is a file, not a folder/],
    [join(file, "x"), /because .*file is a file/],
    ...(process.platform === "linux" ? [["/proc/x", /proc file system/] as [string, RegExp]] : []),
  ];
  for (const [home, says] of homes)
    for (const words of [
      ["sessions"],
      ["gateway", "stop"],
      ["gateway", "start"],
      ["why"],
      ["logs"],
      ["doctor"],
      ["restore", file],
    ]) {
      const told = await type(...words, "--home", home);
      assert.equal(told.code, 78, words.join(" "));
      assert.match(told.err, says);
      assert.match(told.err, /Set EVERTURN_HOME \(or --home\) to a folder on a local disk/);
    }
});

test("workspaces are listed with their persons and sizes, and a mark is taken back by the beginning of an id", async (t) => {
  const home = newFolder(t);
  const root = join(home, "workspaces");
  assert.equal((await type("workspaces", "--home", home)).out, "No workspace has been used yet.");
  const { id, folder } = await makeWorkspace(root, "telegram/bot/42");
  writeFileSync(join(folder, "notes.txt"), "12345");
  await markWorkspace(root, id, true);
  const listed = await type("workspaces", "list", "--json", "--home", home);
  assert.deepEqual(JSON.parse(listed.out), {
    workspaces: [{ id, person: "telegram/bot/42", folder, isMarked: true, bytes: 5, isWhole: true }],
  });
  assert.match((await type("workspaces", "--home", home)).out, /telegram\/bot\/42 +5 B +yes/);
  assert.equal((await type("workspaces", "unmark", "telegram-bot", "--home", home)).code, 0);
  assert.match((await type("workspaces", "--home", home)).out, /telegram\/bot\/42 +5 B +no/);
  const none = await type("workspaces", "unmark", "nothing", "--home", home);
  assert.notEqual(none.code, 0);
  assert.match(none.err, /There is no workspace nothing\. List them with `everturn workspaces`/);
});
