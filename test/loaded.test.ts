// How much code a gateway loads before it is ready, measured on the real thing: the bundle as it is published, started,
// with every module that any of its threads loads written down. Start-up time follows this figure.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { type TestContext, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { buildProgram } from "../scripts/build.ts";

const root = join(import.meta.dirname, "..");
const loadedMaxBytes = 400_000;

/** Written down when the gateway says where it is. */
const greeted = "greeted";

/** Runs in every thread, before anything else. */
const hook = (log: string): string => `
import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { isMainThread } from "node:worker_threads";
const note = (text) => appendFileSync(${JSON.stringify(log)}, (isMainThread ? "main " : "thread ") + text + "\\n");
registerHooks({
  load(url, context, next) {
    if (url.startsWith("file:")) note(url);
    return next(url, context);
  },
});
const write = process.stdout.write;
process.stdout.write = function (text, ...rest) {
  if (String(text).includes("http://")) note(${JSON.stringify(greeted)});
  return write.call(this, text, ...rest);
};
`;

async function planted(t: TestContext): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "everturn-loaded-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  mkdirSync(join(folder, "home"), { mode: 0o700 });
  cpSync(join(root, "package.json"), join(folder, "package.json"));
  writeFileSync(join(folder, "hook.mjs"), hook(join(folder, "loaded.txt")));
  await buildProgram(join(folder, "dist"));
  return folder;
}

/** By any thread, but by the main one only until it had said that it is running. */
function loadedSoFar(folder: string): readonly string[] {
  const lines = readFileSync(join(folder, "loaded.txt"), "utf8").trim().split("\n");
  const ready = lines.indexOf(`main ${greeted}`);
  assert.ok(ready > 0);
  const counted = lines.filter((line, i) => i < ready || line.startsWith("thread "));
  return counted.map((line) => line.slice(line.indexOf(" ") + 1));
}

/** Resolves with what was loaded when the gateway had said that it is running. */
async function loadedUntilReady(t: TestContext, folder: string, more: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const environment = { ...process.env, ...more, EVERTURN_HOME: join(folder, "home"), EVERTURN_CONTROL__PORT: "0" };
  const hookUrl = pathToFileURL(join(folder, "hook.mjs")).href;
  const gateway = spawn(process.execPath, ["--import", hookUrl, join(folder, "dist", "main.js"), "gateway", "run"], {
    env: { ...environment, HOME: join(folder, "home"), NODE_COMPILE_CACHE: "" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(gateway, "exit");
  t.after(async () => {
    gateway.kill("SIGTERM");
    await ended;
  });
  let said = "";
  gateway.stderr.setEncoding("utf8").on("data", (text: string) => (said += text));
  for await (const line of createInterface({ input: gateway.stdout })) {
    const origin = /http:\/\/[\w.:[\]]+/.exec(line)?.[0];
    if (origin === undefined) continue;
    assert.equal((await fetch(`${origin}/readyz`)).status, 200);
    // The writer's thread may stand a little later; its code is counted all the same.
    let loaded = loadedSoFar(folder);
    while (!loaded.some((url) => url.endsWith("/writer.js"))) {
      await sleep(20);
      loaded = loadedSoFar(folder);
    }
    return loaded.map((url) => fileURLToPath(url));
  }
  throw new Error(`the gateway ended before it was ready: ${said}`);
}

const agents: readonly (readonly [name: string, env: NodeJS.ProcessEnv])[] = [
  ["without a model", {}],
  ["with a model and its tools", { EVERTURN_AGENT__MODEL: "openai/x", EVERTURN_AGENT__API_KEY: "no-key-at-all" }],
];

for (const [name, env] of agents) {
  void test(`a gateway ${name} loads at most 400 kB of code before it is ready`, { timeout: 60_000 }, async (t) => {
    const loaded = await loadedUntilReady(t, await planted(t), env);
    const files = loaded.filter((file) => basename(file) !== "hook.mjs");
    // A file that two threads load counts twice, because both pay for it.
    const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
    const names = files.map((file) => `${basename(file)} ${statSync(file).size}`);
    t.diagnostic(`${bytes} bytes in ${files.length} files: ${names.join(", ")}`);
    for (const entry of ["main.js", "writer.js"])
      assert.ok(
        files.some((file) => basename(file) === entry),
        `${entry} was not loaded`,
      );
    assert.ok(bytes <= loadedMaxBytes, `${bytes} bytes are loaded before ready:\n${names.join("\n")}`);
  });
}
