// The real program as people start it: real processes, real files, real signals. Few, because each costs a start.

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text as readAll } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";

const entry = fileURLToPath(new URL("./main.ts", import.meta.url));

type Started = { readonly child: ChildProcess; readonly err: Promise<string>; readonly exit: Promise<number | string> };

function newHome(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "everturn-main-"));
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return join(folder, "home");
}

function start(t: TestContext, home: string, words: readonly string[], more: Record<string, string> = {}): Started {
  const env = { ...process.env, EVERTURN_HOME: home, EVERTURN_CONTROL__PORT: "0", ...more };
  const child = spawn(process.execPath, [entry, ...words], { env, stdio: ["pipe", "pipe", "pipe"] });
  const exit = new Promise<number | string>((resolve) =>
    child.once("exit", (code, signal) => resolve(code ?? signal ?? "?")),
  );
  t.after(() => child.kill("SIGKILL"));
  return { child, err: readAll(child.stderr).catch((error: Error) => error.message), exit };
}

/** A command from its start to its end. */
async function run(
  t: TestContext,
  home: string,
  words: readonly string[],
  input = "",
  more: Record<string, string> = {},
) {
  const { child, err, exit } = start(t, home, words, more);
  child.stdin?.end(input);
  const out = await readAll(child.stdout ?? assert.fail());
  return { out, err: await err, code: await exit };
}

/** A gateway that has said that it is running. */
async function gateway(t: TestContext, home: string, words: readonly string[] = [], more: Record<string, string> = {}) {
  const started = start(t, home, ["gateway", "run", ...words], more);
  const lines = createInterface({ input: started.child.stdout ?? assert.fail() });
  const said: string[] = [];
  const ready = Promise.withResolvers<string>();
  lines.on("line", (line) => {
    said.push(line);
    if (line.startsWith("The offline agent")) ready.resolve("ready");
  });
  const first = await Promise.race([ready.promise, started.exit]);
  assert.equal(first, "ready", `the gateway did not start: ${first === "ready" ? "" : await started.err}`);
  const url = /http:\S+/.exec(said[1] ?? "")?.[0] ?? "";
  const token = readFileSync(join(home, "control.token"), "utf8").trim();
  assert.ok(!said.join("\n").includes(token), "the token is never printed");
  return { ...started, said, url, token };
}

test("a chat goes through a kill -9 and gets each answer once", async (t) => {
  const home = newHome(t);
  const first = await gateway(t, home);
  assert.match(
    first.said.join("\n"),
    /^Everturn \d+\.\d+\.\d+ is running\.\nWeb chat: http:\/\/127\.0\.0\.1:\d+ \(`everturn link` .*\)\n/,
  );
  const chat = start(t, home, ["chat"]);
  chat.child.stdin?.end("count to 4 slowly\nhello\n");
  const answers = readAll(chat.child.stdout ?? assert.fail());
  const events = await fetch(`${first.url}/api/events`, {
    headers: { authorization: `Bearer ${first.token}` },
  });
  // The turn is under way once the first thing has happened after the chat's message was stored.
  let seen = "";
  for await (const chunk of events.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    seen += chunk;
    if (seen.includes("turn-started")) break;
  }
  first.child.kill("SIGKILL");
  assert.equal(await first.exit, "SIGKILL");
  const second = await gateway(t, home);
  assert.equal(await chat.exit, 0, await chat.err);
  const text = await answers;
  assert.equal(text.match(/1, 2, 3, 4/g)?.length, 1, text);
  assert.equal(text.match(/I am the offline agent/g)?.length, 1, text);
  assert.match(await chat.err, /gateway is away, waiting…\nback\n/);
  const listed = await run(t, home, ["turns", "list", "--json"]);
  const { turns } = JSON.parse(listed.out) as { turns: { id: string; attempt: number; outcome: string }[] };
  assert.deepEqual(
    turns.map((one) => [one.attempt, one.outcome]),
    [
      [1, "replied"],
      [2, "replied"],
    ],
  );
  const life = await run(t, home, ["turns", "show", turns[1]?.id ?? ""]);
  assert.match(life.out, /received +count to 4 slowly[\s\S]*resumed[\s\S]*delivered +part 1, receipt /);
  second.child.kill("SIGTERM");
  assert.equal(await second.exit, 1, "nobody announced it");
});

test("a stop with a page open is fast and clean; a second signal at once changes nothing", async (t) => {
  const home = newHome(t);
  const { child, exit, err, url, token } = await gateway(t, home);
  const page = await fetch(`${url}/api/chat/web/c1/events`, { headers: { authorization: `Bearer ${token}` } });
  const watching = page.text().catch((error: Error) => error.message);
  child.kill("SIGINT");
  child.kill("SIGINT");
  assert.equal(await exit, 0);
  await watching;
  const state = JSON.parse(readFileSync(join(home, "gateway_state.json"), "utf8")) as Record<string, unknown>;
  assert.deepEqual([state["gateway_state"], state["desired_state"], state["url"]], ["stopped", "stopped", null]);
  assert.doesNotMatch(await err, /Warning/);
  for (const line of (await err).trim().split("\n")) assert.equal(typeof JSON.parse(line), "object");
  assert.ok(readFileSync(join(home, "logs", "gateway.log"), "utf8").includes("asked to stop"));
  assert.ok(!(await err).includes(token));
  for (const [file, mode] of [
    ["", 0o700],
    ["state.db", 0o600],
    ["control.token", 0o600],
  ] as const)
    assert.equal(statSync(join(home, file)).mode & 0o777, mode, file);
  const status = await run(t, home, ["gateway", "status"]);
  assert.deepEqual([status.code, status.out], [1, ""]);
  assert.match(status.err, /No gateway is running for .*everturn gateway start/);
});

test("a second gateway refuses and names the first; --replace takes over", async (t) => {
  const home = newHome(t);
  const first = await gateway(t, home);
  const second = await run(t, home, ["gateway", "run"]);
  assert.equal(second.code, 79);
  assert.match(second.err, new RegExp(`A gateway \\(pid ${first.child.pid}, since .*\\) already serves ${home}`));
  const third = await gateway(t, home, ["--replace"]);
  assert.equal(await first.exit, 79);
  const status = await run(t, home, ["gateway", "status", "--json"]);
  assert.equal((JSON.parse(status.out) as { pid: number }).pid, third.child.pid);
  third.child.kill("SIGINT");
  assert.equal(await third.exit, 0);
});

test("a gateway whose output nobody reads goes on", async (t) => {
  const home = newHome(t);
  const { child, exit } = await gateway(t, home);
  child.stdout?.destroy();
  child.stderr?.destroy();
  const answer = await run(t, home, ["chat"], "hello\n");
  assert.match(answer.out, /offline agent/);
  child.kill("SIGINT");
  assert.equal(await exit, 0);
});

test("what stands in the way of a start is said, with the exit code that fits", async (t) => {
  const home = newHome(t);
  mkdirSync(home, { recursive: true });
  const wrong = await run(t, home, ["gateway", "run"], "", {
    EVERTURN_CONTROL__PORT: "abc",
    EVERTURN_GATEWAY__DRAIN_SECONDS: "-1",
  });
  assert.equal(wrong.code, 78);
  assert.match(wrong.err, /2 faults:\n.*control\.port[\s\S]*gateway\.drainSeconds/);

  const file = join(home, "a-file");
  writeFileSync(file, "");
  const noHome = await run(t, file, ["gateway", "run"]);
  assert.equal(noHome.code, 78);
  assert.match(noHome.err, /home .* is a file, not a folder.*EVERTURN_HOME/);

  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
  t.after(() => holder.close());
  const { port } = holder.address() as AddressInfo;
  const taken = await run(t, home, ["gateway", "run"], "", { EVERTURN_CONTROL__PORT: String(port) });
  assert.equal(taken.code, 1);
  assert.match(taken.err, new RegExp(`already uses 127\\.0\\.0\\.1:${port}`));

  const foreign = newHome(t);
  mkdirSync(foreign, { recursive: true });
  writeFileSync(join(foreign, "state.db"), "this is no database".repeat(100));
  const refused = await run(t, foreign, ["gateway", "run"]);
  assert.equal(refused.code, 78);
  assert.match(refused.err, /state\.db.*not a database.*not touched/);
  assert.equal(readFileSync(join(foreign, "state.db"), "utf8"), "this is no database".repeat(100));
});

test("a backup works beside a gateway and without one, and never overwrites", async (t) => {
  const home = newHome(t);
  const nothing = await run(t, home, ["backup", join(home, "..", "none.db")]);
  assert.equal(nothing.code, 1);
  const { child, exit } = await gateway(t, home);
  await run(t, home, ["chat"], "hello\n");
  const copy = join(home, "..", "copy.db");
  const made = await run(t, home, ["backup", copy, "--json"]);
  assert.equal(made.code, 0, made.err);
  assert.deepEqual((JSON.parse(made.out) as { openTurns: number }).openTurns, 0);
  assert.equal(statSync(copy).mode & 0o777, 0o600);
  const again = await run(t, home, ["backup", copy]);
  assert.equal(again.code, 1);
  assert.match(again.err, /already exists/);
  child.kill("SIGTERM");
  await exit;
  const later = await run(t, home, ["backup", join(home, "..", "later.db")]);
  assert.equal(later.code, 0, later.err);
  assert.match(later.out, /read back and whole/);
  assert.ok(!existsSync(`${copy}-wal`));

  // The copy is a store like any other.
  const restored = newHome(t);
  mkdirSync(restored, { recursive: true });
  writeFileSync(join(restored, "state.db"), readFileSync(copy));
  chmodSync(join(restored, "state.db"), 0o600);
  const second = await gateway(t, restored);
  const sessions = await run(t, restored, ["sessions", "list", "--json"]);
  assert.equal((JSON.parse(sessions.out) as { sessions: { title: string }[] }).sessions[0]?.title, "hello");
  second.child.kill("SIGTERM");
  await second.exit;
});

test("commands that need no gateway, and the words of those that do", async (t) => {
  const home = newHome(t);
  assert.match((await run(t, home, ["--version"])).out, /^\d+\.\d+\.\d+\n$/);
  assert.match((await run(t, home, ["--help"])).out, /Commands:/);
  assert.equal((await run(t, home, ["sesions"])).code, 64);
  assert.equal((await run(t, home, ["config", "path"])).out, `${join(home, "config.yaml")}\n`);
  assert.equal((await run(t, home, ["config", "check"])).code, 0);
  assert.match((await run(t, home, ["config", "show"])).out, /control\.host +"127\.0\.0\.1"/);
  const { child, exit } = await gateway(t, home);
  const sent = await run(t, home, ["send", "terminal/local/main", "good", "morning"]);
  assert.equal(sent.code, 0, sent.err);
  await run(t, home, ["chat"], "hello\n");
  const found = await run(t, home, ["sessions", "search", "morning", "--json"]);
  assert.match(found.out, /good morning/);
  const { sessions } = JSON.parse((await run(t, home, ["sessions", "--json"])).out) as { sessions: { id: string }[] };
  const id = sessions[0]?.id ?? "";
  const lines = (await run(t, home, ["sessions", "export", id])).out.trim().split("\n");
  assert.ok(lines.length >= 2);
  assert.match((await run(t, home, ["sessions", "show", id])).out, /hello/);
  assert.equal((await run(t, home, ["sessions", "reset", id])).code, 0);
  assert.equal((await run(t, home, ["sessions", "reset", id])).code, 1);
  assert.equal((await run(t, home, ["outbox"])).out, "Nothing waits to be sent.\n");
  assert.equal((await run(t, home, ["turns", "cancel", "nothing"])).code, 1);
  child.kill("SIGTERM");
  await exit;
});
