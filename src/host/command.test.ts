// A command always answers: what it said, that it failed, that it is missing, or that its time was up.

import assert from "node:assert/strict";
import { test } from "node:test";
import { run } from "./command.ts";

const script = (text: string, limitMs = 30_000) => run(process.execPath, ["-e", text], limitMs);

test("a command answers with what it said and how it ended", async () => {
  assert.deepEqual(await script('process.stdout.write("a"); process.stderr.write("b")'), {
    code: 0,
    out: "a",
    err: "b",
  });
  assert.deepEqual(await script("process.exitCode = 3; process.stdin.resume()"), { code: 3, out: "", err: "" });
});

test("one that is missing, cannot be, or hangs answers too", async () => {
  const missing = await run("everturn-has-no-such-program", [], 1_000);
  assert.equal(missing.code, null);
  assert.match(missing.err, /ENOENT/);
  const impossible = await run(process.execPath, ["nul\0"], 1_000);
  assert.equal(impossible.code, null);
  assert.match(impossible.err, /null bytes/);
  const begun = performance.now();
  const hung = await script('process.on("SIGTERM", () => {}); setInterval(() => {}, 1e6)', 200);
  assert.equal(hung.code, null);
  assert.ok(performance.now() - begun < 30_000);
});
