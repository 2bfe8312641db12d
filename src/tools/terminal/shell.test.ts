// Which shell reads a command line.

import assert from "node:assert/strict";
import { test } from "node:test";
import { shellFor } from "./shell.ts";

test("bash where there is one, else what every system has", () => {
  const at = (path: string) => (one: string) => one === path;
  assert.deepEqual(shellFor("ls", "linux", at("/bin/bash")).words, ["/bin/bash", "-c", "ls"]);
  assert.deepEqual(shellFor("ls", "darwin", at("/usr/local/bin/bash")).words, ["/usr/local/bin/bash", "-c", "ls"]);
  assert.deepEqual(shellFor("ls", "linux", () => false).words, ["/bin/sh", "-c", "ls"]);
});

test("the shell of Windows gets the line as it is, in quotes that it takes off again", () => {
  const { words, isVerbatim } = shellFor('dir "C:\\My Files" & echo 1', "win32", () => false);
  assert.deepEqual(words, ["cmd.exe", "/d", "/s", "/c", '"dir "C:\\My Files" & echo 1"']);
  assert.equal(isVerbatim, true);
});
