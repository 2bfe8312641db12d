// A gateway in a real terminal that is closed under it: it stops as it should, and one that does not belong to the terminal
// any more goes on, although nobody can hear what it says.

import assert from "node:assert/strict";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { openSqliteArchive } from "../../src/stores/sqlite/index.ts";
import { client } from "./client.ts";
import { atEnd, environmentOf, isAlive, newHome, root, signal, start, stateOf, until, whenReady } from "./stage.ts";

/** `script` gives the command a terminal of its own; a quoted word is what its shell understands. */
async function inTerminal(t: TestContext, home: string, before = "") {
  const command = `${before}'${process.execPath}' src/main.ts gateway run`;
  const words = ["--quiet", "--flush", "--return", "--command", command, "/dev/null"];
  const terminal = await whenReady(start(t, "script", words, { cwd: root, env: environmentOf(home) }));
  return { ...terminal, gateway: stateOf(home).pid };
}

async function lastBoot(home: string) {
  const archive = openSqliteArchive(join(home, "state.db"));
  try {
    const [boot] = await archive.lastBoots(1);
    return boot;
  } finally {
    archive.close();
  }
}

test("a closed terminal is a stop that nobody announced, and it comes to its end", async (t) => {
  const home = newHome(t);
  const { pid, gateway } = await inTerminal(t, home);
  signal(pid, "SIGKILL");
  await until(
    () => isAlive(gateway),
    (alive) => !alive,
    "it ended with its terminal",
  );
  const boot = await lastBoot(home);
  assert.deepEqual([boot?.stop?.class, boot?.stop?.clean, boot?.story.exitCode], ["unexpected", true, 1]);
});

test("a gateway that has left its terminal goes on answering when that is closed", async (t) => {
  const home = newHome(t);
  const { pid, gateway, url, token } = await inTerminal(t, home, "exec setsid --wait ");
  atEnd(t, () => signal(gateway, "SIGKILL"));
  signal(pid, "SIGKILL");
  await until(
    () => isAlive(pid),
    (alive) => !alive,
    "the terminal is gone",
  );
  const ask = client({ url, token });
  assert.equal(await ask.send("c1", "m1", "hello"), "accepted");
  await until(
    () => ask.transcript("c1"),
    (said) => said.some(({ role }) => role === "assistant"),
    "the answer",
  );
  assert.ok(isAlive(gateway));
});
