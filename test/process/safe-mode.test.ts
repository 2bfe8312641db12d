// A gateway that dies three times in a row before it is ready holds still the fourth time: it can be asked what is wrong,
// touches nothing, and is left by its owner, by a changed configuration, or by a stop.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type TestContext, test } from "node:test";
import { type Client, client } from "./client.ts";
import { type Started, newHome, run, runGateway, spawnGateway, stateOf, until, within } from "./stage.ts";

const preload = pathToFileURL(join(import.meta.dirname, "dies-early.ts")).href;

type Still = {
  readonly home: string;
  readonly started: Started;
  readonly ask: Client;
  readonly url: string;
  readonly port: number;
};

/** A gateway in safe mode, with a turn that an earlier life left unfinished. */
async function holdStill(t: TestContext): Promise<Still> {
  const home = newHome(t);
  const first = await runGateway(t, home);
  const { port, token } = first;
  await client(first).send("before", "m1", "count to 3 slowly");
  await first.end("SIGKILL");
  const deaths = join(home, "..", "deaths");
  writeFileSync(deaths, "3");
  const env = { NODE_OPTIONS: `--import ${preload}`, DIES_EARLY: deaths };
  for (let i = 0; i < 3; i++) {
    const dying = spawnGateway(t, home, { port, env });
    assert.equal(await within(dying.exit, `it did not die: ${dying.err()}`), "SIGKILL", dying.err());
  }
  assert.equal(readFileSync(deaths, "utf8"), "0");
  const started = spawnGateway(t, home, { port, env });
  const url = `http://127.0.0.1:${port}`;
  const ask = client({ url, token });
  await until(
    () => ask.get<{ safeMode: boolean }>("/api/status").catch(() => null),
    (now) => now?.safeMode,
    () => `it is in safe mode; it said ${started.err()}`,
  );
  return { home, started, ask, url, port };
}

/** Status and words, whatever they are. */
async function answerAt(url: string, path: string): Promise<{ readonly status: number; readonly text: string }> {
  const response = await fetch(`${url}${path}`);
  return { status: response.status, text: await response.text() };
}

async function isAnswered(ask: Client, chat: string, text: RegExp): Promise<void> {
  const all = await until(
    () => ask.transcript(chat).catch(() => []),
    (seen) => seen.some((one) => one.role === "assistant"),
    `${chat} is answered`,
  );
  assert.match(all.find((one) => one.role === "assistant")?.text ?? "", text);
  assert.equal(all.length, 2);
}

test("three deaths before ready: it tells why, touches nothing, and `gateway resume` takes everything up", async (t) => {
  const { home, started, ask, url, port } = await holdStill(t);
  assert.equal((await answerAt(url, "/healthz")).status, 200);
  const readyz = await answerAt(url, "/readyz");
  assert.equal(readyz.status, 503);
  assert.match(readyz.text, /died before they were ready/);
  const status = await run(t, home, ["gateway", "status"], { port });
  assert.match(status.out, /safe mode/);
  assert.match(status.out, /died before they were ready/);
  const why = await run(t, home, ["why"], { port });
  assert.equal(why.code, 0, why.err);
  assert.match(why.out, /safe mode|before it was ready|before they were ready/);
  assert.match(started.err(), /died before they were ready/);
  assert.match(stateOf(home).gateway_state, /degraded|running|safe/);
  // Whoever writes now is asked to come back, and does.
  const refused = await ask.post("meanwhile", "m1", { text: "is anybody there" });
  assert.equal(refused.status, 503, JSON.stringify(refused.body));
  const sent = ask.send("meanwhile", "m1", "is anybody there");
  const resumed = await run(t, home, ["gateway", "resume"], { port });
  assert.equal(resumed.code, 0, resumed.err);
  assert.equal(await sent, "accepted");
  await isAnswered(ask, "meanwhile", /^You said: is anybody there$/);
  await isAnswered(ask, "before", /^1, 2, 3\n\nCounted to 3\. I was interrupted/);
  assert.equal((await answerAt(url, "/readyz")).status, 200);
  const again = await run(t, home, ["gateway", "resume"], { port });
  assert.match(again.out, /not in safe mode/);
  assert.equal(await started.end("SIGINT"), 0);
  // It was ready once, so the next start has nothing to fear.
  const next = await runGateway(t, home, { port });
  assert.equal((await answerAt(url, "/readyz")).status, 200);
  assert.equal(await next.end("SIGINT"), 0);
});

test("a configuration that changes while it holds still is tried at once", async (t) => {
  const { home, started, ask, url } = await holdStill(t);
  writeFileSync(join(home, "config.yaml"), "gateway:\n  drainSeconds: 7\n");
  await until(
    () => answerAt(url, "/readyz").catch(() => null),
    (now) => now?.status === 200,
    () => `it is ready; it said ${started.err()}`,
  );
  const { drainSeconds } = await ask.get<{ drainSeconds: number }>("/api/status");
  assert.equal(drainSeconds, 7, "and is what it runs with");
  await isAnswered(ask, "before", /^1, 2, 3\n\nCounted to 3/);
});

test("a start with another configuration does not hold still", async (t) => {
  const { home, started, ask, url, port } = await holdStill(t);
  assert.equal(await started.end("SIGINT"), 0);
  writeFileSync(join(home, "config.yaml"), "log:\n  level: debug\n");
  const next = await runGateway(t, home, { port });
  assert.equal((await answerAt(url, "/readyz")).status, 200);
  await isAnswered(ask, "before", /^1, 2, 3\n\nCounted to 3/);
  assert.equal(await next.end("SIGINT"), 0);
});

test("a stop in safe mode ends it, and what it held waits for the next start", async (t) => {
  const { home, started, ask, port } = await holdStill(t);
  const stopped = await run(t, home, ["gateway", "stop"], { port });
  assert.equal(stopped.code, 0, stopped.err);
  assert.equal(await within(started.exit, "it did not end"), 0, started.err());
  assert.equal(stateOf(home).gateway_state, "stopped");
  // A stop is no death: the row of deaths is broken.
  const next = await runGateway(t, home, { port });
  await isAnswered(ask, "before", /^1, 2, 3\n\nCounted to 3/);
  assert.equal(await next.end("SIGINT"), 0);
});
