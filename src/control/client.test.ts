// How commands find the gateway, and what they are told when it is not there.

import assert from "node:assert/strict";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { Fault } from "../core/fault.ts";
import { type Place, connectGateway } from "./client.ts";
import type { StatusReply } from "./protocol.ts";
import { folder, started, token, turn } from "./samples.ts";

function place(t: TestContext): Place {
  const home = folder(t);
  return { home, stateFile: join(home, "gateway_state.json"), tokenFile: join(home, "control.token") };
}

async function running(t: TestContext) {
  const at = place(t);
  const { control, gateway } = await started(t);
  writeFileSync(at.stateFile, JSON.stringify({ url: control.url, pid: process.pid, gateway_state: "running" }));
  writeFileSync(at.tokenFile, token);
  return { at, control, gateway };
}

test("questions and orders reach the running gateway", async (t) => {
  const { at, control, gateway } = await running(t);
  const client = connectGateway(at);
  assert.equal(client.url, control.url);
  assert.equal((await client.get<StatusReply>("/api/status")).state, "running");
  assert.deepEqual(await client.post(`/api/turns/${turn.id}/cancel`), { done: true });
  assert.deepEqual(gateway.asked, [["cancel", turn.id]]);
  await assert.rejects(client.get("/api/turns/none"), (error) => error instanceof Fault && error.code === "not-found");
});

test("events are read until the caller has enough", async (t) => {
  const { at, gateway } = await running(t);
  const enough = new AbortController();
  const events = connectGateway(at).events("/api/events", enough.signal);
  assert.equal((await events.next()).value?.type, "state");
  gateway.emit({ type: "state", state: "draining", reason: "ä\nb" });
  const { data } = (await events.next()).value ?? assert.fail("no event");
  assert.deepEqual(JSON.parse(data), { type: "state", state: "draining", reason: "ä\nb" });
  enough.abort();
  assert.deepEqual(await events.next(), { done: true, value: undefined });
});

test("without a gateway every way of finding none says how to start one", async (t) => {
  const at = place(t);
  const isPlain = (error: unknown) =>
    error instanceof Fault &&
    error.message ===
      `No gateway is running for ${at.home}. Start one with \`everturn gateway start --home ${at.home}\`.`;
  assert.throws(() => connectGateway(at), isPlain);
  writeFileSync(at.stateFile, "{");
  assert.throws(() => connectGateway(at), isPlain);
  writeFileSync(at.stateFile, JSON.stringify({ url: "http://127.0.0.1:9", pid: 2 ** 30 }));
  writeFileSync(at.tokenFile, token);
  assert.throws(() => connectGateway(at), isPlain);
  rmSync(at.tokenFile);
  writeFileSync(at.stateFile, JSON.stringify({ url: "http://127.0.0.1:9", pid: process.pid }));
  assert.throws(() => connectGateway(at), isPlain);
  writeFileSync(at.tokenFile, token);
  await assert.rejects(connectGateway(at).get("/api/status"), isPlain);
});
