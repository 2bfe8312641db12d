// The real program on Windows: killed in the middle of a turn, stopped by its marker, stopped by command, taken over.
// Conversations keep their history through all of it, and what was running goes on.

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { type TestContext, test } from "node:test";
import { type Client, type Place, client } from "../process/client.ts";
import { atEnd, until } from "../process/stage.ts";
import { ended, everturn, newHome, runGateway, stateOf, taskkill, windows } from "./stage.ts";

windows();

/** A count that still runs when a command of Windows has had its effect, also on a slow machine: a quarter of a minute. */
const long = 30;
const wentOn = /Counted to 30\. I was interrupted once/;

/** What anybody outside writes to say that the end of this process is wanted. */
function writeMarker(home: string, pid: number): void {
  const marker = { target_pid: pid, target_start_time: null, stopper_pid: 1, written_at: new Date().toISOString() };
  writeFileSync(join(home, ".gateway-planned-stop.json"), JSON.stringify(marker));
}

async function answered(ask: Client, chat: string, count: number) {
  const all = await until(
    () => ask.transcript(chat),
    (seen) => seen.filter(({ role }) => role === "assistant").length >= count,
    `${count} messages of ${chat} are answered`,
  );
  return all.map(({ role, text }) => [role, text] as const);
}

/** A conversation with a past and a turn that runs, two steps of which are done. */
async function busy(gateway: Place, goal: number): Promise<Client> {
  const ask = client(gateway);
  await ask.send("c1", "m1", "first");
  await answered(ask, "c1", 1);
  await ask.send("c1", "m2", `count to ${goal} slowly`);
  await until(
    () => ask.get<{ running: readonly { steps: number }[] }>("/api/status"),
    ({ running }) => (running[0]?.steps ?? 0) >= 2,
    "the count is under way",
  );
  return ask;
}

/** The past is there, and the interrupted count came to its end. */
async function assertWentOn(t: TestContext, home: string, goal: number): Promise<void> {
  const next = await runGateway(t, home);
  const all = await answered(client(next), "c1", 2);
  const numbers = Array.from({ length: goal }, (_, i) => i + 1).join(", ");
  assert.deepEqual(all, [
    ["user", "first"],
    ["assistant", "You said: first"],
    ["user", `count to ${goal} slowly`],
    ["assistant", `${numbers}\n\nCounted to ${goal}. I was interrupted once and went on where I was.`],
  ]);
  await client(next).send("c1", "m3", "third");
  assert.equal((await answered(client(next), "c1", 3)).at(-1)?.[1], "You said: third");
}

/** Looked up when nobody else has it open: two systems do not see each other's locks on one file. */
function read<T>(home: string, sql: string): readonly T[] {
  const db = new DatabaseSync(join(home, "state.db"), { readOnly: true });
  try {
    return db.prepare(sql).all() as unknown as readonly T[];
  } finally {
    db.close();
  }
}

/** What the store holds of a conversation that was marked, and why. */
function marksIn(home: string): readonly (string | null)[] {
  const rows = read<{ reason: string | null }>(home, "SELECT json_extract(resume, '$.reason') AS reason FROM sessions");
  return rows.map(({ reason }) => reason);
}

test("S109 a gateway that is killed in the middle of a turn goes on after the next start, history kept", async (t) => {
  const home = newHome(t);
  const first = await runGateway(t, home);
  await busy(first, long);
  await taskkill(t, home, "/F", "/PID", String(first.pid));
  await ended(first);
  assert.equal((await stateOf(home)).gateway_state, "running", "nobody was there to say otherwise");
  await assertWentOn(t, home, long);
});

test("S109 a marker stops the gateway in the middle of a turn: 0, the mark is written, and it goes on", async (t) => {
  const home = newHome(t);
  const first = await runGateway(t, home);
  await busy(first, 8);
  writeMarker(home, first.pid);
  const { code, err } = await ended(first);
  assert.equal(code, 0, err);
  assert.equal((await stateOf(home)).gateway_state, "stopped");
  assert.equal(existsSync(join(home, ".gateway-planned-stop.json")), false, "the marker is used up");
  assert.deepEqual(marksIn(home), ["shutdown_timeout"]);
  await assertWentOn(t, home, 8);
});

test("a marker waits for what can finish in the time it has, and nothing is marked", async (t) => {
  const home = newHome(t, "gateway: { drainSeconds: 60 }\n");
  const first = await runGateway(t, home);
  await busy(first, 6);
  writeMarker(home, first.pid);
  assert.equal((await ended(first)).code, 0);
  assert.deepEqual(marksIn(home), [null]);
  const second = await runGateway(t, home);
  const all = await answered(client(second), "c1", 2);
  assert.equal(all.at(-1)?.[1], "1, 2, 3, 4, 5, 6\n\nCounted to 6 without interruption.");
});

test("a marker for another process stops nobody", async (t) => {
  const home = newHome(t);
  const first = await runGateway(t, home);
  writeMarker(home, first.pid + 4);
  await client(first).send("c1", "m1", "still there?");
  await answered(client(first), "c1", 1);
  writeMarker(home, first.pid);
  assert.equal((await ended(first)).code, 0);
});

test("S100 S109 `gateway stop` ends it by the marker alone, tells so, and what it interrupted goes on", async (t) => {
  const home = newHome(t);
  const first = await runGateway(t, home);
  await busy(first, long);
  const stopped = await ended(everturn(t, home, ["gateway", "stop", "--json"]));
  assert.equal(stopped.code, 0, stopped.err);
  const last = JSON.parse(stopped.out.trim().split("\n").at(-1) ?? "") as Record<string, unknown>;
  assert.equal(last["event"], "stopped");
  assert.equal(last["forced"], false, "a killed gateway would not have marked anything");
  assert.equal((await ended(first)).code, 0, first.err());
  const state = await stateOf(home);
  assert.deepEqual([state.gateway_state, state.desired_state], ["stopped", "stopped"]);
  assert.deepEqual(marksIn(home), ["shutdown_timeout"]);
  const again = await ended(everturn(t, home, ["gateway", "stop"]));
  assert.equal(again.code, 0, again.err);
  assert.match(again.out, /nothing to stop/);
  await assertWentOn(t, home, long);
});

test("a second gateway of the same home is refused, and one that replaces it goes on with its work", async (t) => {
  const home = newHome(t);
  const first = await runGateway(t, home);
  const refused = await ended(everturn(t, home, ["gateway", "run"]));
  assert.equal(refused.code, 79, refused.err);
  assert.match(refused.err, new RegExp(`A gateway \\(pid ${first.pid}, .*already serves Z:`));
  await busy(first, long);
  const second = await runGateway(t, home, ["--replace"]);
  assert.notEqual(second.pid, first.pid);
  assert.equal((await ended(first)).code, 79, first.err());
  const all = await answered(client(second), "c1", 2);
  assert.match(all.at(-1)?.[1] ?? "", wentOn);
  const stopped = await ended(everturn(t, home, ["gateway", "stop"]));
  assert.equal(stopped.code, 0, stopped.err);
});

test("a gateway without a service is started, restarted and stopped by command, and its conversations go on", async (t) => {
  const home = newHome(t);
  const started = await ended(everturn(t, home, ["gateway", "start", "--json"]));
  atEnd(t, () => ended(everturn(t, home, ["gateway", "stop"])));
  assert.equal(started.code, 0, `${started.out}\n${started.err}`);
  const first = await linkOf(t, home);
  await busy(first, long);
  const restarted = await ended(everturn(t, home, ["gateway", "restart"]));
  assert.equal(restarted.code, 0, `${restarted.out}\n${restarted.err}`);
  const second = await linkOf(t, home);
  assert.notEqual(second.pid, first.pid);
  const all = await answered(client(second), "c1", 2);
  assert.match(all.at(-1)?.[1] ?? "", wentOn);
  const stopped = await ended(everturn(t, home, ["gateway", "stop"]));
  assert.equal(stopped.code, 0, stopped.err);
  assert.equal((await stateOf(home)).gateway_state, "stopped");
});

/** Where the gateway of a home is, as `gateway status` tells. */
async function linkOf(t: TestContext, home: string): Promise<Place & { readonly pid: number }> {
  const { code, out, err } = await ended(everturn(t, home, ["gateway", "status", "--json"]));
  assert.equal(code, 0, err);
  const { link, pid } = JSON.parse(out) as { link: string; pid: number };
  const token = readFileSync(join(home, "control.token"), "utf8").trim();
  return { url: new URL(link).origin, token, pid };
}
