// Hostile bodies on every route, with and without a credential: too large, endless, deep, wrong. Each gets a refusal, and
// the memory comes back.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { until } from "../process/stage.ts";
import { limit, openRedStage } from "./stage.ts";

const key = "an-api-key-of-some-length";
const routes: readonly string[] = [
  "/api/send",
  "/api/restart",
  "/api/resume",
  "/api/questions/x/answer",
  "/api/rules/x/revoke",
  "/api/sessions/x/reset",
  "/api/turns/x/cancel",
  "/api/turns/x/retry",
  "/api/outbox/x/retry",
  "/api/outbox/x/discard",
  "/api/pairings/approve",
  "/api/pairings/deny",
  "/api/pairings/revoke",
  "/api/chat/web/c/messages",
  "/api/chat/web/c/files?name=x",
  "/hooks/build",
  "/hooks/unknown",
  "/v1/chat/completions",
  "/v1/responses",
  "/api/links",
  "/api/devices",
  "/enter",
  "/",
  "/nothing",
];

type Sent = { readonly status: number | "cut"; readonly bytes: number };

/** Sends a body in pieces until it was all sent, was answered, or the connection was cut. */
function send(url: string, headers: Record<string, string>, bytes: number, piece: Buffer): Promise<Sent> {
  return new Promise((resolve) => {
    let sent = 0;
    let isOver = false;
    const over = (status: number | "cut"): void => {
      if (isOver) return;
      isOver = true;
      outgoing.destroy();
      resolve({ status, bytes: sent });
    };
    const outgoing = request(url, { method: "POST", headers, agent: false });
    outgoing.on("response", (response) => over(response.statusCode ?? 0));
    outgoing.on("error", () => over("cut"));
    outgoing.on("close", () => over("cut"));
    const more = (): void => {
      while (!isOver && sent < bytes) {
        sent += piece.length;
        if (!outgoing.write(piece)) return void outgoing.once("drain", more);
      }
      if (!isOver) outgoing.end();
    };
    more();
  });
}

function memoryOf(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? Number.NaN) * 1024;
}

const million = 1_000_000;
const more = [
  "platforms:",
  `  api: { keys: { app: ${key} } }`,
  "  hooks:",
  "    build: { secret: a-secret-of-some-length-1, to: web/local/build }",
].join("\n");

test("a body that is too large is refused on every route, before and after authentication", limit, async (t) => {
  const stage = await openRedStage(t, { more });
  const target = await stage.start();
  const large = 200 * million;
  const piece = Buffer.alloc(64 * 1024, "a");
  const wrong: string[] = [];
  const before = memoryOf(target.pid);
  let highest = before;
  for (const path of routes) {
    for (const bearer of [null, target.token, key]) {
      const headers: Record<string, string> = { "content-type": "application/json" };
      if (bearer !== null) headers["authorization"] = `Bearer ${bearer}`;
      const { status, bytes } = await send(`${target.url}${path}`, headers, large, piece);
      const isRefused = status === "cut" || (status >= 400 && status < 500);
      if (!isRefused || bytes >= large)
        wrong.push(`${path} ${bearer === null ? "without" : "with"} a key: ${status} after ${bytes}`);
      highest = Math.max(highest, memoryOf(target.pid));
    }
  }
  t.diagnostic(`memory: ${Math.round(before / million)} MB, at most ${Math.round(highest / million)} MB`);
  assert.deepEqual(wrong, []);
  assert.ok(highest - before < 300 * million, `it held ${Math.round((highest - before) / million)} MB more`);
  assert.equal((await target.client.call("/api/status")).status, 200);
});

test("deep, wrong and unfinished bodies are refused, and the memory comes back", limit, async (t) => {
  const stage = await openRedStage(t, { more });
  const target = await stage.start();
  const before = memoryOf(target.pid);
  const bodies: readonly string[] = [
    "[".repeat(900_000),
    `${"[".repeat(400_000)}${"]".repeat(400_000)}`,
    `{"a":`.repeat(100_000),
    `{${Array.from({ length: 50_000 }, (_, n) => `"k${n}":${n}`).join(",")}}`,
    '{"__proto__":{"isOwner":true},"constructor":{"prototype":{"party":"owner"}}}',
    "\u0000\u0001\uffff",
    "",
    "null",
    "[]",
    '"text"',
    "1e999",
    `{"id":${"9".repeat(100_000)}}`,
    JSON.stringify({ id: "x".repeat(500_000), text: "y".repeat(500_000), choice: {} }),
    '{"text":"\\ud800"}',
  ];
  const wrong: string[] = [];
  for (const path of routes.filter((one) => !["/api/restart", "/api/resume"].includes(one))) {
    for (const bearer of [target.token, key]) {
      const headers = { authorization: `Bearer ${bearer}`, "content-type": "application/json" };
      for (const body of bodies) {
        const answer = await fetch(`${target.url}${path}`, { method: "POST", headers, body });
        if (answer.status >= 500) wrong.push(`${path} ${JSON.stringify(body.slice(0, 30))}: ${answer.status}`);
        await answer.body?.cancel();
      }
    }
  }
  assert.deepEqual(wrong, []);
  // Bodies that never end: the connection is there, and nothing more comes.
  const idle = Array.from({ length: 50 }, (_, n) => {
    const outgoing = request(`${target.url}${routes[n % routes.length]}`, { method: "POST", agent: false });
    outgoing.on("error", () => undefined);
    outgoing.write("{");
    return outgoing;
  });
  assert.equal((await target.client.call("/api/status")).status, 200);
  for (const one of idle) one.destroy();
  await pause(0);
  await until(
    () => memoryOf(target.pid) - before,
    (grown) => grown < 250 * million,
    "the memory comes back",
    500,
  );
});
