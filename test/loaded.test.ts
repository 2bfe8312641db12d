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
const loadedMaxBytes = 300_000;

/** Runs in every thread, before anything else. */
const hook = (log: string): string => `
import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";
registerHooks({
  load(url, context, next) {
    if (url.startsWith("file:")) appendFileSync(${JSON.stringify(log)}, url + "\\n");
    return next(url, context);
  },
});
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

function loadedSoFar(folder: string): readonly string[] {
  return readFileSync(join(folder, "loaded.txt"), "utf8").trim().split("\n");
}

/** Resolves with what was loaded when the gateway had said that it is running, and was asked whether it is ready. */
async function loadedUntilReady(t: TestContext, folder: string): Promise<readonly string[]> {
  const environment = { ...process.env, EVERTURN_HOME: join(folder, "home"), EVERTURN_CONTROL__PORT: "0" };
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

void test("a gateway loads at most 300 kB of code before it is ready", { timeout: 60_000 }, async (t) => {
  const loaded = await loadedUntilReady(t, await planted(t));
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
