// The network of a sandbox: only by the proxy, only to granted hosts, and only as long as its program lives.
// Needs bubblewrap and the right to make namespaces; the internet is this machine.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { WalledCommand } from "../../src/ports/sandbox.ts";
import { atEnd, until } from "../process/stage.ts";
import { granting, newFolder, sandboxMissing, stageSandbox } from "./sandbox-stage.ts";

const skip = await sandboxMissing();

async function startWeb(t: TestContext): Promise<number> {
  const server = createServer((request, response) => response.end(`reached ${request.headers.host}`));
  server.listen(0, "127.0.0.1");
  atEnd(t, () => server.close());
  await until(() => server.listening, Boolean, "it listens");
  return (server.address() as AddressInfo).port;
}

/** With the runner that has an internet of its own. */
function staged({ program, words, env }: WalledCommand): WalledCommand {
  const runner = words.findIndex((word) => word.endsWith("runner/main.ts"));
  assert.equal(runner, 0);
  return { program, words: [join(import.meta.dirname, "sandbox-runner.ts"), ...words.slice(1)], env };
}

function ended({ program, words, env }: WalledCommand): Promise<string> {
  return new Promise((resolve) => {
    execFile(program, [...words], { env: { ...env } }, (_error, out, err) => resolve(`${out}${err}`));
  });
}

test("granted hosts are reached by the proxy, and nothing else is", { skip }, async (t) => {
  const port = await startWeb(t);
  const { sandbox, view, home } = stageSandbox(t);
  const script = [
    `curl -sS http://example.org:${port}/`,
    `curl -sS -x socks5h://127.0.0.1:17433 http://example.org:${port}/`,
    `curl -sS http://other.org:${port}/`,
    `curl -sS http://private.example.net:${port}/`,
    `curl -sS --noproxy '*' --max-time 5 http://127.0.0.1:${port}/`,
    `curl -sS --noproxy '*' --max-time 5 http://93.184.216.34:${port}/`,
    `curl -sS http://127.0.0.1:${port}/`,
    `/run/everturn/node -e 'fetch("http://example.org:${port}/").then((r) => r.text()).then(console.log)'`,
    `printf 'GET / HTTP/1.0\\r\\nHost: ssh\\r\\n\\r\\n' | /run/everturn/node /run/everturn/package/bin/forward.js connect /run/everturn/sockets/proxy example.org ${port} | tail -1`,
    "exit 5",
  ].join("; echo; ");
  const walled = staged(
    await sandbox.wrap(["bash", "-c", script], view(granting({ hosts: ["example.org", "*.example.net"] }))),
  );
  const lines = (await ended(walled)).split("\n").filter(Boolean);
  assert.deepEqual(
    lines.map((line) => line.replaceAll(String(port), "PORT").replace(/ after \d+ ms.*/, "")),
    [
      "reached example.org:PORT",
      "reached example.org:PORT",
      "The sandbox has no access to other.org:PORT. Ask for this host to be allowed.",
      "private.example.net is not a public address. The sandbox reaches the public internet only.",
      "reached example.org:PORT",
      "reached ssh",
      "curl: (7) Failed to connect to 127.0.0.1 port PORT",
      "curl: (7) Failed to connect to 93.184.216.34 port PORT",
      "curl: (7) Failed to connect to 127.0.0.1 port PORT",
    ],
  );
  assert.deepEqual(readdirSync(join(home, "sandbox", "sockets")), []);
});

test("the real proxy refuses this machine and its neighbors, also where every host is granted", { skip }, async (t) => {
  const port = await startWeb(t);
  const { run } = stageSandbox(t);
  const script = [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, "169.254.169.254", "10.0.0.1"]
    .map((host) => `curl -sS --noproxy '' -g http://${host}/`)
    .join("; ");
  const { said } = await run(script, granting({ hosts: ["*"] }));
  assert.equal(said.match(/is not a public address/g)?.length, 5, said);
  assert.doesNotMatch(said, /reached/);
});

test("the proxy lives as long as its program, whoever started it", { skip }, async (t) => {
  const port = await startWeb(t);
  const { sandbox, view, home, workspace } = stageSandbox(t);
  const script = `touch up; until [ -e go ]; do sleep 0.05; done; curl -sS http://example.org:${port}/ >got; sleep 600`;
  const walled = staged(await sandbox.wrap(["bash", "-c", script], view(granting({ hosts: ["*"] }))));
  // Its parent is gone when it asks.
  const starter = `const { spawn } = require("node:child_process");
    const [program, ...words] = process.argv.slice(1);
    const child = spawn(program, words, { detached: true, stdio: "ignore" });
    console.log(child.pid); child.unref();`;
  const words = ["-e", starter, walled.program, ...walled.words];
  const pid = await new Promise<number>((resolve, reject) => {
    execFile(process.execPath, words, { env: { ...walled.env } }, (error, out, err) => {
      if (error === null && Number(out) > 1) resolve(Number(out));
      else reject(new Error(`it could not be started: ${out}${err}`, { cause: error }));
    });
  });
  atEnd(t, () => void (isThere(pid) && process.kill(-pid, "SIGKILL")));
  await until(() => existsSync(join(workspace, "up")), Boolean, "it runs");
  writeFileSync(join(workspace, "go"), "");
  const got = () => (existsSync(join(workspace, "got")) ? readFileSync(join(workspace, "got"), "utf8") : "");
  await until(got, (text) => text !== "", "it has an answer");
  assert.equal(got(), `reached example.org:${port}`);
  process.kill(pid, "SIGTERM");
  await until(
    () => readdirSync(join(home, "sandbox", "sockets")).length,
    (n) => n === 0,
    "the runner has tidied up",
  );
});

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
    throw error;
  }
}

test("a granted password reaches git for its host, and nothing else of the user does", { skip }, async (t) => {
  const userHome = newFolder(t, "user");
  const helper =
    '[credential]\n\thelper = "!f() { echo username=me; echo password=PLANTED; }; f"\n[user]\n\tname = Ann\n';
  writeFileSync(join(userHome, ".gitconfig"), helper);
  const { run, home, workspace } = stageSandbox(t, userHome);
  await run("git init -q . && git config credential.helper '!touch /tmp/planted ~/planted; :' && touch ~/kept");
  const fill = (host: string) =>
    `printf 'protocol=https\\nhost=${host}\\n\\n' | GIT_TERMINAL_PROMPT=0 git credential fill 2>&1`;
  const script = `${fill("example.org")}; ${fill("other.org")} | grep -c PLANTED; git config user.name; env | grep -c PLANTED; ls -A ~ /tmp`;
  const grant = granting({ hosts: ["example.org"], credentials: [{ kind: "git-credential", host: "example.org" }] });
  const { said } = await run(script, grant);
  assert.match(said, /^protocol=https\nhost=example\.org\nusername=me\npassword=PLANTED\n0\nAnn\n0\n/);
  assert.doesNotMatch(said, /kept/, "what an earlier call left does not meet the password");
  assert.equal(existsSync("/tmp/planted") || existsSync(join(userHome, "planted")), false);
  assert.doesNotMatch((await run(`${fill("example.org")}`)).said, /PLANTED/);
  assert.deepEqual(readdirSync(join(home, "sandbox", "empty")), []);
  assert.ok(existsSync(join(workspace, ".git")));
});
