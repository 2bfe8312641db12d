// The control port about people: lists without digests, orders that reach the gateway, and wrong ones that do not.

import assert from "node:assert/strict";
import { test } from "node:test";
import { bearer, paired, started } from "../samples.ts";

const { headers } = bearer();

test("who waits is told without anything of their codes; expired and turned down ones are not", async (t) => {
  const { control } = await started(t);
  const answer = await fetch(`${control.url}/api/pairings`, { headers });
  assert.equal(answer.status, 200);
  const text = await answer.text();
  assert.doesNotMatch(text, /never told|digest/);
  const { waiting, paired: people } = JSON.parse(text) as {
    waiting: { id: string; address: string }[];
    paired: unknown;
  };
  assert.deepEqual(
    waiting.map(({ id, address }) => [id, address]),
    [["p1", "chat/bot/c7"]],
  );
  assert.deepEqual(people, [paired]);
});

test("people are let in by code or by request, turned down, and sent away again", async (t) => {
  const { control, gateway } = await started(t);
  const post = (path: string, body: unknown) =>
    fetch(`${control.url}/api/pairings${path}`, { method: "POST", headers, body: JSON.stringify(body) });
  assert.deepEqual(await (await post("/approve", { code: "ABCDEFGH" })).json(), { paired });
  assert.deepEqual(await (await post("/p1/approve", { admin: true })).json(), { paired });
  assert.deepEqual(await (await post("/p1/deny", {})).json(), { done: true });
  const denied = { platform: "chat", sender: "7", name: null };
  assert.deepEqual(await (await post("/deny", { who: "ABCDEFGH" })).json(), { denied });
  assert.deepEqual(await (await post("/revoke", { who: "chat/8" })).json(), { revoked: paired });
  assert.deepEqual(gateway.asked, [
    ["approvePairing", { code: "ABCDEFGH" }, false],
    ["approvePairing", { id: "p1" }, true],
    ["denyPairing", { id: "p1" }],
    ["denyPairing", { who: "ABCDEFGH" }],
    ["revokePaired", "chat/8"],
  ]);
  gateway.asked.length = 0;
  for (const [path, body] of [
    ["/approve", {}],
    ["/approve", { code: " " }],
    ["/approve", { code: 1 }],
    ["/approve", { code: "ABCDEFGH", admin: "yes" }],
    ["/p1/approve", { admin: 1 }],
    ["/revoke", { who: "" }],
    ["/deny", { who: " " }],
    ["/deny", { who: 7 }],
    ["/revoke", []],
  ] as const)
    assert.equal((await post(path, body)).status, 400, `${path} ${JSON.stringify(body)}`);
  assert.deepEqual(gateway.asked, []);
});

test("nobody without the token is let near it", async (t) => {
  const { control, gateway } = await started(t);
  for (const path of ["/approve", "/p1/approve", "/deny", "/p1/deny", "/revoke"]) {
    const answer = await fetch(`${control.url}/api/pairings${path}`, { method: "POST", body: '{"code":"ABCDEFGH"}' });
    assert.equal(answer.status, 401, path);
  }
  assert.equal((await fetch(`${control.url}/api/pairings`)).status, 401);
  assert.deepEqual(gateway.asked, []);
});
