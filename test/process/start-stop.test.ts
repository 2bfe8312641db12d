// How the program is started and stopped by people, shells, npm and supervisors: signals with pages open, a second
// gateway, a take-over, a port that is taken, output that nobody reads.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Client, client } from "./client.ts";
import {
  atEnd,
  type Started,
  environmentOf,
  endWhoeverServes,
  isAlive,
  newHome,
  refusedStart,
  root,
  runGateway,
  signal,
  spawnGateway,
  start,
  stateOf,
  tokenOf,
  until,
  whenReady,
  within,
} from "./stage.ts";

/** Far more than a stop needs on any machine, far less than anything that waits for a timeout to end it. */
const quickMs = 20_000;

/** An event stream that stays open until the gateway closes it. */
async function watch(ask: Client, chat: string): Promise<{ readonly over: Promise<void> }> {
  const live = Promise.withResolvers<void>();
  const follow = async () => {
    for await (const { type } of ask.events(chat, 0, AbortSignal.timeout(quickMs * 10)))
      if (type === "live") live.resolve();
  };
  // A stream may end in the middle; what counts is that it ends.
  const over = follow().then(live.resolve, live.resolve);
  await live.promise;
  return { over };
}

/** A signal that nobody announced is no wish to stay down: the code says so, and so does the file. */
const signals = [
  { name: "SIGTERM", code: 1, state: "running" },
  { name: "SIGHUP", code: 1, state: "running" },
  { name: "SIGINT", code: 0, state: "stopped" },
] as const;

for (const { name, code, state } of signals) {
  test(`${name} with a page open and a turn running ends it with ${code}, and the turn goes on at the next start`, async (t) => {
    const home = newHome(t);
    const first = await runGateway(t, home);
    const ask = client(first);
    const pages = await Promise.all(["c1", "c1", "c2"].map((chat) => watch(ask, chat)));
    await ask.send("c1", "m1", "count to 4 slowly");
    const asked = Date.now();
    assert.equal(await within(first.end(name), `it did not end after ${name}`, quickMs), code, first.err());
    const took = Date.now() - asked;
    await Promise.all(pages.map((page) => page.over));
    assert.equal(stateOf(home).gateway_state, state);
    assert.equal(stateOf(home).url, null);
    assert.match(first.err(), new RegExp(`asked to stop .*signal=${name} `));
    const second = await runGateway(t, home, { port: first.port });
    const all = await until(
      () => ask.transcript("c1"),
      (seen) => seen.length >= 2,
      "the turn is answered",
    );
    assert.match(all[1]?.text ?? "", /^1, 2, 3, 4\n\nCounted to 4\. I was interrupted once/);
    assert.equal(all.length, 2);
    t.diagnostic(`${name} with 3 streams and a running turn: ended after ${took} ms`);
    assert.equal(await second.end(), 0);
  });
}

/** `npm start` as people type it; whatever serves the home in the end is ended with the test. */
function npmStart(t: TestContext, home: string): Started {
  const npm = start(t, "npm", ["start"], { cwd: root, env: environmentOf(home) });
  npm.child.stdin?.end();
  atEnd(t, () => endWhoeverServes(home));
  return npm;
}

test("SIGTERM to the pid of `npm start` stops the gateway", async (t) => {
  const home = newHome(t);
  const npm = npmStart(t, home);
  await whenReady(npm);
  const { pid } = stateOf(home);
  assert.notEqual(pid, npm.pid, "npm and the gateway are two processes");
  await within(npm.end("SIGTERM"), "npm did not end", quickMs);
  await until(
    () => isAlive(pid),
    (alive) => !alive,
    "the gateway is gone",
  );
  assert.equal(stateOf(home).url, null);
});

test("after a kill -9 of npm a second `npm start` names the gateway that still runs, and --replace", async (t) => {
  const home = newHome(t);
  const npm = npmStart(t, home);
  const ask = client(await whenReady(npm));
  const { pid } = stateOf(home);
  await npm.end("SIGKILL");
  assert.ok(isAlive(pid), "the gateway outlives npm");
  await ask.send("c1", "m1", "still there?");
  await until(
    () => ask.transcript("c1"),
    (all) => all.length === 2,
    "it still answers",
  );
  const second = npmStart(t, home);
  assert.equal(await within(second.exit, "the second `npm start` did not end", quickMs * 5), 79);
  await until(second.err, (said) => said.includes("--replace"), "it says what to do");
  assert.match(second.err(), new RegExp(`A gateway \\(pid ${pid}, since .*\\) already serves ${home}`));
  assert.ok(isAlive(pid), "and leaves it alone");
  const third = await runGateway(t, home, { words: ["--replace"] });
  await until(
    () => isAlive(pid),
    (alive) => !alive,
    "the one before is gone",
  );
  assert.equal((await client(third).transcript("c1")).length, 2);
  assert.equal(await third.end(), 0);
});

test("a second gateway on the same home is refused; --replace takes over in the middle of work, and nothing is lost", async (t) => {
  const home = newHome(t);
  const first = await runGateway(t, home);
  const { port } = first;
  const ask = client(first);
  const refused = await refusedStart(t, home);
  assert.equal(refused.code, 79);
  assert.match(refused.err, new RegExp(`pid ${first.pid}, since .*already serves ${home}.*--replace`));
  assert.equal(refused.out, "");
  assert.ok(isAlive(first.pid));

  // Long enough that a slow machine starts each next gateway in the middle of it.
  await ask.send("slow", "m0", "count to 15 slowly");
  // Somebody writes all the time, before, during and after the change.
  let writing = true;
  const wrote = (async () => {
    for (let i = 0; ; i++) {
      if (!writing) return i;
      await ask.send("busy", `m${i}`, `word ${i}`);
    }
  })();
  let current = first;
  for (let change = 0; change < 3; change++) {
    // Three interruptions without a step between them would suspend its conversation.
    await until(
      () => ask.get<{ running: readonly { steps: number }[] }>("/api/status"),
      ({ running }) => running.some(({ steps }) => steps > change),
      "the count has made a step",
    );
    const next = await runGateway(t, home, { port, words: ["--replace"] });
    assert.equal(await within(current.exit, "the one before did not end", quickMs), 79, current.err());
    assert.equal(stateOf(home).pid, next.pid);
    current = next;
  }
  writing = false;
  const count = await wrote;
  const all = await until(
    () => ask.transcript("busy"),
    (seen) => seen.length >= 2 * count,
    "all is answered",
  );
  const texts = (role: string) => all.filter((one) => one.role === role).map((one) => one.text);
  const words = Array.from({ length: count }, (_, i) => `word ${i}`);
  assert.deepEqual(texts("user"), words);
  assert.deepEqual(
    texts("assistant"),
    words.map((word) => `You said: ${word}`),
  );
  const slow = await until(
    () => ask.transcript("slow"),
    (seen) => seen.length >= 2,
    "the slow one is answered",
  );
  assert.match(slow[1]?.text ?? "", /^1, 2, .*, 15\n\nCounted to 15\. I was interrupted/);
  assert.equal(slow.length, 2);
  t.diagnostic(`3 take-overs while ${count} messages were written: lost 0, doubled 0`);
  assert.equal(await current.end(), 0);
});

test("two that start at the same moment: one serves, the other is refused", async (t) => {
  const home = newHome(t);
  const both = [spawnGateway(t, home), spawnGateway(t, home)];
  const loser = await within(
    Promise.race(both.map(async (one) => ({ one, code: await one.exit }))),
    "neither was refused",
  );
  assert.equal(loser.code, 79, loser.one.err());
  assert.match(loser.one.err(), /already serves .*--replace/);
  const winner = await whenReady(both.find((one) => one !== loser.one) ?? assert.fail());
  await client(winner).send("c1", "m1", "hello");
  assert.equal(await winner.end(), 0);
});

test("a port in use is named, with what to do, and the home stays usable", async (t) => {
  const home = newHome(t);
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, "127.0.0.1", resolve));
  atEnd(t, () => holder.close());
  const { port } = holder.address() as AddressInfo;
  const taken = await refusedStart(t, home, { port });
  assert.equal(taken.code, 1);
  assert.match(taken.err, new RegExp(`already uses 127\\.0\\.0\\.1:${port}\\..*EVERTURN_CONTROL__PORT`));
  assert.equal(taken.out, "", "it does not say that it is running");
  const other = await runGateway(t, home);
  assert.equal(await other.end(), 0);
});

test("output into a pipe that is closed does not end it", async (t) => {
  const home = newHome(t);
  const script = `"$0" "$1" gateway run 2>&1 | head -n 1; echo closed; exec sleep 600`;
  const shell = start(t, "sh", ["-c", script, process.execPath, join(root, "src", "main.ts")], {
    env: environmentOf(home),
    detached: true,
  });
  atEnd(t, () => signal(-shell.pid, "SIGKILL"));
  // `head` ends with the first line, whichever that is; from then on every word of the gateway meets a closed pipe.
  const state = await until(
    () => (existsSync(join(home, "gateway_state.json")) ? stateOf(home) : null),
    (found) => typeof found?.url === "string",
    "it has said where it is",
  );
  const ask = client({ url: state?.url ?? "", token: tokenOf(home) });
  for (let i = 0; i < 20; i++) await ask.send("c1", `m${i}`, `word ${i}`);
  await until(
    () => ask.transcript("c1"),
    (all) => all.length === 40,
    "all is answered",
  );
  assert.ok(isAlive(state?.pid ?? 0));
  signal(state?.pid ?? assert.fail(), "SIGTERM");
  await until(
    () => isAlive(state?.pid ?? 0),
    (alive) => !alive,
    "it ends",
  );
  assert.equal(stateOf(home).gateway_state, "running");
});
