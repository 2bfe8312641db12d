// One client that offers 10,000 messages at once: the gateway takes what it can, tells the rest when to come back, and
// stays within bounded memory; in the end each message is stored once, answered once and in order.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { test } from "node:test";
import { type Client, client } from "./client.ts";
import { type Gateway, atEnd, newHome, patienceMs, runGateway, until } from "./stage.ts";

const messages = 10_000;
const conversations = 100;
/** More than the gateway stores at the same time. */
const sockets = 1_000;
const growthMaxMb = 400;

type Said = { readonly chat: string; readonly id: string; readonly text: string };
/** `status` is 0 where the connection ended without an answer. */
type Heard = { readonly status: number; readonly retryAfter: number | null };

function post(to: Gateway, agent: Agent, { chat, id, text }: Said): Promise<Heard> {
  const body = JSON.stringify({ id, text });
  const headers = {
    authorization: `Bearer ${to.token}`,
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    const path = `/api/chat/web/${chat}/messages`;
    const sent = request({ host: "127.0.0.1", port: to.port, path, method: "POST", headers, agent }, (answer) => {
      const after = answer.headers["retry-after"];
      answer.resume();
      answer.on("end", () =>
        resolve({ status: answer.statusCode ?? 0, retryAfter: after === undefined ? null : Number(after) }),
      );
    });
    // The server ends a connection that was idle for some seconds, perhaps just as the next request leaves.
    sent.on("error", (error: NodeJS.ErrnoException) =>
      error.code === "ECONNRESET" || error.code === "EPIPE" ? resolve({ status: 0, retryAfter: 1 }) : reject(error),
    );
    sent.end(body);
  });
}

/** The most memory it ever had, where the system tells; else what it has now. */
async function memoryOf(gateway: Gateway, ask: Client): Promise<number> {
  const file = `/proc/${gateway.pid}/status`;
  if (existsSync(file)) return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(file, "utf8"))?.[1]) / 1024;
  return (await ask.get<{ memoryBytes: number }>("/api/status")).memoryBytes / 1024 / 1024;
}

test("10,000 messages at once: back-pressure, bounded memory, each answered once and in order", async (t) => {
  const gateway = await runGateway(t, newHome(t));
  const ask = client(gateway);
  const before = await memoryOf(gateway, ask);
  const agent = new Agent({ keepAlive: true, maxSockets: sockets });
  atEnd(t, () => agent.destroy());
  const all = Array.from({ length: messages }, (_, i): Said => {
    const chat = `c${i % conversations}`;
    return { chat, id: `m${i}`, text: `word ${i}` };
  });
  const told = { stored: 0, busy: 0, away: 0, reset: 0 };
  const begun = Date.now();
  const deliver = async (said: Said) => {
    for (const deadline = Date.now() + patienceMs; ; ) {
      const { status, retryAfter } = await post(gateway, agent, said);
      if (status === 200) return void told.stored++;
      assert.ok([0, 429, 503].includes(status), `${said.id} was refused with ${status}`);
      assert.ok(retryAfter !== null && retryAfter > 0, "a refusal says when to come back");
      told[status === 429 ? "busy" : status === 503 ? "away" : "reset"]++;
      assert.ok(Date.now() < deadline, `${said.id} was never taken`);
      await pause(retryAfter * 1_000);
    }
  };
  // All of them are on their way at once; the sockets are the queue.
  await Promise.all(all.map(deliver));
  const storedMs = Date.now() - begun;
  assert.equal(told.stored, messages);
  const open = async () => (await ask.get<{ turns: unknown[] }>("/api/turns?state=open&limit=1")).turns.length;
  await until(open, (count) => count === 0, "every turn has ended", 100);
  const answeredMs = Date.now() - begun;
  const peak = await memoryOf(gateway, ask);

  for (let i = 0; i < conversations; i++) {
    const seen = await ask.transcript(`c${i}`);
    const users = seen.filter((one) => one.role === "user");
    const answers = seen.filter((one) => one.role === "assistant");
    const sent = all.filter((one) => one.chat === `c${i}`).map((one) => `${one.id} ${one.text}`);
    assert.deepEqual(users.map((one) => `${one.key} ${one.text}`).toSorted(), sent.toSorted(), "each is stored once");
    assert.deepEqual(
      answers.map((one) => one.turn),
      users.map((one) => one.turn),
      "answers come in order, each once",
    );
    assert.deepEqual(
      answers.map((one) => one.text),
      users.map((one) => `You said: ${one.text}`),
    );
  }
  t.diagnostic(
    `${messages} messages offered at once over ${sockets} sockets: stored after ${storedMs} ms, answered after ${answeredMs} ms, ` +
      `told to come back ${told.busy + told.away} times, ${told.reset} connections reset, memory ${Math.round(before)} → ${Math.round(peak)} MB at most`,
  );
  assert.ok(peak - before < growthMaxMb, `memory grew from ${before} to ${peak} MB`);
  assert.equal(await gateway.end(), 0, gateway.err().slice(-2_000));
});
