// The package as users get it: packed, installed globally on a machine whose own Node may be too old, and used. What is
// in it is whole: every chunk loads, the types compile, the program runs, serves its page, answers and stops.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { type Running, runGateway } from "./gateway.ts";
import { type Check, checkAgents } from "./agents.ts";
import { type Installed, packAndInstall } from "./install.ts";
import { userEnvironment } from "./machine.ts";

const root = join(import.meta.dirname, "..", "..");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly version: string };
const run = promisify(execFile);

/** Without the registry there is nothing to install from; where nobody promised one, that is no fault of ours. */
async function installOrWhyNot(): Promise<Installed | string> {
  try {
    return await packAndInstall();
  } catch (error) {
    if (process.env["CI"] !== undefined) throw error;
    return `the package could not be installed here: ${String(error)}`;
  }
}

void describe("installed package", { timeout: 20 * 60_000 }, () => {
  let installed: Installed | string = "not installed yet";
  before(async () => {
    installed = await installOrWhyNot();
  });
  after(() => {
    if (typeof installed !== "string") installed.remove();
  });

  const check: Check = (name, work) => {
    void test(name, (t) => (typeof installed === "string" ? t.skip(installed) : work(installed, t)));
  };

  check("the installation is silent and brings nothing but a Node", async ({ home, said }) => {
    assert.doesNotMatch(said, /EBADENGINE|deprecated|install script/i);
    assert.equal(readdirSync(join(home, "node_modules")).filter((name) => !name.startsWith(".")).length, 1);
  });

  check(
    "the tarball holds the program, its page, its types, its words and its terms, and nothing else",
    async ({ tarball }) => {
      const { stdout } = await run("tar", ["-tzf", tarball]);
      const files = stdout.trim().split("\n");
      for (const name of [
        "bin/everturn.js",
        "bin/attend.js",
        "bin/hold.js",
        "bin/kin.js",
        "dist/main.js",
        "dist/writer.js",
        "dist/seeker.js",
        "dist/file-worker.js",
        "dist/page/page.js",
        "dist/licenses.txt",
      ])
        assert.ok(files.includes(`package/${name}`), `${name} is missing`);
      assert.deepEqual(
        files.filter(
          (name) =>
            !/^package\/(?:bin|dist|package\.json|docs|README\.md|ARCHITECTURE\.md|AGENTS\.md|CHANGELOG\.md|SECURITY\.md|LICENSE)/.test(
              name,
            ),
        ),
        [],
      );
      assert.deepEqual(
        files.filter((name) => /\.map$|\.test\.|\/\.|(?<!\.d)\.ts$/.test(name)),
        [],
      );
    },
  );

  check("everturn --version, by the command that a user types", async ({ command }) => {
    const { stdout, stderr } = await run(command, ["--version"], { env: userEnvironment() });
    assert.deepEqual([stdout, stderr], [`${version}\n`, ""]);
  });

  check("everturn --version takes under 100 ms, or twice an empty Node where even that takes long", async (at) => {
    const env = userEnvironment();
    let [ours, empty] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    // In turns, and the fastest of each: whatever else the machine does slows both down.
    for (let i = 0; i < 15; i++) {
      ours = Math.min(ours, await taken(run(at.command, ["--version"], { env })));
      empty = Math.min(empty, await taken(run("node", ["-e", "0"], { env })));
    }
    assert.ok(ours <= Math.max(100, 2 * empty), `${ours.toFixed(0)} ms, an empty Node ${empty.toFixed(0)} ms`);
  });

  check("a wrong command says so with its exit code, through the launcher", async ({ command }) => {
    const failed = run(command, ["gateway", "rnu"], { env: userEnvironment() });
    await assert.rejects(failed, (error: Error & { code: number }) => error.code === 64);
  });

  check("every chunk of the bundle can be loaded by itself", async ({ home }) => {
    // These are programs, not parts of one: they wait for work as soon as they are loaded.
    const programs = ["main.js", "file-worker.js", "sandbox-runner.js"];
    const chunks = readdirSync(join(home, "dist")).filter((name) => name.endsWith(".js") && !programs.includes(name));
    assert.ok(chunks.length > 3, "there are chunks");
    for (const name of chunks) {
      const url = pathToFileURL(join(home, "dist", name)).href;
      const { stderr } = await run(process.execPath, ["--input-type=module", "-e", `await import("${url}")`]);
      assert.equal(stderr, "", name);
    }
  });

  check("authors find the library, the contract suites and their types", async ({ home, folder }) => {
    const project = join(folder, "author");
    mkdirSync(join(project, "node_modules"), { recursive: true });
    symlinkSync(home, join(project, "node_modules", "everturn"));
    symlinkSync(join(root, "node_modules", "@types"), join(project, "node_modules", "@types"));
    const undici = join(root, "node_modules", "undici-types");
    symlinkSync(undici, join(project, "node_modules", "undici-types"));
    writeFileSync(join(project, "package.json"), '{ "type": "module" }');
    writeFileSync(
      join(project, "author.ts"),
      `import { Fault, gateway, openSqliteStore, type Agent, type Platform, type Store, type Tool } from "everturn";
import { storeSuite } from "everturn/testing";
export const used: readonly unknown[] = [Fault, gateway, openSqliteStore, storeSuite];
export type Used = readonly [Agent, Platform, Store, Tool];
// @ts-expect-error the types are real ones, not any
export const wrong: number = gateway;
if (used.some((one) => typeof one !== "function")) throw new Error("an export is missing");
`,
    );
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    for (const module of ["nodenext", "preserve"]) {
      const settings = ["--noEmit", "--strict", "--target", "esnext", "--types", "node", "--module", module];
      await run(process.execPath, [tsc, ...settings, "author.ts"], { cwd: project }).catch(
        (error: { stdout: string }) => assert.fail(error.stdout),
      );
    }
    const { stderr } = await run(process.execPath, [join(project, "author.ts")], { cwd: project });
    assert.equal(stderr, "");
  });

  check(
    "S41 the gateway serves its page, answers, stops with its launcher, names who started that, and remembers",
    async (at, t) => {
      const first = await runGateway(t, at.command, join(at.folder, "home"));
      await isServingPage(first);
      const key = crypto.randomUUID();
      assert.deepEqual(await first.post("c1", { id: key, text: "hello" }), { status: "accepted" });
      const shown = await first.messages("c1", (all) => all.some((one) => one.role === "assistant"));
      assert.equal(shown[0]?.key, key);
      const { code, signal, err } = await first.stop("SIGTERM");
      assert.deepEqual([code, signal], [1, null], "nobody announced it");
      assert.doesNotMatch(err, /warning/i);
      const log = readFileSync(join(at.folder, "home", "logs", "gateway.log"), "utf8");
      assert.equal(log.match(/parent_pid=\d+/g)?.at(-1), `parent_pid=${process.pid}`);

      const second = await runGateway(t, at.command, join(at.folder, "home"));
      assert.deepEqual(await second.post("c1", { id: key, text: "hello" }), { status: "duplicate" });
      assert.deepEqual(await second.messages("c1", () => true), shown);
      assert.equal((await second.stop("SIGINT")).code, 0);
    },
  );

  checkAgents(check);
});

async function taken(work: Promise<unknown>): Promise<number> {
  const from = performance.now();
  await work;
  return performance.now() - from;
}

async function isServingPage(gateway: Running): Promise<void> {
  const html = await (await gateway.get("/")).text();
  assert.match(html, /<script src="page\.js">/);
  for (const [file, type] of Object.entries({ "/page.js": "text/javascript", "/style.css": "text/css" })) {
    const answer = await gateway.get(file);
    assert.deepEqual([answer.status, answer.headers.get("content-type")?.split(";")[0]], [200, type]);
    assert.ok((await answer.text()).length > 1_000);
  }
}
